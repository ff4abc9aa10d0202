// `npm run build`: compiles the product and its workspaces to dist/ and copies the files that they read beside their code.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { BESIDE_CODE, PACKAGES, PACKAGE_FILES, SWAGGER_UI } from './beside-code.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { resolve } = createRequire(import.meta.url);
const tsc = resolve('typescript/bin/tsc');

process.chdir(root);
rmSync('dist', { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
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
bundleTracing();
for (const name of SWAGGER_UI)
  cpSync(resolve(`swagger-ui-dist/${name}`), `dist/routes/system/swagger-ui/${name}`);
execFileSync(process.execPath, ['scripts/sbom.mjs', 'dist/sbom.cdx.json'], { stdio: 'inherit' });

/** OpenTelemetry, in one file of the part that is used. */
function bundleTracing() {
  const file = 'dist/src/tracing/opentelemetry.mjs';
  buildSync({
    entryPoints: [file],
    outfile: file,
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'eof',
    // Parts of it are CommonJS.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
}
