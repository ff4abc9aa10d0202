import type { Logger } from 'pino';
import { sealNewRecords } from '../../maintenance/seal.js';

/**
 * Seals new records every so many milliseconds, one run after another; with 0 never. Of several servers on one
 * database one seals at a time. A failure is logged once until a run succeeds again, for a database that is away is
 * told elsewhere. Gives what ends it: it waits for a run under way, which ends after its step.
 */
export function keepSealing(log: Logger, intervalMs: number): () => Promise<void> {
  if (intervalMs === 0) return () => Promise.resolve();
  let isStopped = false;
  let hasFailed = false;
  let running: Promise<void> | null = null;
  const run = async (): Promise<void> => {
    try {
      await sealNewRecords(() => isStopped);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed && !isStopped) log.warn({ err: error }, 'new records were not sealed');
      hasFailed = true;
    }
    running = null;
  };
  const timer = setInterval(() => {
    running ??= run();
  }, intervalMs);
  timer.unref();
  return async () => {
    isStopped = true;
    clearInterval(timer);
    await running;
  };
}
