import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { BESIDE_CODE } from '../../../scripts/beside-code.mjs';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const ROOMS = [
  ...['aql', 'change', 'cli', 'config', 'database', 'maintenance', 'merge', 'models', 'openehr'],
  ...['query', 'routes', 'src', 'workers', 'test/support/process'],
  ...['aql', 'aql-lsp', 'client', 'codegen', 'embedded-mongodb', 'rm'].map((name) => `packages/${name}/src`),
];

/**
 * Compiles the product once for the processes that tests start: from its sources each would take two seconds more.
 * Gives the folder, laid out as dist/ is.
 */
export async function compileProduct() {
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'everchart-run-'));
  const entryPoints = ROOMS.flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(ROOT, room, name)),
  );
  await build({
    entryPoints,
    outdir: folder,
    outbase: ROOT,
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  for (const path of [...BESIDE_CODE, 'package.json'])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  if (existsSync(join(ROOT, 'console/dist'))) {
    mkdirSync(join(folder, 'console'));
    symlinkSync(join(ROOT, 'console/dist'), join(folder, 'console/dist'));
  }
  return folder;
}
