import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  demoClient,
  type DemoClient,
  inParallel,
  loadDemoData,
  patientCompositions,
  type LoadPlan,
} from '../cli/demo/load.js';
import { textTable } from '../cli/output.js';
import { milliseconds, quantile } from './measure.js';
import { freePort } from './own-server.js';
import { childrenOf, processFigures } from './process-figures.js';

/** How often each server has its turn. */
const ROUNDS = 36;
const PLAN: LoadPlan = { ehrs: 100, compositionsPerEhr: 20, seed: 20260105, parallel: 8 };
const READY_WITHIN_MS = 120_000;

const PRESSURE = 'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1';
const SYSTOLIC = 'o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value/magnitude';
const ONE_EHR = `SELECT c/uid/value AS uid, ${SYSTOLIC} AS systolic FROM EHR e[ehr_id/value=$ehr]
CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${PRESSURE}]`;
const POPULATION = `SELECT e/ehr_id/value AS ehr, ${SYSTOLIC} AS systolic
FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${PRESSURE}] WHERE ${SYSTOLIC} > 185`;

/** One of the two servers, with data of its own that is equal to the other's. */
interface Side {
  readonly name: string;
  readonly process: ChildProcess;
  /** Ids of the processes that the server started. */
  readonly children: readonly number[];
  readonly data: string;
  readonly client: DemoClient;
  readonly ehrIds: readonly string[];
  readonly versionUids: readonly string[];
}

/** A kind of work: so many requests by so many clients in each turn. */
interface Work {
  readonly name: string;
  readonly count: number;
  readonly clients: number;
  readonly run: (side: Side, index: number) => Promise<unknown>;
}

const [BODY = {}] = patientCompositions(PLAN, 0);
const of = (list: readonly string[], index: number): string => list[index % list.length] ?? '';
const commit = (side: Side, index: number): Promise<unknown> =>
  side.client.commitComposition(of(side.ehrIds, index), BODY);
const read = (side: Side, index: number): Promise<unknown> =>
  side.client.composition(of(side.ehrIds, index), of(side.versionUids, index));

const WORK: readonly Work[] = [
  { name: 'commit, 1 client', count: 40, clients: 1, run: commit },
  { name: 'commit, 8 clients', count: 80, clients: 8, run: commit },
  { name: 'GET composition, 1 client', count: 150, clients: 1, run: read },
  { name: 'GET composition, 8 clients', count: 400, clients: 8, run: read },
  {
    name: 'AQL, one EHR',
    count: 40,
    clients: 1,
    run: (side, index) => side.client.query(ONE_EHR, { ehr: of(side.ehrIds, index + 50) }),
  },
  {
    name: 'AQL, one EHR, each text new',
    count: 40,
    clients: 1,
    run: (side, index) =>
      side.client.query(ONE_EHR.replace('AS systolic', `AS systolic_${index}`), {
        ehr: of(side.ehrIds, index + 50),
      }),
  },
  { name: 'AQL, population', count: 40, clients: 1, run: (side) => side.client.query(POPULATION, {}) },
];

/**
 * Runs another checkout and this one side by side, each as a process with a fresh embedded database, and gives them the
 * same requests in turns: what the machine does beside falls on both. Prints the ratio of the time for one request,
 * this checkout over the other, as median and quartiles of the rounds, and the ratio of the processor time of all rounds.
 * @param only a part of the names of the work that is compared; undefined: all of it
 * @param reference a folder with an installed checkout, or a git reference that is checked out and installed for it
 * @throws Error when a server does not start, or refuses a request
 */
export async function compareWith(
  reference: string,
  only: string | undefined,
  print: (line: string) => void,
): Promise<void> {
  await withCheckout(reference, (folder) => compareIn(folder, reference, only, print));
}

/**
 * Uses another checkout.
 * @param reference its folder, with what it needs installed, or a git reference that is checked out and installed for it
 */
export async function withCheckout(reference: string, use: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(join(reference, 'package.json'))) {
    await use(resolve(reference));
    return;
  }
  const folder = checkOut(reference);
  try {
    await use(folder);
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', folder], { stdio: 'ignore' });
  }
}

async function compareIn(
  folder: string,
  reference: string,
  only: string | undefined,
  print: (line: string) => void,
): Promise<void> {
  const sides: Side[] = [];
  try {
    sides.push(await start(reference, folder), await start('this checkout', process.cwd()));
    const [theirs, ours] = sides as [Side, Side];
    const rows: string[][] = [];
    for (const work of WORK.filter(({ name }) => name.includes(only ?? ''))) {
      rows.push([work.name, ...(await compare(work, theirs, ours))]);
      print(rows.at(-1)?.join('  ') ?? '');
    }
    print(
      textTable(
        ['work', `${reference}, ms`, 'this checkout, ms', 'ratio', 'quartiles', 'processor time'],
        rows,
      ),
    );
  } finally {
    for (const side of sides) stop(side);
  }
}

/** What one turn took for each request, in milliseconds: by the clock, and of processors by the server and its database. */
interface Turn {
  readonly elapsed: number;
  readonly processor: number;
}

/** One unmeasured turn each, then the rounds; which server is first changes from round to round. */
async function compare(work: Work, theirs: Side, ours: Side): Promise<string[]> {
  await turn(work, theirs, 0);
  await turn(work, ours, 0);
  const rounds: { theirs: Turn; ours: Turn }[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const oursFirst = round % 2 === 0 ? await turn(work, ours, round) : undefined;
    const other = await turn(work, theirs, round);
    rounds.push({ theirs: other, ours: oursFirst ?? (await turn(work, ours, round)) });
  }
  const median = (side: 'theirs' | 'ours'): string =>
    milliseconds(
      quantile(
        rounds.map((round) => round[side].elapsed),
        0.5,
      ),
    );
  const ratios = rounds.map((round) => round.ours.elapsed / round.theirs.elapsed);
  const processor = (side: 'theirs' | 'ours'): number =>
    rounds.reduce((sum, round) => sum + round[side].processor, 0);
  return [
    median('theirs'),
    median('ours'),
    quantile(ratios, 0.5).toFixed(3),
    `${quantile(ratios, 0.25).toFixed(3)} to ${quantile(ratios, 0.75).toFixed(3)}`,
    (processor('ours') / processor('theirs')).toFixed(3),
  ];
}

async function turn(work: Work, side: Side, round: number): Promise<Turn> {
  const processor = processorMs(side);
  const begun = performance.now();
  await inParallel(work.count, work.clients, async (index) => {
    await work.run(side, round * work.count + index);
  });
  const elapsed = performance.now() - begun;
  return { elapsed: elapsed / work.count, processor: (processorMs(side) - processor) / work.count };
}

/** Processor time of the server and its database, which other programs of the machine do not lengthen as they do the clock's. */
function processorMs(side: Side): number {
  return [side.process.pid ?? 0, ...side.children].reduce(
    (sum, id) => sum + processFigures(id).processorSeconds * 1000,
    0,
  );
}

async function start(name: string, folder: string): Promise<Side> {
  const port = await freePort();
  const data = mkdtempSync(join(tmpdir(), 'everchart-compare-'));
  const server = spawn(process.execPath, [join(folder, 'src/everchart.mjs'), 'start'], {
    // A folder without the settings file of a developer.
    cwd: data,
    env: { ...process.env, PORT: String(port), EMBEDDED_DATA_DIR: data, LOG_LEVEL: 'error', AUTH: 'none' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await ready(url, server);
  const client = demoClient(url);
  const ehrIds = await loadDemoData(client, PLAN, () => undefined);
  const versionUids = await Promise.all(ehrIds.map((ehrId) => client.commitComposition(ehrId, BODY)));
  return { name, process: server, children: childrenOf(server.pid ?? 0), data, client, ehrIds, versionUids };
}

async function ready(url: string, server: ChildProcess): Promise<void> {
  const until = Date.now() + READY_WITHIN_MS;
  while (Date.now() < until && server.exitCode === null) {
    const answer = await fetch(`${url}/rest/status`).catch(() => null);
    if (answer?.ok === true) return;
    await new Promise((wait) => setTimeout(wait, 200));
  }
  throw new Error(`The server at ${url} did not start`);
}

function stop(side: Side): void {
  side.process.once('exit', () => {
    rmSync(side.data, { recursive: true, force: true });
  });
  side.process.kill('SIGTERM');
}

function checkOut(reference: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'everchart-reference-')), 'checkout');
  execFileSync('git', ['worktree', 'add', '--detach', folder, reference], { stdio: 'inherit' });
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  });
  return folder;
}
