import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Logger } from 'pino';
import { maskedAql } from '../aql/syntax/masked.js';
import { EVENTS, type QueryEvent } from '../database/events.js';

/**
 * Logs one line for each query that took `slowMs` or longer: time, rows, and its AQL text with `?` for every
 * literal; the values of its parameters are nowhere. The function it gives ends that.
 */
export function logSlowQueries(log: Logger, slowMs: number): () => void {
  const listen = (event: unknown): void => {
    const { seconds, rows, aql, requestId } = event as QueryEvent;
    const ms = Math.round(seconds * 100_000) / 100;
    if (ms >= slowMs) log.warn({ requestId, ms, rows, aql: maskedAql(aql) }, 'slow query');
  };
  subscribe(EVENTS.query, listen);
  return () => unsubscribe(EVENTS.query, listen);
}
