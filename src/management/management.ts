import { freemem, hostname, totalmem } from 'node:os';
import type { Logger } from 'pino';
import type { MetricValue, Registry } from 'prom-client';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import type { Settings } from '../../config/settings.js';
import { databaseAnswers, whyDatabaseUnfit } from '../../models/access/server-status.js';
import { timeAheadOfClock } from '../../models/cross-collection/newest-time.js';
import type { ManagementSource, MetricView } from '../../routes/system/management.js';
import type { ActivitySource, DaySource } from '../../routes/system/overview.js';
import { PRODUCT, PRODUCT_VERSION } from '../../routes/http/product.js';
import { metricsOfAll } from './cluster-metrics.js';

/** What changes between start and stop; `indexesBuilt` false: not ready yet. */
export interface ProcessState {
  indexesBuilt: boolean;
  stopping: boolean;
  /** Address of a peer that speaks for others (X-Forwarded-For) and that `TRUSTED_PROXIES` does not name; absent: none was seen. */
  distrustedProxy?: string;
}

/** What the management operations show of the process. */
export interface ProcessParts {
  readonly registry: Registry;
  readonly state: ProcessState;
  readonly activity: ActivitySource;
  readonly day: DaySource;
}

const MASK = '******';
const SECRET_NAME = /secret|password|token|key|uri|credential/i;
const ROOT_LOGGER = 'ROOT';

/** The facts of this process for the management routes. */
export function managementSource(settings: Settings, log: Logger, parts: ProcessParts): ManagementSource {
  const { registry, state } = parts;
  const started = new Date();
  const isDatabaseFit = databaseFitness(log);
  return {
    ready: async () => state.indexesBuilt && !state.stopping && (await isDatabaseFit()),
    databaseUp: databaseAnswers,
    distrustedProxy: () => state.distrustedProxy ?? null,
    timeAheadOfClock: () => timeAheadOfClock().catch(() => null),
    info: () => ({ build: { name: PRODUCT, version: PRODUCT_VERSION }, started: started.toISOString() }),
    environment: () => environment(settings),
    metricNames: () => registry.getMetricsAsArray().map((metric) => metric.name),
    metric: async (name, tags) => metricView(await metricsOfAll(registry), name, tags),
    prometheus: async () => (await metricsOfAll(registry)).metrics(),
    loggers: () => ({ [ROOT_LOGGER]: log.level === 'silent' ? 'OFF' : log.level.toUpperCase() }),
    setLevel: (name, level) => {
      if (name !== ROOT_LOGGER) return false;
      log.level = level === 'OFF' ? 'silent' : level.toLowerCase();
      return true;
    },
  };
}

/** Whether the database can be used; logs why not, once for each reason: probes come every few seconds. */
function databaseFitness(log: Logger): () => Promise<boolean> {
  let last: string | null = null;
  return async () => {
    const reason = await whyDatabaseUnfit();
    if (reason !== null && reason !== last) log.warn(`not ready: ${reason}`);
    last = reason;
    return reason === null;
  };
}

/** Runtime facts and the configuration, dotted names, everything that may be a secret masked. */
function environment(settings: Settings): JsonObject {
  return {
    runtime: {
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      pid: process.pid,
      hostname: hostname(),
      uptimeSeconds: Math.round(process.uptime()),
      memoryTotalBytes: totalmem(),
      memoryFreeBytes: freemem(),
      heapUsedBytes: process.memoryUsage().heapUsed,
    },
    settings: maskedValues(settings as unknown as JsonObject),
  };
}

function maskedValues(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, maskedValue(name, value)]));
}

function maskedValue(name: string, value: JsonValue): JsonValue {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return maskedValues(value);
  if (SECRET_NAME.test(name)) return value === null || value === '' ? value : MASK;
  return typeof value === 'string' ? value.replace(/\/\/[^/@\s]+@/, `//${MASK}@`) : value;
}

async function metricView(
  registry: Registry,
  name: string,
  tags: readonly string[],
): Promise<MetricView | null> {
  // By the list of names: the registry looks a name up among the members of an object, its inherited ones too.
  const isKnown = registry.getMetricsAsArray().some((each) => each.name === name);
  const metric = isKnown ? registry.getSingleMetric(name) : undefined;
  if (metric === undefined) return null;
  const { help, values } = await metric.get();
  const wanted = values.filter(({ labels }) =>
    tags.every((tag) => {
      const cut = tag.indexOf(':');
      return String(labels[tag.slice(0, cut)]) === tag.slice(cut + 1);
    }),
  );
  return {
    name,
    description: help,
    baseUnit: /_(seconds|bytes|rows)(_|$)/.exec(name)?.[1] ?? null,
    measurements: measurements(name, wanted),
    availableTags: availableTags(wanted),
  };
}

/** Sums per statistic: a histogram has COUNT and TOTAL, everything else a VALUE. */
function measurements(name: string, values: readonly MetricValue<string>[]): MetricView['measurements'] {
  const sums = new Map<string, number>();
  for (const value of values) {
    const suffix = (value as { metricName?: string }).metricName?.slice(name.length);
    if (suffix === '_bucket') continue;
    const statistic = suffix === '_count' ? 'COUNT' : suffix === '_sum' ? 'TOTAL' : 'VALUE';
    sums.set(statistic, (sums.get(statistic) ?? 0) + value.value);
  }
  return [...sums].map(([statistic, value]) => ({ statistic, value }));
}

function availableTags(values: readonly MetricValue<string>[]): MetricView['availableTags'] {
  const tags = new Map<string, Set<string>>();
  for (const { labels } of values) {
    for (const [tag, value] of Object.entries(labels)) {
      if (tag === 'le' || value === undefined) continue;
      const known = tags.get(tag) ?? new Set<string>();
      tags.set(tag, known.add(String(value)));
    }
  }
  return [...tags].map(([tag, known]) => ({ tag, values: [...known].sort() }));
}
