import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { childrenOf } from './process-figures.js';

const READY_WITHIN_MS = 60_000;

/** This checkout as a server in a process of its own. */
export interface OwnServer {
  /** The openEHR base path. */
  readonly base: string;
  readonly startSeconds: number;
  /** Ids of the server and of its database. */
  readonly processes: readonly number[];
  readonly stop: () => Promise<void>;
}

/** Starts this checkout (from `dist`, if it is built) on the embedded engine with its data in `folder`. @throws Error when it does not start */
export async function ownServer(folder: string): Promise<OwnServer> {
  const port = await freePort();
  const start = performance.now();
  const server = startServer(folder, port);
  await firstAnswer(`http://127.0.0.1:${port}/rest/status`, server);
  return {
    base: `http://127.0.0.1:${port}/rest/openehr/v1`,
    startSeconds: (performance.now() - start) / 1000,
    processes: [server.pid ?? 0, ...childrenOf(server.pid ?? 0)],
    stop: async () => {
      server.kill('SIGTERM');
      await once(server, 'exit');
    },
  };
}

function startServer(folder: string, port: number): ChildProcess {
  const built = join(process.cwd(), 'dist/src/everchart.mjs');
  const program = existsSync(built) ? built : join(process.cwd(), 'src/everchart.mjs');
  const settings = { PORT: String(port), EMBEDDED_DATA_DIR: folder, LOG_LEVEL: 'error', AUTH: 'none' };
  return spawn(process.execPath, [program, 'start'], {
    // A folder without the settings file of a developer.
    cwd: folder,
    env: { ...process.env, ...settings, LOCAL_DATABASE: 'embedded', RATE_LIMIT_PER_MINUTE: '0' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function firstAnswer(url: string, server: ChildProcess): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  while (performance.now() < until && server.exitCode === null) {
    if ((await fetch(url).catch(() => null))?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the server did not start');
}

/** Bytes of all files below a folder. */
export function bytesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** A port of 127.0.0.1 that nobody listens on. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}
