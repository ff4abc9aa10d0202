import cluster from 'node:cluster';
import type { Logger } from 'pino';
import type { Settings } from '../../config/settings.js';
import { startCluster, publishReady } from './cluster.js';
import { configFromEnvironment, warnOfMisspeltSettings } from '../settings/config.js';
import { createLogger } from '../logger.js';
import { startServer, type RunningServer } from './start.js';

/**
 * Runs the server until SIGTERM or SIGINT, then ends running requests first; with `CLUSTER_WORKERS` above 1 as
 * several processes. @throws Error as `startServer`
 */
export async function runServer(): Promise<void> {
  const settings = configFromEnvironment();
  const log = createLogger(settings.logLevel);
  if (cluster.isPrimary) warnOfMisspeltSettings(log);
  if (settings.clusterWorkers > 1 && cluster.isPrimary) {
    const running = await startCluster(settings, log);
    onStopSignal(log, () => running.close());
    return;
  }
  const server = await startServer(settings, log, replacesAWorker(settings)).catch((error: unknown) => {
    // Its channel to the primary would keep the process alive.
    cluster.worker?.disconnect();
    throw error;
  });
  if (cluster.isWorker) publishReady(server.url);
  else {
    log.info(`listening on ${server.url}${besides(server)}`);
    log.info(`console at ${server.url}${settings.basePath}/console`);
  }
  onStopSignal(log, () => server.close());
}

function besides({ managementUrl }: RunningServer): string {
  return managementUrl === null ? '' : `, for management on ${managementUrl}`;
}

/** The primary counts its workers up from 1: those above the number asked for came when another had died. */
function replacesAWorker(settings: Settings): boolean {
  return cluster.worker !== undefined && cluster.worker.id > settings.clusterWorkers;
}

/** Closes once on the first SIGTERM or SIGINT and ends the process: 0, or 1 when closing fails. */
function onStopSignal(log: Logger, close: () => Promise<void>): void {
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info(`${signal}: shutting down`);
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the shutdown failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
