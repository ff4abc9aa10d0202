import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textTable } from '../cli/output.js';
import { medianFigures, type Figure, type ProcessorTime } from './load-client.js';
import { milliseconds, quantile } from './measure.js';
import { childrenOf, processFigures } from './process-figures.js';
import { table, type TablePlan } from './side-by-side.js';

const MEBIBYTE = 1024 * 1024;
const READY_WITHIN_MS = 60_000;

/** Figures of a whole run that belong to no request. */
interface Totals {
  readonly startSeconds: number;
  readonly idleMib: number;
  readonly loadedMib: number;
  readonly diskMb: number;
}

/**
 * Prints the table of `side-by-side.ts` for this checkout (from `dist`, if it is built) as a process of its own on the
 * embedded engine with a new data folder: the median of so many runs. Or of the server at `server`, which must be empty.
 */
export async function benchTable(
  plan: TablePlan,
  options: { readonly runs: number; readonly server?: string; readonly token?: string },
  print: (line: string) => void,
): Promise<void> {
  const { server, token, runs } = options;
  if (server !== undefined) {
    printFigures(await table(server, plan, { token, processor: null }), print);
    return;
  }
  const made: { figures: Figure[]; totals: Totals }[] = [];
  for (let run = 1; run <= runs; run += 1) {
    made.push(await ownRun(plan));
    print(JSON.stringify({ run, ...made.at(-1) }));
  }
  printFigures(medianFigures(made.map(({ figures }) => figures)), print);
  const median = (value: (totals: Totals) => number): string =>
    quantile(
      made.map(({ totals }) => value(totals)),
      0.5,
    ).toFixed(1);
  print(`start to first answer: ${median(({ startSeconds }) => startSeconds)} s`);
  print(`memory of server and database: idle ${median(({ idleMib }) => idleMib)} MiB`);
  print(`memory after the load: ${median(({ loadedMib }) => loadedMib)} MiB`);
  print(`bytes on disk: ${median(({ diskMb }) => diskMb)} MB`);
}

function printFigures(figures: readonly Figure[], print: (line: string) => void): void {
  const rows = figures.map(({ figure, perSecond, p50, p95, processor, errors, rows: count, digest }) => [
    figure,
    perSecond.toFixed(0),
    milliseconds(p50),
    milliseconds(p95),
    ...(processor ?? []).map(milliseconds),
    ...(processor === undefined ? ['', ''] : []),
    `${errors}`,
    count === undefined ? '' : `${count}`,
    digest ?? '',
  ]);
  const columns = [
    'work',
    '/s',
    'p50 ms',
    'p95 ms',
    'server CPU ms',
    'database CPU ms',
    'errors',
    'rows',
    'digest',
  ];
  print(textTable(columns, rows));
}

async function ownRun(plan: TablePlan): Promise<{ figures: Figure[]; totals: Totals }> {
  const folder = mkdtempSync(join(tmpdir(), 'everchart-table-'));
  try {
    const port = await freePort();
    const start = performance.now();
    const server = startServer(folder, port);
    await firstAnswer(`http://127.0.0.1:${port}/rest/status`, server);
    const startSeconds = (performance.now() - start) / 1000;
    const processes = [server.pid ?? 0, ...childrenOf(server.pid ?? 0)];
    const idleMib = memoryMib(processes);
    const base = `http://127.0.0.1:${port}/rest/openehr/v1`;
    const figures = await table(base, plan, { processor: processorOf(processes) });
    const loadedMib = memoryMib(processes);
    server.kill('SIGTERM');
    await once(server, 'exit');
    return { figures, totals: { startSeconds, idleMib, loadedMib, diskMb: bytesBelow(folder) / 1e6 } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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

function processorOf([server = 0, ...others]: readonly number[]): ProcessorTime {
  const ms = (id: number): number => processFigures(id).processorSeconds * 1000;
  return () => [ms(server), others.reduce((sum, id) => sum + ms(id), 0)];
}

function memoryMib(processes: readonly number[]): number {
  return processes.reduce((sum, id) => sum + processFigures(id).residentBytes, 0) / MEBIBYTE;
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}
