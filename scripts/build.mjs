// `npm run build`: compiles the product and its workspaces to dist/ and copies the files that they read beside their code.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { BESIDE_CODE, PACKAGES, PACKAGE_FILES, SWAGGER_UI } from './beside-code.mjs';
import { codeOf, compile, PROGRAMS } from './compile.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { resolve } = createRequire(import.meta.url);
const tsc = resolve('typescript/bin/tsc');

/** Loaded where a `mongod` is looked for, and made one file with what it imports. */
const MEMORY_SERVER = 'database/mongodb-memory-server';

process.chdir(root);
rmSync('dist', { recursive: true, force: true });
await compile('dist', [...PROGRAMS, MEMORY_SERVER]);
for (const name of PACKAGES) {
  rmSync(`packages/${name}/dist`, { recursive: true, force: true });
  execFileSync(process.execPath, [tsc, '-p', `packages/${name}/tsconfig.json`], { stdio: 'inherit' });
  for (const path of PACKAGE_FILES[name] ?? [])
    cpSync(path, `packages/${name}/dist/${path}`, { recursive: true });
}
execFileSync(process.execPath, ['scripts/console.mjs'], { stdio: 'inherit' });
// Absent where the console cannot be built: the server then says so.
const pages = existsSync('console/dist') ? ['console/dist/index.html', 'console/dist/assets'] : [];
for (const path of [...BESIDE_CODE, ...pages]) cpSync(path, `dist/${path}`, { recursive: true });
bundle('dist/src/tracing/opentelemetry.mjs', {
  mainFields: ['module', 'main'],
  // Parts of it are CommonJS.
  banner: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
});
bundle('dist/change/commit/openpgp.mjs', {});
bundle('dist/cli/transfer/age.mjs', {});
bundleCedar('dist/policy');
bundleMemoryServer(`dist/${codeOf(MEMORY_SERVER)}`);
for (const name of SWAGGER_UI)
  cpSync(resolve(`swagger-ui-dist/${name}`), `dist/routes/system/swagger-ui/${name}`);
execFileSync(process.execPath, ['scripts/sbom.mjs', 'dist/sbom.cdx.json'], { stdio: 'inherit' });

/** Makes one file of a compiled one and of the part of the libraries that it uses; their licences stand beside it. */
function bundle(file, { banner, ...options }) {
  const { metafile } = buildSync({
    entryPoints: [file],
    outfile: file,
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'eof',
    metafile: true,
    logLevel: 'warning',
    ...(banner !== undefined && { banner: { js: banner } }),
    ...options,
  });
  const folders = Object.keys(metafile.inputs).map(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0],
  );
  writeFileSync(
    `${file}.LICENSES.txt`,
    [...new Set(folders)].filter(Boolean).sort().map(licenceOf).join('\n\n'),
  );
}

/** Name, version and licence of a package, for those who get a part of it. */
function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(join(folder, file), 'utf8')}`;
}

/** Cedar reads its WebAssembly from the folder of its own file. */
function bundleCedar(folder) {
  bundle(`${folder}/cedar-wasm.mjs`, {
    banner:
      "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); const __dirname = import.meta.dirname;",
  });
  const name = 'cedar_wasm_bg.wasm';
  cpSync(join(resolve('@cedar-policy/cedar-wasm/nodejs'), '..', name), `${folder}/${name}`);
}

/** mongodb-memory-server takes the driver that mongoose has, and forks a program that it looks for beside its own files. */
function bundleMemoryServer(file) {
  const path = file.replace(/\.js$/, '');
  bundle(file, {
    external: ['mongodb'],
    banner: [
      "import { createRequire } from 'node:module';",
      "const require = createRequire(createRequire(import.meta.url).resolve('mongoose'));",
      `const __dirname = import.meta.dirname + '/${basename(path)}/lib/util';`,
    ].join(' '),
  });
  const program = 'scripts/mongo_killer.js';
  cpSync(join(resolve('mongodb-memory-server-core/package.json'), '..', program), `${path}/${program}`);
  writeFileSync(`${path}/package.json`, '{ "type": "commonjs" }\n');
}
