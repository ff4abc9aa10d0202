/** Keeping an embedded database with persistent data alive: a crash of the engine costs seconds, not the server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbedded, type EmbeddedDatabase, type EmbeddedOptions } from './spawn.js';

/** Pause before the first restart that follows a failed or short-lived one; each further pause is twice as long. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A database that ran for so long is well: what ends it then is something new. */
const WELL_AFTER_MS = 60_000;

/**
 * Starts the database and, whenever its process ends unasked, starts it again on the same socket or port and folder, where
 * it recovers: at once after it ran for a minute, else after a pause that grows to 30 s. It never gives up, since what
 * ended it, such as a full disk, may be mended while nobody looks. Each failure and pause is logged.
 * @throws EmbeddedStartError at the first start
 */
export async function superviseEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const stopping = new AbortController();
  let failures = 0;
  let startedAt = performance.now();
  let restarting: Promise<void> = Promise.resolve();
  const onUnexpectedEnd = (): void => {
    if (performance.now() - startedAt >= WELL_AFTER_MS) failures = 0;
    restarting = restart();
  };
  const first = await startEmbedded({ ...options, onUnexpectedEnd });
  const samePort = first.port === null ? {} : { port: first.port };
  let current = first;

  async function restart(): Promise<void> {
    let isRunning = false;
    while (!isRunning) {
      await pauseBefore(failures, options.log, stopping.signal);
      failures += 1;
      isRunning = stopping.signal.aborted || (await startAgain());
    }
  }

  async function startAgain(): Promise<boolean> {
    try {
      current = await startEmbedded({ ...options, ...samePort, onUnexpectedEnd });
      startedAt = performance.now();
      options.log(`the embedded database runs again, ${current.recovered} records put back`);
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      options.log(`the embedded database cannot be started again: ${reason}`);
      return false;
    }
  }

  return {
    ...first,
    get pid() {
      return current.pid;
    },
    stop: async () => {
      stopping.abort();
      await restarting;
      await current.stop();
    },
  };
}

/** Waits before a restart, the longer the more of them have failed; no longer when the database is to stop. */
async function pauseBefore(failed: number, log: (line: string) => void, stopped: AbortSignal): Promise<void> {
  const ms = restartPauseMs(failed);
  if (ms === 0 || stopped.aborted) return;
  log(`the embedded database is started again in ${ms / 1000} s`);
  await sleep(ms, undefined, { signal: stopped }).catch(() => undefined);
}

/** How many milliseconds to wait before a restart when so many before it failed, or did not last, in a row. */
export function restartPauseMs(failed: number): number {
  return failed === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (failed - 1), LONGEST_PAUSE_MS);
}
