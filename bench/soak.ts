import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { textTable } from '../cli/output.js';
import { crashRounds } from '../test/support/process/crash-rounds.js';
import { startServerProcess } from '../test/support/process/server.js';
import { machine, timing } from './measure.js';
import { childrenOf, processFigures } from './process-figures.js';
import { openLoop } from './open-loop.js';
import { mixedWork, type Work } from './soak-work.js';

const MINUTE_MS = 60_000;
const MEBIBYTE = 1024 * 1024;
const SAMPLE_MS = 2_000;
const SATURATION_MS = 15_000;
const CLIENTS = [4, 8, 16, 32];
/** With so many under way the server does not keep up: a request that is due then counts as one without answer. */
const MOST_UNDER_WAY = 1_000;
/** Memory of the first minutes is that of code being compiled and caches being filled. */
const WARM_UP_MS = 2 * MINUTE_MS;
/** Growth of the server's memory that still counts as flat. */
const FLAT_MIB_PER_MINUTE = 2;

/** Memory at one moment. */
interface Sample {
  readonly ms: number;
  readonly serverBytes: number;
  readonly databaseBytes: number;
}

/** Everything that was seen while the load ran. */
interface Observed {
  readonly samples: Sample[];
  /** Answers by HTTP status; 0: none. */
  readonly statuses: Map<number, number>;
  /** Milliseconds of each answer since it was due, by minute. */
  readonly times: number[][];
}

/**
 * `npm run soak`: finds the highest load of mixed work that clients reach who wait for their answers, then sends 70 % of
 * it at fixed times for ten minutes, and validates errors and the server's memory. Server and database are processes of
 * their own; this one only sends.
 */
async function main(): Promise<void> {
  const { minutes, share, crashes } = new Command('soak')
    .addOption(new Option('--minutes <number>', 'how long').env('SOAK_MINUTES').default('10'))
    .option('--share <number>', 'share of the highest load', '0.7')
    .option('--crashes <number>', 'instead: kill a server that commits so often, and look what is there')
    .parse()
    .opts<{ minutes: string; share: string; crashes?: string }>();
  if (crashes !== undefined) return crash(Number(crashes));
  const server = await startServerProcess({
    EMBEDDED_DATA_DIR: 'temporary',
    MONGODB_URI: '',
    AUTH: 'none',
  });
  try {
    print(machine());
    const work = await mixedWork(server.url);
    const highest = await highestRate(work);
    const rate = highest * Number(share);
    print(`highest ${highest.toFixed(0)} requests/s; ${rate.toFixed(0)} for ${minutes} minutes`);
    const seen = await soak(work, {
      rate,
      ms: Number(minutes) * MINUTE_MS,
      processId: server.process.pid ?? 0,
    });
    report(seen);
  } finally {
    await server.stop();
  }
}

async function crash(rounds: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'everchart-crashes-'));
  try {
    const { acknowledged, problems } = await crashRounds(directory, rounds, Date.now());
    print(`${rounds} crashes, ${acknowledged.length} acknowledged versions, ${problems.length} problems`);
    for (const problem of problems) print(problem);
    process.exitCode = problems.length === 0 ? 0 : 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The best of short runs with more and more clients. */
async function highestRate(work: Work): Promise<number> {
  const rates: number[] = [];
  for (const clients of CLIENTS) {
    const start = performance.now();
    let answered = 0;
    let turn = 0;
    const lane = async (): Promise<void> => {
      while (performance.now() - start < SATURATION_MS) {
        if ((await work((turn += 1))) < 400) answered += 1;
      }
    };
    await Promise.all(Array.from({ length: clients }, lane));
    const rate = (answered / (performance.now() - start)) * 1000;
    print(`${clients} clients: ${rate.toFixed(0)} requests/s`);
    rates.push(rate);
  }
  return Math.max(...rates);
}

/** Requests are sent when they are due, whether earlier ones are answered or not. */
async function soak(
  work: Work,
  plan: { readonly rate: number; readonly ms: number; readonly processId: number },
): Promise<Observed> {
  const seen: Observed = { samples: [], statuses: new Map(), times: [] };
  const start = performance.now();
  const sample = (): void => void seen.samples.push(sampleOf(plan.processId, performance.now() - start));
  sample();
  const timer = setInterval(sample, SAMPLE_MS);
  await openLoop(work, { ...plan, mostUnderWay: MOST_UNDER_WAY }, ({ dueMs, ms, status }) => {
    seen.statuses.set(status, (seen.statuses.get(status) ?? 0) + 1);
    (seen.times[Math.floor(dueMs / MINUTE_MS)] ??= []).push(ms);
  });
  clearInterval(timer);
  sample();
  return seen;
}

function sampleOf(processId: number, ms: number): Sample {
  const database = childrenOf(processId).map((id) => processFigures(id).residentBytes);
  const databaseBytes = database.reduce((sum, bytes) => sum + bytes, 0);
  return { ms, serverBytes: processFigures(processId).residentBytes, databaseBytes };
}

function report({ samples, statuses, times }: Observed): void {
  const rows = times.map((ofMinute, index) => {
    const { medianMs, p95Ms } = timing('soak', ofMinute);
    const ofServer = samplesOf(samples, index).map(({ serverBytes }) => serverBytes);
    return [
      `${index + 1}`,
      `${ofMinute.length}`,
      medianMs.toFixed(1),
      p95Ms.toFixed(1),
      mebibytes(Math.min(...ofServer)),
      mebibytes(Math.max(...ofServer)),
      mebibytes(samplesOf(samples, index).at(-1)?.databaseBytes),
    ];
  });
  print(
    textTable(['minute', 'answers', 'median ms', 'p95 ms', 'server MiB', 'at most', 'database MiB'], rows),
  );
  const answers = [...statuses].sort(([a], [b]) => a - b);
  print(`answers by status: ${answers.map(([status, count]) => `${status || 'none'}: ${count}`).join(', ')}`);
  const errors = answers.filter(([status]) => status === 0 || status >= 400);
  const slope = growth(samples);
  const isFlat = slope <= FLAT_MIB_PER_MINUTE;
  print(`least memory of the server in a minute: ${slope.toFixed(2)} MiB more each minute after the first 2`);
  print(`verdict: ${errors.length === 0 ? 'no error' : 'ERRORS'}, ${verdictOn(samples, isFlat)}`);
  if (errors.length > 0 || !isFlat) process.exitCode = 1;
}

function verdictOn(samples: readonly Sample[], isFlat: boolean): string {
  if ((samples.at(-1)?.ms ?? 0) < 2 * WARM_UP_MS) return 'too short to validate memory';
  return isFlat ? 'flat memory' : 'MEMORY GROWS';
}

function samplesOf(samples: readonly Sample[], minute: number): readonly Sample[] {
  return samples.filter(({ ms }) => Math.floor(ms / MINUTE_MS) === minute);
}

/**
 * Slope of the line through the least memory of the server in each minute after the warm-up, MiB a minute; 0 when
 * there is too little. What a leak keeps raises the least; what is above it is garbage that waits for collection.
 */
function growth(samples: readonly Sample[]): number {
  const minutes = Math.floor((samples.at(-1)?.ms ?? 0) / MINUTE_MS);
  if (minutes * MINUTE_MS < 2 * WARM_UP_MS) return 0;
  const points = Array.from({ length: minutes }, (_, minute) => {
    const least = Math.min(...samplesOf(samples, minute).map(({ serverBytes }) => serverBytes));
    return [minute, least / MEBIBYTE] as const;
  }).slice(WARM_UP_MS / MINUTE_MS);
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return above / below;
}

function mebibytes(bytes = 0): string {
  return (bytes / MEBIBYTE).toFixed(0);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();
