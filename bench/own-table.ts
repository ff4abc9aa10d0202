import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textTable } from '../cli/output.js';
import { medianFigures, type Figure, type ProcessorTime } from './load-client.js';
import { milliseconds, quantile } from './measure.js';
import { bytesBelow, ownServer } from './own-server.js';
import { processFigures } from './process-figures.js';
import { table, type TablePlan } from './side-by-side.js';

const MEBIBYTE = 1024 * 1024;

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
    const { base, startSeconds, processes, stop } = await ownServer(folder);
    const idleMib = memoryMib(processes);
    const figures = await table(base, plan, { processor: processorOf(processes) });
    const loadedMib = memoryMib(processes);
    await stop();
    return { figures, totals: { startSeconds, idleMib, loadedMib, diskMb: bytesBelow(folder) / 1e6 } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function processorOf([server = 0, ...others]: readonly number[]): ProcessorTime {
  const ms = (id: number): number => processFigures(id).processorSeconds * 1000;
  return () => [ms(server), others.reduce((sum, id) => sum + ms(id), 0)];
}

function memoryMib(processes: readonly number[]): number {
  return processes.reduce((sum, id) => sum + processFigures(id).residentBytes, 0) / MEBIBYTE;
}
