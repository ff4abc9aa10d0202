import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { spawnEverchart } from './command-process.js';

/** The database in a process of its own, as `npm run database` runs it. */
export interface DatabaseProcess {
  readonly uri: string;
  readonly port: number;
  /** SIGKILL to the command and its engine: no goodbye to anyone. */
  kill(): Promise<void>;
  /** SIGTERM: the exit code. */
  stop(): Promise<number | null>;
}

/** Starts `everchart database` on a port (0 = any free one) with its data in `dir`, and waits until it serves. */
export async function startDatabaseProcess(dir: string, port = 0): Promise<DatabaseProcess> {
  const args = ['database', '--port', String(port), '--dir', dir];
  const child = spawnEverchart(args, {}, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const exited = once(child, 'exit');
  const uri = await firstLine(child);
  return {
    uri,
    port: Number(/:(\d+)/.exec(uri.slice('mongodb://'.length))?.[1]),
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
