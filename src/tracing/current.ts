import { AsyncLocalStorage } from 'node:async_hooks';
import type { OpenSpan } from './span.js';

const spans = new AsyncLocalStorage<OpenSpan>();

/** Does work of a request; whatever it causes knows the span. */
export function withinSpan<T>(span: OpenSpan, work: () => T): T {
  return spans.run(span, work);
}

/** The span of the request that this work belongs to; undefined: it belongs to none, or is not traced. */
export function currentSpan(): OpenSpan | undefined {
  return spans.getStore();
}

/** What a log line says of the trace that it belongs to: the names of OpenTelemetry's log records. */
export function traceOfLine(): { readonly trace_id?: string; readonly span_id?: string } {
  const span = currentSpan();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}
