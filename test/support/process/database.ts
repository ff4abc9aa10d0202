import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { spawnEverchart } from './command.js';

/** The database in a process of its own, as `npm run database` runs it. */
export interface DatabaseProcess {
  readonly uri: string;
  /** SIGKILL to the command and its engine: no goodbye to anyone. */
  kill(): Promise<void>;
  /** SIGTERM: the exit code. */
  stop(): Promise<number | null>;
}

/** Starts `everchart database` with its data in `dir` (null: where the settings say), and waits until it serves. */
export async function startDatabaseProcess(
  dir: string | null,
  env: Readonly<Record<string, string>> = {},
): Promise<DatabaseProcess> {
  const args = ['database', ...(dir === null ? [] : ['--dir', dir])];
  const child = spawnEverchart(args, env, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const exited = once(child, 'exit');
  const uri = await firstLine(child);
  return {
    uri,
    async kill() {
      process.kill(-child.pid!, 'SIGKILL');
      await exited;
    },
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  const [line] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => {
      throw new Error('the database did not start');
    }),
  ])) as [string];
  return line;
}
