import { maskedAql } from '../aql/syntax/masked.js';
import { onEvent, type IgnoredEvent } from '../database/events.js';
import type {
  ActivitySource,
  IgnoredCount,
  MinuteOfActivity,
  SlowQuery,
  Times,
} from '../routes/system/overview.js';

const MINUTE_MS = 60_000;
const MINUTES_KEPT = 60;
/** Newest durations that median and 95th percentile are taken from. */
const DURATIONS_KEPT = 1_000;
const SLOW_QUERIES_KEPT = 10;
const IGNORED_KEPT = 200;
const IGNORED_SHOWN = 10;
const MAX_NAME_CHARACTERS = 60;
/** Longest text of a query that is kept: what is longer ends there. */
const MAX_AQL_CHARACTERS = 4_096;

/** Counts what this process commits and answers from now on, for the last hour. Memory is bounded. */
export function recordActivity(): ActivitySource {
  const started = new Date();
  const minutes = new Map<number, { commits: number; queries: number }>();
  const commitTimes: number[] = [];
  const queryTimes: number[] = [];
  let slowest: readonly KnownQuery[] = [];

  const ignored = new Map<string, IgnoredCount>();
  onEvent('ignored', (event) => {
    countIgnored(ignored, event);
  });
  onEvent('commit', ({ seconds }) => {
    minuteOf(minutes).commits += 1;
    keepDuration(commitTimes, seconds);
  });
  onEvent('query', ({ seconds, rows, aql }) => {
    minuteOf(minutes).queries += 1;
    keepDuration(queryTimes, seconds);
    slowest = withQuery(slowest, { time: new Date(), ms: inMs(seconds), rows, aql });
  });
  return {
    started,
    minutes: () => lastHour(minutes),
    commitTimes: () => timesOf(commitTimes),
    queryTimes: () => timesOf(queryTimes),
    ignored: () =>
      [...ignored.values()]
        .sort((left, right) => right.count - left.count)
        .slice(0, IGNORED_SHOWN)
        .map((each) => ({ ...each })),
    slowestQueries: () =>
      slowest.filter(isRecent).map(({ time, aql, ms, rows }) => ({ time, aql, ms, rows })),
  };
}

/** Names are the client's: so many are told apart, all others are one. */
function countIgnored(counts: Map<string, IgnoredCount>, { kind, name: given }: IgnoredEvent): void {
  const short = given.slice(0, MAX_NAME_CHARACTERS);
  const isKnown = counts.has(`${kind} ${short}`) || counts.size < IGNORED_KEPT;
  const name = isKnown ? short : '…';
  const key = `${kind} ${name}`;
  counts.set(key, { kind, name, count: (counts.get(key)?.count ?? 0) + 1 });
}

function minuteOf(minutes: Map<number, { commits: number; queries: number }>): {
  commits: number;
  queries: number;
} {
  const now = Math.floor(Date.now() / MINUTE_MS);
  const known = minutes.get(now);
  if (known !== undefined) return known;
  for (const minute of minutes.keys()) if (minute <= now - MINUTES_KEPT) minutes.delete(minute);
  const fresh = { commits: 0, queries: 0 };
  minutes.set(now, fresh);
  return fresh;
}

function lastHour(minutes: ReadonlyMap<number, { commits: number; queries: number }>): MinuteOfActivity[] {
  const now = Math.floor(Date.now() / MINUTE_MS);
  return Array.from({ length: MINUTES_KEPT }, (_, index) => {
    const minute = now - MINUTES_KEPT + 1 + index;
    return { time: new Date(minute * MINUTE_MS), ...(minutes.get(minute) ?? { commits: 0, queries: 0 }) };
  });
}

function keepDuration(times: number[], seconds: number): void {
  times.push(inMs(seconds));
  if (times.length > DURATIONS_KEPT * 2) times.splice(0, times.length - DURATIONS_KEPT);
}

function timesOf(times: readonly number[]): Times {
  const sorted = times.slice(-DURATIONS_KEPT).sort((left, right) => left - right);
  const at = (share: number): number | null => sorted[Math.floor((sorted.length - 1) * share)] ?? null;
  return { count: sorted.length, median: at(0.5), p95: at(0.95) };
}

/** A slow query with its text as it came, by which it is recognised; it is never shown. */
interface KnownQuery extends SlowQuery {
  readonly text: string;
}

/**
 * The list with one more query, if it belongs there; only what does is masked, for that takes as long as to parse it.
 * What is no AQL never does.
 */
function withQuery(slowest: readonly KnownQuery[], query: SlowQuery): readonly KnownQuery[] {
  const recent = slowest.filter(isRecent);
  const last = recent.at(-1);
  const isFull = recent.length >= SLOW_QUERIES_KEPT;
  const isSlower = (other: KnownQuery): boolean => other.ms >= query.ms;
  if (
    (isFull && last !== undefined && isSlower(last)) ||
    recent.some((other) => other.text === query.aql && isSlower(other))
  )
    return recent;
  const aql = maskedAql(query.aql)?.slice(0, MAX_AQL_CHARACTERS);
  if (aql === undefined) return recent;
  return [...recent, { ...query, text: query.aql, aql }]
    .sort((left, right) => right.ms - left.ms)
    .filter((one, index, all) => all.findIndex((other) => other.aql === one.aql) === index)
    .slice(0, SLOW_QUERIES_KEPT);
}

function isRecent({ time }: SlowQuery): boolean {
  return time.getTime() > Date.now() - MINUTES_KEPT * MINUTE_MS;
}

function inMs(seconds: number): number {
  return Math.round(seconds * 100_000) / 100;
}
