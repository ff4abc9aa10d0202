import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Middleware, Next } from 'koa';
import type { Logger } from 'pino';
import type { Settings } from '../../config/settings.js';
import { maskedAql } from '../../aql/syntax/masked.js';
import { onEvent } from '../../database/events.js';
import { PRODUCT_VERSION } from '../../routes/http/product.js';
import { matchedRoute } from '../middleware/request-log.js';
import { currentSpan, withinSpan } from './current.js';
import type { OpenSpan, Tracer, TracerParts } from './span.js';

/** The traces of this process. */
export interface Tracing {
  /** Makes a span of each request, outside everything else. */
  readonly middleware: Middleware;
  /** Sends what has not been sent, for a few seconds at most. */
  close(): Promise<void>;
}

/** So long the last spans may take. */
const CLOSE_MS = 3_000;
/** Between two lines of the log that say that nothing can be sent. */
const QUIET_MS = 600_000;

/**
 * Traces requests and their commands to the database if the settings say so; null: they do not, and nothing is loaded or
 * listened to. Call it before the database is connected.
 */
export async function startTracing(
  { tracesSent }: Pick<Settings, 'tracesSent'>,
  log: Logger,
): Promise<Tracing | null> {
  if (!tracesSent) return null;
  const tracer = await loadTracer({
    version: PRODUCT_VERSION,
    instance: randomUUID(),
    onFailure: atTimes((error) => log.warn({ err: error }, 'traces could not be sent')),
  });
  const stops = [traceCommands(tracer), traceQueries()];
  return {
    middleware: traceRequests(tracer),
    close: async () => {
      for (const stop of stops) stop();
      await Promise.race([tracer.close(), sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

async function loadTracer(parts: TracerParts): Promise<Tracer> {
  const file = new URL('opentelemetry.mjs', import.meta.url).href;
  const { createTracer } = (await import(file)) as { createTracer: (given: TracerParts) => Tracer };
  return createTracer(parts);
}

function atTimes(tell: (error: unknown) => void): (error: unknown) => void {
  let last = -Infinity;
  return (error) => {
    if (performance.now() - last < QUIET_MS) return;
    last = performance.now();
    tell(error);
  };
}

/** Probes and metrics are no work of anybody: they are not traced. */
function traceRequests(tracer: Tracer): Middleware {
  return async (ctx: Context, next: Next) => {
    if (/\/management(?:\/|$)/.test(ctx.path)) {
      await next();
      return;
    }
    const headers = { traceparent: ctx.get('traceparent'), tracestate: ctx.get('tracestate') };
    const span = tracer.server(ctx.method, headers);
    // An answer may be sent long after it began.
    ctx.res.once('close', () => {
      endRequest(ctx, span);
    });
    await withinSpan(span, next);
  };
}

function endRequest(ctx: Context, span: OpenSpan): void {
  const route = matchedRoute(ctx);
  const { requestId } = ctx.state;
  span.rename(`${ctx.method} ${route}`);
  span.mark({
    'http.request.method': ctx.method,
    'http.route': route,
    'http.response.status_code': ctx.status,
    'url.scheme': ctx.protocol,
    'everchart.request_id': requestId,
  });
  const isCutOff = !ctx.res.writableFinished;
  span.end(ctx.status >= 500 ? String(ctx.status) : isCutOff ? 'cut-off' : null);
}

/** Of commands that a request causes; the server's own work belongs to no trace. */
function traceCommands(tracer: Tracer): () => void {
  const underWay = new Map<number, OpenSpan>();
  const stops = [
    onEvent('commandStarted', ({ id, command, database, collection, address }) => {
      const parent = currentSpan();
      if (parent === undefined) return;
      const name = collection === null ? command : `${command} ${collection}`;
      const [, host = address, port = ''] = /^(.*):(\d+)$/.exec(address) ?? [];
      const marks = {
        'db.system.name': 'mongodb',
        'db.namespace': database,
        'db.operation.name': command,
        ...(collection === null ? {} : { 'db.collection.name': collection }),
        'server.address': host,
        ...(port === '' ? {} : { 'server.port': Number(port) }),
      };
      underWay.set(id, tracer.client(name, parent, marks));
    }),
    onEvent('commandEnded', ({ id, failure }) => {
      underWay.get(id)?.end(failure);
      underWay.delete(id);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function traceQueries(): () => void {
  return onEvent('query', ({ aql, rows }) => {
    currentSpan()?.mark({ 'db.query.text': maskedAql(aql) ?? '', 'everchart.query.rows': rows });
  });
}
