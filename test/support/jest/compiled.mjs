import { cpSync, existsSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BESIDE_CODE } from '../../../scripts/beside-code.mjs';
import { compile, PROGRAMS } from '../../../scripts/compile.mjs';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Compiles the product once, as the build does, for the processes that tests start: from its sources each would take two
 * seconds more. Gives the folder, laid out as dist/ is.
 */
export async function compileProduct() {
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'everchart-run-'));
  await compile(folder, [...PROGRAMS, 'test/support/process/server-main']);
  for (const path of [...BESIDE_CODE, 'package.json'])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  if (existsSync(join(ROOT, 'console/dist'))) {
    mkdirSync(join(folder, 'console'));
    symlinkSync(join(ROOT, 'console/dist'), join(folder, 'console/dist'));
  }
  return folder;
}
