import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import { Work } from '../../openehr/base/work.js';
import { setFailureRecord } from '../../routes/http/failure/error-status.js';
import type { LargestBody, Operation } from '../../routes/http/operation/operation.js';
import type { OperationTable } from '../../routes/http/operation-table.js';
import { pathHint } from './path-hint.js';
import { type RequestState, currentOperation } from '../../routes/http/request/request-state.js';
import type { Settings } from '../../config/settings.js';
import { idempotent } from '../../routes/http/idempotency.js';
import { learnOfMerges } from '../../models/access/merge-job.js';
import { refuseOrWarn, requireFewParameters, unknownParameters } from '../../routes/http/parameter-values.js';
import type { ProcessState } from '../management/management.js';
import { BodiesUnderWay } from './bodies-under-way.js';
import { readBodyText } from './body.js';

/** Finds the operation of the request, which decides everything that follows. Nothing is refused yet. */
export function matchOperation(table: OperationTable): Middleware {
  return async (ctx: Context, next: Next) => {
    const match = table.match(ctx.method, ctx.path);
    Object.assign(ctx.state, match satisfies Partial<RequestState>);
    const failure = match.matched?.operation.failure;
    if (failure !== undefined) setFailureRecord(ctx, failure);
    await next();
  };
}

/** Gives every request one budget for all its parts, by the row of its operation: what a query takes is limited in time too. */
export function requestWork({ work, aql }: Pick<Settings, 'work' | 'aql'>): Middleware {
  const ofQueries = { ...work, timeMs: aql.timeoutMs };
  const ofOthers = { ...work, timeMs: Infinity };
  const clock = (): number => performance.now();
  return async (ctx: Context, next: Next) => {
    const isQuery = ctx.state.matched?.operation.audit === 'query';
    const budget = { work: new Work(isQuery ? ofQueries : ofOthers, clock) };
    Object.assign(ctx.state, budget satisfies Partial<RequestState>);
    await next();
  };
}

/**
 * Ends a request that no operation is for, once its sender is known: OPTIONS of a path with its methods, 501 for a
 * method that no operation has. @throws method-not-allowed with `Allow`
 */
export function refuseUnmatched(): Middleware {
  return async (ctx: Context, next: Next) => {
    if (ctx.state.matched !== null) {
      await next();
      return;
    }
    const { allowed } = ctx.state;
    if (allowed.length === 0) return; // answered 404
    if (!METHODS.includes(ctx.method)) {
      ctx.status = 501;
    } else if (ctx.method === 'OPTIONS') {
      ctx.set('Allow', allowed.join(', '));
      ctx.status = 200;
      ctx.body = '';
    } else {
      const message = `Method ${ctx.method} is not supported on this path${pathHint(ctx.path)}`;
      throw new CdrError('method-not-allowed', message, { allow: allowed });
    }
  };
}

/** Methods that an operation may have, or that HTTP gives to every path. */
const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'];

/** Answers 503 while the indexes are being built. A stopping server still answers what reaches it. */
export function readyGate(state: ProcessState): Middleware {
  return async (ctx: Context, next: Next) => {
    const { operation } = currentOperation(ctx);
    const isStorageUsed = operation.access !== 'open' && !isOfManagement(operation);
    if (!state.indexesBuilt && isStorageUsed)
      throw new CdrError('unavailable', 'the server is starting', { retryAfterSeconds: 1 });
    await next();
  };
}

/**
 * Refuses parameters that the operation does not know, where `STRICT_PARAMETERS` says so, and always of what cannot be
 * taken back by sending it again: deletions, and what administration does. Elsewhere the answer warns of them.
 */
export function knownParameters({ strictParameters }: Pick<Settings, 'strictParameters'>): Middleware {
  return async (ctx: Context, next: Next) => {
    requireFewParameters(ctx.querystring);
    const { operation } = currentOperation(ctx);
    const { method, audit } = operation;
    const isGrave = method === 'DELETE' || (method === 'POST' && audit === 'admin');
    refuseOrWarn(ctx, unknownParameters(operation, ctx.query), strictParameters || isGrave);
    await next();
  };
}

/** Reads the body of operations that take one. */
export function body(
  settings: Pick<Settings, 'maxBodyBytes' | 'maxBodyNodes' | 'maxQueryBytes' | 'bodyBytes'>,
): Middleware {
  const underWay = new BodiesUnderWay(settings.bodyBytes);
  const bodies: LargestBody = { bytes: settings.maxBodyBytes, setting: 'MAX_BODY_BYTES' };
  const queries: LargestBody = { bytes: settings.maxQueryBytes, setting: 'MAX_QUERY_BYTES' };
  const readers = new Map<string, Middleware>();
  return async (ctx: Context, next: Next) => {
    const { operation } = currentOperation(ctx);
    if (operation.request === undefined) {
      await next();
      return;
    }
    const ofKind = operation.audit === 'query' ? queries : (operation.largestBody ?? bodies);
    const largest = ofKind.bytes < bodies.bytes ? ofKind : bodies;
    const limit = `${largest.setting} ${largest.bytes}`;
    const read = readers.get(limit) ?? readBodyText(largest, settings.maxBodyNodes, underWay);
    readers.set(limit, read);
    await read(ctx, next);
  };
}

/** Status and documentation answer without a database, and so do the metrics that tell that it is away. */
function readsRecords(operation: Operation): boolean {
  const { access, discloses } = operation;
  const isOfNothing = access === 'identified' && discloses === 'nothing';
  return access !== 'open' && access !== 'anyone' && !isOfNothing && !isOfManagement(operation);
}

function isOfManagement({ path }: Operation): boolean {
  return path.startsWith('/management');
}

/** Runs the handler, a repeated `Idempotency-Key` only once. */
export function runOperation(): Middleware {
  return async (ctx: Context) => {
    const { operation } = currentOperation(ctx);
    if (readsRecords(operation)) await learnOfMerges();
    const run = async (): Promise<void> => {
      await operation.handle(ctx);
    };
    await (operation.replay === undefined ? run() : idempotent(operation.replay)(ctx, run));
  };
}
