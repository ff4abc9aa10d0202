/** Keeping an embedded database with persistent data alive: a crash of the engine costs seconds, not the server. */
import { startEmbedded, type EmbeddedDatabase, type EmbeddedOptions } from './spawn.js';

const MAX_RESTARTS = 5;
const WINDOW_MS = 60_000;

/**
 * Starts the database and, when its process ends unasked, starts it again on the same socket or port and folder, where it
 * recovers; at most five times a minute. @throws EmbeddedStartError at the first start
 */
export async function superviseEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const restarts: number[] = [];
  let isStopping = false;
  let restarting: Promise<void> = Promise.resolve();
  const onUnexpectedEnd = (): void => {
    restarting = restart();
  };
  const first = await startEmbedded({ ...options, onUnexpectedEnd });
  const samePort = first.port === null ? {} : { port: first.port };
  let current = first;

  async function restart(): Promise<void> {
    const now = performance.now();
    restarts.push(now);
    const recent = restarts.filter((at) => at > now - WINDOW_MS);
    if (isStopping || recent.length > MAX_RESTARTS) return;
    try {
      current = await startEmbedded({ ...options, ...samePort, onUnexpectedEnd });
      options.log(`the embedded database runs again, ${current.recovered} records put back`);
    } catch (error) {
      options.log(`the embedded database cannot be started again: ${String(error)}`);
    }
  }

  return {
    ...first,
    get pid() {
      return current.pid;
    },
    stop: async () => {
      isStopping = true;
      await restarting;
      await current.stop();
    },
  };
}
