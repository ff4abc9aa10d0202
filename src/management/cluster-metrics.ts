import cluster, { type Worker } from 'node:cluster';
import { randomUUID } from 'node:crypto';
import type { Registry, MetricObjectWithValues, MetricValue } from 'prom-client';
import { CdrError } from '../../openehr/base/errors.js';

type Figures = MetricObjectWithValues<MetricValue<string>>[];

/** What workers and primary say to each other about metrics; `id` ties answers to questions. */
type MetricsMessage =
  | { readonly kind: 'metrics-wanted' | 'metrics-asked'; readonly id: string }
  | { readonly kind: 'metrics-answer'; readonly id: string; readonly figures: Figures }
  | { readonly kind: 'metrics-of-all'; readonly id: string; readonly figures: readonly Figures[] | null };

/** So long a worker has to send its figures. */
const ANSWER_MS = 4_000;
/** So long a worker waits for those of all. */
const WAIT_MS = 5_000;

/** In a worker: sends the primary the figures of this process whenever it asks for them. */
export function publishMetrics(registry: Registry): void {
  if (!cluster.isWorker) return;
  process.on('message', (message: unknown) => {
    if (!isMetricsMessage(message) || message.kind !== 'metrics-asked') return;
    void registry.getMetricsAsJSON().then((figures) => {
      sendMetrics(process, { kind: 'metrics-answer', id: message.id, figures });
    });
  });
}

let underWay: Promise<Registry> | null = null;

/**
 * The figures of all workers, summed (prom-client's rules for those that cannot be), or those of this process when it
 * is no worker. Who asks meanwhile gets the same. @throws unavailable when a worker does not answer: a sum without it
 * would look like a restart
 */
export function metricsOfAll(own: Registry): Promise<Registry> {
  if (!cluster.isWorker) return Promise.resolve(own);
  underWay ??= askPrimary().finally(() => {
    underWay = null;
  });
  return underWay;
}

async function askPrimary(): Promise<Registry> {
  const id = randomUUID();
  const figures = await new Promise<readonly Figures[] | null>((resolve) => {
    const end = (found: readonly Figures[] | null): void => {
      clearTimeout(timer);
      process.off('message', listen);
      resolve(found);
    };
    const listen = (message: unknown): void => {
      if (isMetricsMessage(message) && message.kind === 'metrics-of-all' && message.id === id)
        end(message.figures);
    };
    const timer = setTimeout(end, WAIT_MS, null);
    process.on('message', listen);
    sendMetrics(process, { kind: 'metrics-wanted', id });
  });
  if (figures === null)
    throw new CdrError('unavailable', 'a worker did not send its metrics', { retryAfterSeconds: 5 });
  const { AggregatorRegistry } = await import('prom-client');
  return AggregatorRegistry.aggregate([...figures]);
}

/** In the primary: answers this worker whenever it wants the figures of all that answer requests. */
export function collectMetricsFor(asker: Worker, workers: () => Iterable<Worker>): void {
  asker.on('message', (message: unknown) => {
    if (!isMetricsMessage(message) || message.kind !== 'metrics-wanted') return;
    const { id } = message;
    void Promise.all([...workers()].map(figuresOf)).then((answers) => {
      const figures = answers.includes('silent') ? null : answers.filter((each) => typeof each === 'object');
      sendMetrics(asker, { kind: 'metrics-of-all', id, figures });
    });
  });
}

/** `gone`: the worker ended, and its figures with it. */
function figuresOf(worker: Worker): Promise<Figures | 'gone' | 'silent'> {
  const id = randomUUID();
  return new Promise((resolve) => {
    const end = (result: Figures | 'gone' | 'silent'): void => {
      clearTimeout(timer);
      worker.off('message', listen).off('exit', gone);
      resolve(result);
    };
    const gone = (): void => {
      end('gone');
    };
    const listen = (message: unknown): void => {
      if (isMetricsMessage(message) && message.kind === 'metrics-answer' && message.id === id)
        end(message.figures);
    };
    const timer = setTimeout(end, ANSWER_MS, 'silent');
    worker.on('message', listen).once('exit', gone);
    sendMetrics(worker, { kind: 'metrics-asked', id });
  });
}

/** A process that is just ending cannot receive anything; its `exit` event says the rest. */
function sendMetrics(to: Worker | NodeJS.Process, message: MetricsMessage): void {
  to.send?.(message, undefined, undefined, () => undefined);
}

function isMetricsMessage(message: unknown): message is MetricsMessage {
  const { kind } = (message ?? {}) as { kind?: unknown };
  return typeof kind === 'string' && kind.startsWith('metrics-');
}
