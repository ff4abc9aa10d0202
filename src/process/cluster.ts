import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import type { Settings } from '../../config/settings.js';
import { startLocalDatabase } from '../../database/local-database.js';
import type { LocalDatabase } from '../../database/local-source.js';
import { collectMetricsFor } from '../management/cluster-metrics.js';
import { configFromEnvironment, warnOfMisspeltSettings } from '../settings/config.js';
import { createLogger } from '../logger.js';
import type { RunningServer } from './start.js';
import { required } from '../../openehr/base/required.js';

/** What a worker sends once it answers requests. */
interface WorkerReady {
  readonly kind: 'ready';
  readonly url: string;
}

const RESTART_PAUSE_MS = 1_000;

/**
 * Runs `CLUSTER_WORKERS` processes that share the port; a local database belongs to this process. A worker that
 * dies is replaced. @throws Error when a worker ends before it has answered anything: it has said why
 */
async function startCluster(settings: Settings, log: Logger): Promise<void> {
  const database = await databaseOf(settings, log);
  const workers = new Workers(database.uri, log);
  try {
    const urls = await Promise.all(Array.from({ length: settings.clusterWorkers }, () => workers.start()));
    onStopSignal(log, async () => {
      await workers.stop();
      await database.stop();
    });
    log.info(`listening on ${required(urls[0], 'worker')} with ${urls.length} workers`);
  } catch (error) {
    await workers.stop();
    await database.stop();
    throw error;
  }
}

/** Reports to the primary that this worker answers requests. */
function publishReady(url: string): void {
  const ready: WorkerReady = { kind: 'ready', url };
  process.send?.(ready);
}

async function databaseOf(
  settings: Settings,
  log: Logger,
): Promise<{ readonly uri: string; stop(): Promise<void> }> {
  const { mongodbUri: uri } = settings.database;
  return (await localDatabase(settings, log)) ?? { uri, stop: () => Promise.resolve() };
}

/** The database of this machine, starting; undefined: the settings name one that runs. */
function localDatabase({ database }: Settings, log: Logger): Promise<LocalDatabase> | undefined {
  if (database.mongodbUri !== '') return undefined;
  return startLocalDatabase(database, (line) => {
    log.info(line);
  });
}

class Workers {
  readonly #running = new Set<Worker>();
  /** Those that answer requests. */
  readonly #ready = new Set<Worker>();
  #isStopping = false;

  constructor(
    private readonly uri: string,
    private readonly log: Logger,
  ) {}

  /** Resolves with the address once the worker answers requests. */
  start(): Promise<string> {
    const worker = cluster.fork({ MONGODB_URI: this.uri });
    this.#running.add(worker);
    return new Promise((resolve, reject) => {
      let isReady = false;
      worker.on('message', (message: Partial<WorkerReady>) => {
        if (message.kind !== 'ready') return;
        isReady = true;
        this.#ready.add(worker);
        resolve(message.url ?? '');
      });
      collectMetricsFor(worker, () => this.#ready);
      worker.once('exit', (code: number | null, signal: string | null) => {
        const reason = signal ?? String(code);
        this.#running.delete(worker);
        this.#ready.delete(worker);
        reject(new Error(`a worker ended at its start (${reason})`));
        if (isReady && !this.#isStopping) this.#replace(reason);
      });
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const ended = [...this.#running].map(
      (worker) => new Promise((resolve) => worker.once('exit', resolve).process.kill('SIGTERM')),
    );
    await Promise.all(ended);
  }

  #replace(reason: string): void {
    this.log.error(`a worker ended (${reason}) and is replaced`);
    setTimeout(() => {
      if (this.#isStopping) return;
      this.start().catch((error: unknown) => {
        this.log.error({ err: error }, 'a worker could not be replaced');
        this.#replace('again');
      });
    }, RESTART_PAUSE_MS).unref();
  }
}

/**
 * Runs the server until SIGTERM or SIGINT, then ends running requests first; with `CLUSTER_WORKERS` above 1 as
 * several processes. @throws Error as `startServer`
 */
export async function runServer(): Promise<void> {
  const settings = configFromEnvironment();
  const log = createLogger(settings.logLevel, undefined, settings.tracesSent);
  if (cluster.isPrimary) warnOfMisspeltSettings(log);
  if (settings.clusterWorkers > 1 && cluster.isPrimary) {
    await startCluster(settings, log);
    return;
  }
  const server = await startWithDatabase(settings, log).catch((error: unknown) => {
    // Its channel to the primary would keep the process alive.
    cluster.worker?.disconnect();
    throw error;
  });
  // Before anybody is told of it, who may stop it at once.
  onStopSignal(log, () => server.close());
  if (cluster.isWorker) publishReady(server.url);
  else {
    log.info(`listening on ${server.url}${managementNote(server)}`);
    log.info(`console at ${server.url}${settings.basePath}/console`);
  }
}

/** The database starts while the server is loaded, which takes longer; a primary of workers never loads it. */
async function startWithDatabase(settings: Settings, log: Logger): Promise<RunningServer> {
  const local = localDatabase(settings, log);
  // Whoever waits for it is notified; until then nobody does.
  local?.catch(() => undefined);
  const { startServer } = await import('./start.js');
  return startServer(settings, log, {
    joins: replacesAWorker(settings),
    ...(local !== undefined && { local }),
  });
}

function managementNote({ managementUrl }: RunningServer): string {
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
