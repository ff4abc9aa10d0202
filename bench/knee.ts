import { textTable } from '../cli/output.js';
import { startServerProcess } from '../test/support/process/server.js';
import { milliseconds, quantile } from './measure.js';
import { openLoop, type LoopAnswer } from './open-loop.js';
import { mixedWork, type Work } from './soak-work.js';

const FIRST_RATE = 25;
const FACTOR = 1.3;
const STEP_MS = 8_000;
/** At the head of a step answers still wait behind those of the step before. */
const HEAD_MS = 1_000;
/** The 99th percentile of the time of an answer, ms, above which a rate is beyond the knee. */
const SLOW_MS = 500;
/** Share of failed requests above which it is, too. */
const FAILED = 0.01;
const OVERLOAD = 3;
/** What an answer may take under overload, ms. */
const PATIENCE_MS = 2_000;
const MOST_UNDER_WAY = 5_000;
const MOST_STEPS = 24;
const COLUMNS = ['requests/s', 'p50 ms', 'p99 ms', 'longest ms', '2xx', '503', 'others', 'no answer'];

/**
 * The rate at which mixed work (of ten requests three commits, four GETs of a composition, one of an EHR, two queries)
 * becomes slow, and what becomes of three times as much. An open loop: requests are sent at fixed times and timed from
 * them. Server, database and sender share the machine.
 */
export async function benchKnee(print: (line: string) => void): Promise<void> {
  const server = await startServerProcess({
    EMBEDDED_DATA_DIR: 'temporary',
    MONGODB_URI: '',
    AUTH: 'none',
    RATE_LIMIT_PER_MINUTE: '0',
  });
  try {
    const work = await mixedWork(server.url);
    const rows: string[][] = [];
    const knee = await findKnee(work, rows);
    if (knee === null) {
      print(textTable(COLUMNS, rows));
      print(`knee: below ${FIRST_RATE} requests/s`);
      return;
    }
    const beyond = await step(work, OVERLOAD * knee);
    rows.push(rowOf(OVERLOAD * knee, beyond));
    print(textTable(COLUMNS, rows));
    print(`knee: ${knee.toFixed(0)} requests/s`);
    const late = beyond.filter(({ ms }) => ms > PATIENCE_MS).length;
    print(`at ${OVERLOAD} times the knee: ${late} of ${beyond.length} answers later than ${PATIENCE_MS} ms`);
  } finally {
    await server.stop();
  }
}

/** The highest rate that was not beyond the knee, null: none; every rate that was tried becomes a row. */
async function findKnee(work: Work, rows: string[][]): Promise<number | null> {
  let knee: number | null = null;
  let rate = FIRST_RATE;
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const answers = await step(work, rate);
    rows.push(rowOf(rate, answers));
    if (isBeyond(answers)) break;
    knee = rate;
    rate *= FACTOR;
  }
  return knee;
}

async function step(work: Work, rate: number): Promise<LoopAnswer[]> {
  const answers: LoopAnswer[] = [];
  await openLoop(work, { rate, ms: STEP_MS, mostUnderWay: MOST_UNDER_WAY }, (answer) => {
    if (answer.dueMs >= HEAD_MS) answers.push(answer);
  });
  return answers;
}

function isBeyond(answers: readonly LoopAnswer[]): boolean {
  const failed = answers.filter(({ status }) => status === 0 || status >= 500).length;
  return p(answers, 0.99) > SLOW_MS || failed > FAILED * answers.length;
}

function p(answers: readonly LoopAnswer[], share: number): number {
  return quantile(
    answers.map(({ ms }) => ms),
    share,
  );
}

function rowOf(rate: number, answers: readonly LoopAnswer[]): string[] {
  const count = (fits: (status: number) => boolean): string =>
    `${answers.filter(({ status }) => fits(status)).length}`;
  return [
    rate.toFixed(0),
    ...[0.5, 0.99, 1].map((share) => milliseconds(p(answers, share))),
    count((status) => status >= 200 && status < 300),
    count((status) => status === 503),
    count((status) => status >= 300 && status !== 503),
    count((status) => status === 0),
  ];
}
