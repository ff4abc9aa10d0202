import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { testDatabaseName, testDatabaseUri } from '../database.js';
import { mainSecondsOf, slowness } from '../process/processor-time.js';
import { startServerProcess, type ServerProcess } from '../process/server.js';

/** Processor time that one request may take of the main thread, in seconds. */
export const MAX_MAIN_SECONDS = 0.5;
/** Silence of liveness on an idle machine; a busy one is given as many times more as it needs with nothing to do. */
const MAX_SILENCE_MS = 1_000;
const PROBE_MS = 100;

/** What a request cost the others. */
interface Cost {
  /** Processor time of the main thread, without that of the looks at liveness. */
  readonly mainSeconds: number;
  /** Longest time that liveness did not answer. */
  readonly silenceMs: number;
  /** Most processor time of the main thread for which liveness waited: the silence, however busy the machine is. */
  readonly waitedSeconds: number;
}

/** A server of its own process under attack, and what each attack costs. */
export interface WatchedServer {
  readonly url: string;
  /** Sends something and measures what it costs. */
  cost(attack: () => Promise<unknown>): Promise<Cost>;
  /** Processor time of the main thread so far, in seconds: for many attacks one after another. */
  mainSeconds(): number;
  /** Of `cost`, on this machine as busy as it is now. */
  readonly maxSilenceMs: number;
  stop(): Promise<void>;
}

/** Starts a server with a database in memory. `heapMiB`: all that its heap may hold. */
export async function watchedServer(
  env: Readonly<Record<string, string>> = {},
  heapMiB = 768,
): Promise<WatchedServer> {
  const server = await startServerProcess({
    LOCAL_DATABASE: 'embedded',
    EMBEDDED_DATA_DIR: 'temporary',
    AUTH: 'none',
    LOG_LEVEL: 'info',
    NODE_OPTIONS: `--max-old-space-size=${heapMiB}`,
    ...env,
  });
  const idle = await costOf(server, () => pause(2_000));
  const probeSeconds = idle.mainSeconds / idle.probes;
  return {
    url: server.url,
    cost: async (attack) => {
      const { mainSeconds, probes, silenceMs, waitedSeconds } = await costOf(server, attack);
      return { mainSeconds: mainSeconds - probes * probeSeconds, silenceMs, waitedSeconds };
    },
    mainSeconds: () => mainSeconds(server),
    maxSilenceMs: MAX_SILENCE_MS + 20 * idle.silenceMs,
    stop: async () => {
      await server.kill();
    },
  };
}

/** One with the database of the test file, so that the test sees what is stored; after `useDatabase` of the file. */
export function watchedServerOfTest(env: Readonly<Record<string, string>> = {}): Promise<WatchedServer> {
  const database = { MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() };
  return watchedServer({ LOCAL_DATABASE: '', EMBEDDED_DATA_DIR: '', ...database, ...env });
}

/** What it would be on the machine that the limit was set on, which is asked only where that matters. */
function atUsualPace(seconds: number): number {
  return seconds < MAX_MAIN_SECONDS ? seconds : seconds / Math.max(1, slowness());
}

/** What an attack gives, which takes the server from nobody. */
export async function takingNobody<T>(server: WatchedServer, attack: () => Promise<T>): Promise<T> {
  const results: T[] = [];
  const { mainSeconds, silenceMs } = await server.cost(async () => {
    results.push(await attack());
  });
  expect(atUsualPace(mainSeconds)).toBeLessThan(MAX_MAIN_SECONDS);
  expect(silenceMs).toBeLessThan(server.maxSilenceMs);
  return results[0] as T;
}

async function costOf(
  server: ServerProcess,
  attack: () => Promise<unknown>,
): Promise<Cost & { readonly probes: number }> {
  const before = mainSeconds(server);
  const probe = liveness(server);
  try {
    await attack();
  } finally {
    await probe.stop();
  }
  return { mainSeconds: mainSeconds(server) - before, ...probe.found() };
}

/** Linux alone tells the time of one thread; elsewhere it is not measured. */
const mainSeconds = ({ process: { pid = 0 } }: ServerProcess): number => mainSecondsOf(pid) ?? 0;

function liveness(server: ServerProcess) {
  const state = { isOver: false };
  const found = { silenceMs: 0, waitedSeconds: 0, probes: 0 };
  const asked = (async () => {
    while (!state.isOver) {
      const start = performance.now();
      const before = mainSeconds(server);
      await fetch(`${server.url}/management/health/liveness`).then((answer) => answer.text());
      found.silenceMs = Math.max(found.silenceMs, performance.now() - start);
      found.waitedSeconds = Math.max(found.waitedSeconds, mainSeconds(server) - before);
      found.probes += 1;
      await pause(PROBE_MS);
    }
  })();
  return {
    stop: async () => {
      state.isOver = true;
      await asked;
    },
    found: () => found,
  };
}
