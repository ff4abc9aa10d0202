import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { DayPart, DaySource } from '../routes/system/overview.js';

/** How long one part of the day is. Milliseconds. */
const PART_MS = 10 * 60_000;
const PARTS_KEPT = 144;
const REQUESTS = 'http_server_requests_seconds';
/** Probes ask every other second whether the server lives: their times say nothing about those of people. */
const PROBES = /^\/management\b/;

/** What the histogram of requests had counted at one moment. */
interface Totals {
  readonly requests: number;
  readonly errors: number;
  readonly refusedSignIns: number;
  /** Requests that took at most so many seconds, ascending. */
  readonly within: readonly (readonly [seconds: number, count: number])[];
}

const NOTHING: Totals = { requests: 0, errors: 0, refusedSignIns: 0, within: [] };

/** Keeps the day. */
export interface Day extends DaySource {
  /** Ends a part; called every `PART_MS`. */
  readonly endPart: () => Promise<void>;
}

/**
 * What this process answered in the last day, in parts: read from the histogram that every request is counted in anyway, so
 * that it costs no request anything.
 */
export function recordDay(registry: Registry): Day {
  const parts: DayPart[] = [];
  let before = NOTHING;
  let began = new Date();
  const partOfNow = (now: Totals): DayPart => partBetween(began, before, now);
  return {
    endPart: async () => {
      const now = await totalsOf(registry);
      parts.push(partOfNow(now));
      parts.splice(0, parts.length - PARTS_KEPT);
      before = now;
      began = new Date();
    },
    parts: async () => [...parts, partOfNow(await totalsOf(registry))],
  };
}

/** Ends a part every `everyMs` until it is stopped; one that cannot be read goes on in the next. */
export function keepDay(day: Pick<Day, 'endPart'>, log: Logger, everyMs = PART_MS): () => void {
  const end = (): void => {
    day.endPart().catch((error: unknown) => log.warn({ err: error }, 'a part of the day could not be ended'));
  };
  const timer = setInterval(end, everyMs).unref();
  return () => clearInterval(timer);
}

function partBetween(time: Date, before: Totals, now: Totals): DayPart {
  const requests = now.requests - before.requests;
  const counts = new Map(before.within);
  const within = now.within.map(([seconds, count]) => [seconds, count - (counts.get(seconds) ?? 0)] as const);
  return {
    time,
    requests,
    errors: now.errors - before.errors,
    refused_sign_ins: now.refusedSignIns - before.refusedSignIns,
    median: quantile(within, requests, 0.5),
    p95: quantile(within, requests, 0.95),
  };
}

/** Milliseconds, as near as the steps of the histogram tell; null: nothing was asked. */
function quantile(
  within: readonly (readonly [seconds: number, count: number])[],
  requests: number,
  share: number,
): number | null {
  if (requests === 0) return null;
  const wanted = requests * share;
  let [from, below] = [0, 0];
  for (const [seconds, count] of within) {
    if (count >= wanted) {
      const part = count === below ? 1 : (wanted - below) / (count - below);
      return Math.round((from + (seconds - from) * part) * 100_000) / 100;
    }
    [from, below] = [seconds, count];
  }
  // Longer than the longest step.
  return from * 1_000;
}

async function totalsOf(registry: Registry): Promise<Totals> {
  const metric = registry.getSingleMetric(REQUESTS);
  if (metric === undefined) return NOTHING;
  const { values } = await metric.get();
  let [requests, errors, refusedSignIns] = [0, 0, 0];
  const within = new Map<number, number>();
  for (const each of values) {
    const { le, route, status } = each.labels as Readonly<Record<string, string | number | undefined>>;
    if (PROBES.test(String(route))) continue;
    const { metricName = '' } = each as { readonly metricName?: string };
    if (metricName.endsWith('_count')) {
      requests += each.value;
      if (Number(status) >= 500) errors += each.value;
      if (Number(status) === 401) refusedSignIns += each.value;
    } else if (metricName.endsWith('_bucket') && le !== '+Inf') {
      const seconds = Number(le);
      within.set(seconds, (within.get(seconds) ?? 0) + each.value);
    }
  }
  return { requests, errors, refusedSignIns, within: [...within].sort(([a], [b]) => a - b) };
}
