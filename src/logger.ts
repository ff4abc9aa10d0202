import { createRequire } from 'node:module';
import { pino, type DestinationStream, type Logger } from 'pino';
import type * as PinoPretty from 'pino-pretty';
import { maskedAql } from '../aql/syntax/masked.js';
import { onEvent } from '../database/events.js';
import { traceOfLine } from './tracing/current.js';

const STDERR = 2;

/**
 * Structured logger: JSON lines on stdout, for people when that is a terminal, secrets redacted, with `tracesSent` the trace
 * that a line belongs to. Never give it bodies, parameters or names.
 */
export function createLogger(
  level: string,
  destination = process.stdout.isTTY ? forTerminal(process.stdout, process.stdout.hasColors()) : undefined,
  tracesSent = false,
): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: ['authorization', 'cookie', '*.authorization', '*.cookie', 'req.headers', 'body'],
    hooks: { streamWrite: escapeSigns },
    ...(tracesSent && { mixin: traceOfLine }),
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** The logger of a command that works without a server: warnings on stderr, stdout is for its answer. */
export function commandLogger(): Logger {
  return createLogger('warn', pino.destination({ fd: STDERR, sync: true }));
}

/** Writes log lines for people, in colours unless `NO_COLOR` is set, one line each: what a message holds can neither end its line nor command the terminal. */
export function forTerminal(terminal: DestinationStream, hasColors = true): DestinationStream {
  // Only where people look: a server writes JSON, and need not load it.
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof PinoPretty;
  const pretty = prettyFactory({
    colorize: hasColors,
    singleLine: true,
    errorLikeObjectKeys: [],
    messageFormat: (log, messageKey) => JSON.stringify(log[messageKey] ?? '').slice(1, -1),
  });
  return {
    write: (line) => {
      terminal.write(escapeSigns(pretty(line)));
    },
  };
}

const SIGNS = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * Escapes what JSON allows inside strings although a terminal or an editor obeys it: control characters beyond
 * ASCII's first 32, which pino escapes, line separators, and signs that turn the direction of writing.
 */
function escapeSigns(line: string): string {
  return line.replace(SIGNS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Logs one line for each query that took `slowMs` or longer: time, rows, and its AQL text with `?` for every
 * literal; the values of its parameters are nowhere. The function it gives ends that.
 */
export function logSlowQueries(log: Logger, slowMs: number): () => void {
  return onEvent('query', ({ seconds, rows, aql, requestId }) => {
    const ms = Math.round(seconds * 100_000) / 100;
    if (ms >= slowMs) log.warn({ request_id: requestId, ms, rows, aql: maskedAql(aql) }, 'slow query');
  });
}
