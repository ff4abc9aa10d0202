import { subscribe } from 'node:diagnostics_channel';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { EVENTS, type TerminologyFailureEvent } from '../base/events.js';
import type { Settings } from '../base/settings.js';
import { connectDatabase, type DatabaseHandle } from '../database/connect.js';
import { resumeErasures } from '../change/erase.js';
import { removeExpiredRequests } from '../models/idempotency.js';
import { closePool } from '../workers/pool.js';
import { createApp } from './app.js';
import { gracefulStop } from './graceful-stop.js';
import { createMetrics } from './metrics.js';
import { logSlowQueries } from './slow-query-log.js';
import { prepareStorage } from './storage.js';

const HOUR_MS = 3_600_000;

/** A server that listens. */
export interface RunningServer {
  /** `http://host:port`, without trailing slash. */
  readonly url: string;
  readonly database: DatabaseHandle;
  /** Stops taking requests, lets running ones end within `SHUTDOWN_TIMEOUT_MS`, then leaves the database. */
  close(): Promise<void>;
}

/**
 * Connects the database, listens, and builds collections and indexes; until they stand every request but
 * liveness and readiness is answered 503. `joins`: others serve on the port already, so that this process takes
 * its share of their requests only once it can answer them.
 * @throws Error when no database can be had, the system id differs from the stored one, the port is taken, or keys or
 * proxies of the settings cannot be read
 */
export async function startServer(settings: Settings, log: Logger, joins = false): Promise<RunningServer> {
  const operation = {
    metrics: createMetrics({ ofProcess: true }),
    state: { indexesBuilt: false, stopping: false },
  };
  // Before the database: settings that cannot be used end the start while there is nothing to stop.
  const handle = createApp(settings, log, operation).callback();
  const database = await connectDatabase(settings.database, (line) => {
    log.info(line);
  });
  const server = createServer((request, response) => void handle(request, response));
  const stopServing = gracefulStop(server);
  try {
    if (!joins) await listen(server, settings);
    if (!(await prepareStorage(settings))) {
      log.warn('what AQL reads is stale: queries are right but slow until `everchart reindex` has run');
    }
    operation.state.indexesBuilt = true;
    if (joins) await listen(server, settings);
    const sweep = sweepIdempotencyKeys(log);
    const stopLoggingQueries = logSlowQueries(log, settings.slowQueryMs);
    void finishErasures(log);
    warnOfUncheckedCodes(log);
    const url = addressOf(server, settings);
    const stop = async (): Promise<void> => {
      operation.state.stopping = true;
      clearInterval(sweep);
      stopLoggingQueries();
      await stopServing(settings.shutdownTimeoutMs);
      await closePool();
      await database.close();
    };
    return { url, database, close: stop };
  } catch (error) {
    server.close();
    server.closeAllConnections();
    await database.close();
    throw error;
  }
}

/** The embedded engine has no monitor for TTL indexes: expired keys go by our own hand, hourly. */
function sweepIdempotencyKeys(log: Logger): NodeJS.Timeout {
  const timer = setInterval(() => {
    removeExpiredRequests(new Date()).catch((error: unknown) => {
      log.warn({ err: error }, 'expired idempotency keys were not removed');
    });
  }, HOUR_MS);
  return timer.unref();
}

/** A code that was accepted because the terminology server failed must not go unseen. */
function warnOfUncheckedCodes(log: Logger): void {
  subscribe(EVENTS.terminologyFailure, (event) => {
    const { valueSetUrl } = event as TerminologyFailureEvent;
    log.warn({ valueSetUrl }, 'the terminology server failed: a code was accepted unchecked');
  });
}

/** Ends physical deletions that a crash interrupted; what they concern is hidden already. */
async function finishErasures(log: Logger): Promise<void> {
  try {
    const finished = await resumeErasures();
    if (finished > 0) log.info(`${finished} interrupted deletions of EHRs were finished`);
  } catch (error) {
    log.warn({ err: error }, 'interrupted deletions of EHRs were not finished');
  }
}

function listen(server: Server, settings: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.port, settings.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function addressOf(server: Server, settings: Settings): string {
  const { port } = server.address() as AddressInfo;
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  return `http://${host}:${port}`;
}
