import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../packages/embedded-mongodb/src/spawn.js';
import { DEMO_TEMPLATES } from '../cli/demo/patient.js';
import { textTable } from '../cli/output.js';
import { runLocally } from './import.js';
import { loadClient, timed, type Answer, type Send } from './load-client.js';
import { milliseconds } from './measure.js';
import { bytesBelow, ownServer } from './own-server.js';
import { madeUp, queries } from './side-by-side.js';

/** Compositions of all EHRs but the large one. */
const PER_EHR = 20;
/** The first measurement is made with this part of all. */
const FIRST_SHARE = 0.2;
const RUNS = 7;
/** Compositions that are made up and written to the file of an import at a time. */
const SLICE = 10_000;
const LARGE_EHR = ehrIdOf(0);
const COLUMNS = ['work', 'first ms', 'then ms', 'ratio', 'first rows', 'then rows'];

interface Measured {
  readonly figures: readonly { readonly name: string; readonly ms: number; readonly rows: number }[];
  readonly diskMb: number;
}

/**
 * How time and bytes grow with the data: a fifth of `total` compositions, then all of them, half of which belong to one EHR.
 * They come by `everchart import --local`, then a server answers each query of the table and the work on the large EHR.
 */
export async function benchGrowth(total: number, print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'everchart-growth-'));
  try {
    const first = Math.floor(total * FIRST_SHARE);
    const before = await grown(folder, 0, first, print);
    const after = await grown(folder, first, total, print);
    const rows = before.figures.map(({ name, ms, rows: count }, at) => {
      const then = after.figures[at];
      const thenMs = then?.ms ?? Number.NaN;
      const ratio = (thenMs / ms).toFixed(2);
      return [name, milliseconds(ms), milliseconds(thenMs), ratio, `${count}`, `${then?.rows ?? ''}`];
    });
    print(textTable(COLUMNS, rows));
    print(`bytes on disk: ${before.diskMb.toFixed(1)} MB, then ${after.diskMb.toFixed(1)} MB`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function grown(
  folder: string,
  from: number,
  to: number,
  print: (line: string) => void,
): Promise<Measured> {
  const data = join(folder, 'data');
  const seconds = await imported(data, join(folder, 'records.ndjson'), from, to);
  print(`import of ${to - from} compositions: ${((to - from) / seconds).toFixed(0)}/s`);
  const server = await ownServer(data);
  const { send, close } = loadClient(server.base, undefined);
  try {
    return { figures: await measured(send), diskMb: bytesBelow(data) / 1e6 };
  } finally {
    close();
    await server.stop();
  }
}

/** Imports the compositions with these numbers; gives the seconds that it took. */
async function imported(data: string, file: string, from: number, to: number): Promise<number> {
  await writeRecords(file, from, to);
  const database = await startEmbedded({ dir: data, log: () => undefined });
  process.env.MONGODB_URI = database.uri;
  try {
    if (from === 0)
      await runLocally('template', 'upload', ...DEMO_TEMPLATES.map((name) => `cli/demo/data/${name}.opt`));
    const start = performance.now();
    await runLocally('import', file);
    return (performance.now() - start) / 1000;
  } finally {
    delete process.env.MONGODB_URI;
    await database.stop();
  }
}

/** Every second composition belongs to the large EHR. */
async function writeRecords(file: string, from: number, to: number): Promise<void> {
  const output = createWriteStream(file);
  for (let start = from; start < to; start += SLICE) {
    for (const [at, composition] of madeUp(Math.min(SLICE, to - start)).entries()) {
      const number = start + at;
      const ehrId = number % 2 === 0 ? LARGE_EHR : ehrIdOf(1 + Math.floor(number / 2 / PER_EHR));
      if (!output.write(`{"ehr_id":"${ehrId}","composition":${composition}}\n`)) await once(output, 'drain');
    }
  }
  output.end();
  await once(output, 'finish');
}

function ehrIdOf(index: number): string {
  return `e0000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
}

async function measured(send: Send): Promise<Measured['figures']> {
  const query = (q: string): Promise<Answer> => send('POST', '/query/aql', JSON.stringify({ q }));
  const works: [name: string, work: (run: number) => Promise<Answer>][] = [
    ...queries(ehrIdOf(3)).map(([name, aql]): [string, () => Promise<Answer>] => [name, () => query(aql)]),
    ...ofLargeEhr(send, query),
  ];
  const figures: { name: string; ms: number; rows: number }[] = [];
  for (const [name, work] of works) {
    const answer = await work(-1);
    if (answer.status >= 400) throw new Error(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`);
    const { p50: ms } = await timed({ figure: name, requests: RUNS, clients: 1 }, null, work);
    figures.push({ name, ms, rows: rowsIn(answer) });
  }
  return figures;
}

function ofLargeEhr(
  send: Send,
  query: (q: string) => Promise<Answer>,
): [name: string, work: (run: number) => Promise<Answer>][] {
  const inEhr = `FROM EHR e[ehr_id/value='${LARGE_EHR}'] CONTAINS COMPOSITION c`;
  const newest = `SELECT c/uid/value AS uid ${inEhr} ORDER BY c/context/start_time/value DESC LIMIT 20`;
  const bodies = madeUp(RUNS + 1);
  return [
    ['large EHR: newest 20', () => query(newest)],
    ['large EHR: count', () => query(`SELECT COUNT(*) AS n ${inEhr}`)],
    ['large EHR: commit', (run) => send('POST', `/ehr/${LARGE_EHR}/composition`, bodies[run + 1])],
    ['large EHR: GET EHR', () => send('GET', `/ehr/${LARGE_EHR}`)],
  ];
}

function rowsIn({ text }: Answer): number {
  const { rows } = (text === '' ? {} : JSON.parse(text)) as { rows?: unknown[] };
  return rows?.length ?? 0;
}
