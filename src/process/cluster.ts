import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import type { Settings } from '../../config/settings.js';
import { startLocalDatabase } from '../../database/local-database.js';
import { collectMetricsFor } from './cluster-metrics.js';

/** Several workers on one port. */
export interface RunningCluster {
  readonly url: string;
  /** Stops the workers as each stops by itself, then a database that was started for them. */
  close(): Promise<void>;
}

/** What a worker tells once it answers requests. */
interface WorkerReady {
  readonly kind: 'ready';
  readonly url: string;
}

const RESTART_PAUSE_MS = 1_000;

/**
 * Runs `CLUSTER_WORKERS` processes that share the port; a local database belongs to this process. A worker that
 * dies is replaced. @throws Error when a worker ends before it has answered anything: it has said why
 */
export async function startCluster(settings: Settings, log: Logger): Promise<RunningCluster> {
  const database = await databaseOf(settings, log);
  const workers = new Workers(database.uri, log);
  try {
    const urls = await Promise.all(Array.from({ length: settings.clusterWorkers }, () => workers.start()));
    log.info(`listening on ${urls[0] ?? ''} with ${urls.length} workers`);
    const close = async (): Promise<void> => {
      await workers.stop();
      await database.stop();
    };
    return { url: urls[0] ?? '', close };
  } catch (error) {
    await workers.stop();
    await database.stop();
    throw error;
  }
}

/** Tells the primary that this worker answers requests. */
export function publishReady(url: string): void {
  const ready: WorkerReady = { kind: 'ready', url };
  process.send?.(ready);
}

async function databaseOf(
  settings: Settings,
  log: Logger,
): Promise<{ readonly uri: string; stop(): Promise<void> }> {
  const { mongodbUri: uri } = settings.database;
  if (uri !== '') return { uri, stop: () => Promise.resolve() };
  const database = await startLocalDatabase(settings.database, (line) => {
    log.info(line);
  });
  return { uri: database.uri, stop: () => database.stop() };
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
