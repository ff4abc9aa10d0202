import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The product as the run compiled it (test/support/jest/compiled.mjs), else its sources. */
const COMPILED = process.env['TEST_EVERCHART'];
const ROOT = COMPILED ?? fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Starts `everchart` with these arguments as a process of its own. It runs in the folder of this file, so that no
 * test sees the `.env` of whoever works on everchart.
 */
export function spawnEverchart(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  options: Omit<SpawnOptions, 'env'>,
): ChildProcess {
  return spawn(process.execPath, [join(ROOT, 'src/everchart.mjs'), ...args], {
    cwd: new URL('.', import.meta.url),
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    ...options,
  });
}

/** Arguments of Node.js that run a program of `test/support/process`, compiled where the run compiled it. */
export function programArguments(name: string): string[] {
  const program = join(ROOT, 'test/support/process', name);
  return COMPILED === undefined ? ['--import', 'tsx', `${program}.ts`] : [`${program}.js`];
}
