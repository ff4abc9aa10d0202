import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const EVERCHART = fileURLToPath(new URL('../../../src/everchart.mjs', import.meta.url));

/**
 * Starts `everchart` with these arguments as a process of its own. It runs in the folder of this file, so that no
 * test sees the `.env` of whoever works on everchart.
 */
export function spawnEverchart(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  options: Omit<SpawnOptions, 'env'>,
): ChildProcess {
  return spawn(process.execPath, [EVERCHART, ...args], {
    cwd: new URL('.', import.meta.url),
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    ...options,
  });
}
