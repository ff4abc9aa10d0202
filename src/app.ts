import Koa from 'koa';
import type { Logger } from 'pino';
import { CdrError } from '../base/errors.js';
import type { Settings } from '../base/settings.js';
import type { ProcessState } from './management.js';
import { createMetrics, type Metrics } from './metrics.js';
import { audit } from './middleware/audit.js';
import { authenticate, type Identify } from './middleware/authenticate.js';
import { errors } from './middleware/errors.js';
import { concurrencyCap, rateLimit } from './middleware/limits.js';
import { matchOperation, refuseUnmatched } from './middleware/match-operation.js';
import { origin } from './middleware/origin.js';
import { requestLog } from './middleware/request-log.js';
import { body, knownParameters, readyGate, runOperation } from './middleware/run-operation.js';
import { compression, crossOrigin, securityHeaders } from './middleware/security.js';
import { operationTable } from './operation-table.js';
import { tokenVerifier } from './token-verifier.js';

/** What an application shares with the process that runs it. */
export interface ProcessView {
  readonly metrics: Metrics;
  readonly state: ProcessState;
}

/** An application that is ready at once and counts for itself, as tests need it. */
export function readyProcess(): ProcessView {
  return { metrics: createMetrics({ ofProcess: false }), state: { indexesBuilt: true, stopping: false } };
}

/**
 * The whole HTTP application, without a socket and without a database connection: one line of middleware that every
 * request passes. What an operation needs stands in its row of the table; nothing is mounted beside it.
 */
export function createApp(settings: Settings, log: Logger, process: ProcessView = readyProcess()): Koa {
  const { metrics, state } = process;
  const table = operationTable(settings, log, { registry: metrics.registry, state });
  const app = new Koa();
  app.silent = true;
  app.use(requestLog(log)).use(metrics.middleware).use(securityHeaders()).use(compression());
  if (settings.corsOrigins.length > 0) app.use(crossOrigin(settings.corsOrigins));
  app.use(errors(log)).use(origin(settings)).use(matchOperation(table));
  if (settings.rateLimitPerMinute !== null) app.use(rateLimit(settings.rateLimitPerMinute));
  if (settings.maxConcurrentRequests !== null) app.use(concurrencyCap(settings.maxConcurrentRequests));
  app.use(audit(settings, log));
  app.use(authenticate({ identify: identifier(settings), isOpen: settings.auth === 'none' }));
  app.use(refuseUnmatched()).use(readyGate(state)).use(knownParameters(settings));
  app.use(body(settings)).use(runOperation());
  return app;
}

function identifier(settings: Settings): Identify | null {
  const verify = tokenVerifier(settings.jwt);
  return verify === null ? null : (authorization) => verify(bearerToken(authorization));
}

function bearerToken(authorization: string): string {
  const token = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization)?.[1];
  if (token === undefined) throw new CdrError('unauthenticated', 'a valid bearer token is required');
  return token;
}
