import { Command } from 'commander';
import { demoClient } from '../src/demo/client.js';
import { loadDemoData, patientCompositions, type LoadPlan } from '../src/demo/load.js';
import { configFromEnvironment } from '../src/config.js';
import { createLogger } from '../src/logger.js';
import { startServer } from '../src/start.js';
import { timing } from './measure.js';

const PLAN: LoadPlan = { ehrs: 100, compositionsPerEhr: 10, seed: 20260105, parallel: 8 };
const QUERY = 'SELECT c/uid/value AS uid FROM EHR e CONTAINS COMPOSITION c ORDER BY uid LIMIT 20';
const MINUTE_MS = 60_000;
const MEBIBYTE = 1024 * 1024;

/**
 * `npm run soak`: finds the highest load that a closed loop reaches, then sends 70 % of it at fixed times for ten
 * minutes (eight commits to one read to one query) and prints errors, delays and memory minute by minute.
 */
async function main(): Promise<void> {
  const { minutes, share } = new Command('soak')
    .option('--minutes <number>', 'how long', '10')
    .option('--share <number>', 'share of the highest load', '0.7')
    .parse()
    .opts<{ minutes: string; share: string }>();
  const settings = configFromEnvironment({ EMBEDDED_DATA_DIR: 'temporary', PORT: '0', LOG_LEVEL: 'warn' });
  const server = await startServer(settings, createLogger(settings.logLevel));
  try {
    const client = demoClient(server.url);
    const ehrIds = await loadDemoData(client, PLAN, () => undefined);
    const work = workOn(server.url, ehrIds);
    const highest = await highestRate(work);
    const rate = highest * Number(share);
    print(`highest ${highest.toFixed(0)} requests/s; soak at ${rate.toFixed(0)} for ${minutes} minutes`);
    for (let minute = 1; minute <= Number(minutes); minute += 1) await soakMinute(work, rate, minute);
  } finally {
    await server.close();
  }
}

type Work = (turn: number) => Promise<void>;

function workOn(url: string, ehrIds: readonly string[]): Work {
  const client = demoClient(url);
  const compositions = patientCompositions(PLAN, 0);
  return async (turn) => {
    const ehrId = ehrIds[turn % ehrIds.length] ?? '';
    if (turn % 10 === 8) {
      const answer = await fetch(`${url}/rest/openehr/v1/ehr/${ehrId}`);
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`a read answered ${answer.status}`);
    } else if (turn % 10 === 9) await client.query(QUERY, {});
    else await client.commitComposition(ehrId, compositions[turn % compositions.length] ?? {});
  };
}

/** Requests per second of sixteen clients that each wait for their answer. */
async function highestRate(work: Work): Promise<number> {
  const start = performance.now();
  let turn = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() - start < MINUTE_MS / 3) await work((turn += 1));
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  return (turn / (performance.now() - start)) * 1000;
}

/** Requests are sent when they are due, whether earlier ones are answered or not. */
async function soakMinute(work: Work, rate: number, minute: number): Promise<void> {
  const times: number[] = [];
  const errors = new Map<string, number>();
  const underWay: Promise<void>[] = [];
  const start = performance.now();
  const count = Math.round((rate * MINUTE_MS) / 1000);
  for (let turn = 0; turn < count; turn += 1) {
    const due = start + (turn * 1000) / rate;
    const wait = due - performance.now();
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
    underWay.push(
      work(turn).then(
        () => void times.push(performance.now() - due),
        (error: unknown) => {
          const message = error instanceof Error ? error.message : String(error);
          errors.set(message, (errors.get(message) ?? 0) + 1);
        },
      ),
    );
  }
  await Promise.all(underWay);
  const { medianMs, p95Ms } = timing('soak', times);
  const { rss, heapUsed } = process.memoryUsage();
  const memory = `rss ${Math.round(rss / MEBIBYTE)} MiB, heap ${Math.round(heapUsed / MEBIBYTE)} MiB`;
  print(
    `minute ${minute}: ${times.length} answers, median ${medianMs.toFixed(1)} ms, p95 ${p95Ms.toFixed(1)} ms, ${memory}`,
  );
  for (const [message, times] of errors) print(`  ${times} × ${message}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();
