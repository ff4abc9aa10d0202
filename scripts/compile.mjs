import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Where all code lies in the folder of the build. */
const CODE = 'code';

/** What a process, a thread, or `src/everchart.mjs` begins with: paths from the root, without `.ts`. */
export const PROGRAMS = [
  'cli/cli',
  'src/settings/env-file',
  'workers/jobs',
  'packages/embedded-mongodb/src/main',
];

/** The file of a program's code, from the folder of the build. */
export const codeOf = (program) => `${CODE}/${program.replaceAll('/', '-')}.js`;

/**
 * Compiles programs, and all that they import, into few files: a process that loads a thousand takes half a second of
 * processor time more. What is loaded later, or by some programs only, is a file of its own. At the path of each
 * program stands a file that loads it. Packages stay where they are installed.
 */
export async function compile(folder, programs) {
  await build({
    absWorkingDir: ROOT,
    entryPoints: programs.map((path) => ({ in: `${path}.ts`, out: codeOf(path).replace(/\.js$/, '') })),
    chunkNames: `${CODE}/[name]-[hash]`,
    outdir: folder,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    keepNames: true,
    plugins: [{ name: 'places', setup: keepPlaces }],
    logLevel: 'error',
  });
  for (const path of programs) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, `${path}.js`), `export * from '${relative(dirname(path), codeOf(path))}';\n`);
  }
}

/** A module that asks where it is gets the place that it would have as a file of its own: what it reads lies beside that. */
function keepPlaces({ onLoad }) {
  onLoad({ filter: /\.ts$/ }, async ({ path }) => {
    const text = await readFile(path, 'utf8');
    const place = JSON.stringify(`../${relative(ROOT, path).replace(/\.ts$/, '.js')}`);
    return {
      contents: text.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`),
      loader: 'ts',
    };
  });
}
