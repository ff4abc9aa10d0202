// `npm run check:generators`: what openapi-generator makes of the OpenAPI document compiles. Fetched by Maven; skipped where there is none.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRequire } from 'node:module';

const ARTIFACT = 'org.openapitools:openapi-generator-cli';
const VERSION = '7.17.0';
const DOCUMENT = 'node_modules/.cache/everchart/openapi.json';
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const folder = mkdtempSync(join(tmpdir(), 'everchart-generators-'));

/** How the client of each generator is compiled, and what that needs. */
const GENERATORS = [
  ['typescript-fetch', process.execPath, [tsc, '-p', 'tsconfig.json']],
  ['python', 'python3', ['-m', 'compileall', '-q', '.']],
  ['java', 'mvn', ['-q', '-B', '-Dmaven.test.skip=true', 'compile']],
];
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'ES2022',
    module: 'ESNext',
    moduleResolution: 'bundler',
    lib: ['ES2022', 'DOM'],
    types: [],
  },
};

const run = (command, args, cwd = '.') => {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: 600_000,
  });
  return { isFine: status === 0, isThere: error?.code !== 'ENOENT', text: `${stdout ?? ''}${stderr ?? ''}` };
};

/** Where the generator cannot be had it is said, not failed: as `npm run check:audit` does. */
function skip(reason) {
  console.warn(`skipped: openapi-generator (${GENERATORS.map(([name]) => name).join(', ')}): ${reason}`);
}

function check([name, command, args], jar) {
  const output = join(folder, name);
  // `_type` and `type` would both become `type`.
  const options = ['--name-mappings', '_type=rmType', '-i', DOCUMENT, '-g', name, '-o', output];
  const made = run('java', ['-jar', jar, 'generate', ...options]);
  if (!made.isFine) return fail(name, made.text);
  writeFileSync(join(output, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  const compiled = run(command, args, output);
  if (!compiled.isThere)
    return console.warn(`skipped: ${name}: generated, but there is no ${command} to compile it`);
  if (!compiled.isFine) return fail(name, compiled.text);
  console.log(`${name}: generated and compiled`);
}

function fail(name, text) {
  console.error(`${name}: failed\n${text.slice(-4_000)}`);
  process.exitCode = 1;
}

try {
  const fetched = run('mvn', [
    '-q',
    '-B',
    'dependency:copy',
    `-Dartifact=${ARTIFACT}:${VERSION}`,
    `-DoutputDirectory=${folder}`,
  ]);
  if (!fetched.isThere || !run('java', ['-version']).isThere) skip('no Maven or no Java');
  else if (!fetched.isFine) skip('Maven could not fetch it');
  else
    for (const generator of GENERATORS)
      check(generator, join(folder, `openapi-generator-cli-${VERSION}.jar`));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
