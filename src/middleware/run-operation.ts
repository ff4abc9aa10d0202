import type { Context, Middleware, Next } from 'koa';
import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import { idempotent } from '../../routes/http/idempotency.js';
import { currentOperation } from '../../routes/http/request/request-state.js';
import {
  refuseUnknownParameters,
  requireFewParameters,
} from '../../routes/http/request/unknown-parameters.js';
import type { ProcessState } from '../management.js';
import { readBodyText } from './body.js';

/** Answers 503 while the indexes are being built. A stopping server still answers what reaches it. */
export function readyGate(state: ProcessState): Middleware {
  return async (ctx: Context, next: Next) => {
    const { operation } = currentOperation(ctx);
    const isStorageUsed = operation.access !== 'open' && !operation.path.startsWith('/management');
    if (!state.indexesBuilt && isStorageUsed)
      throw new CdrError('unavailable', 'the server is starting', { retryAfterSeconds: 1 });
    await next();
  };
}

/**
 * Refuses parameters that the operation does not know, unless `STRICT_PARAMETERS=false`; of deletions and the
 * administration API always.
 */
export function knownParameters({ strictParameters }: Pick<Settings, 'strictParameters'>): Middleware {
  return async (ctx: Context, next: Next) => {
    requireFewParameters(ctx.querystring);
    const { operation } = currentOperation(ctx);
    if (strictParameters || operation.method === 'DELETE' || operation.audit === 'admin')
      refuseUnknownParameters(operation, ctx.query);
    await next();
  };
}

/** Reads the body of operations that take one. */
export function body(settings: Pick<Settings, 'maxBodyBytes' | 'maxBodyNodes'>): Middleware {
  const readers = new Map<number, Middleware>();
  return async (ctx: Context, next: Next) => {
    const { operation } = currentOperation(ctx);
    if (operation.request === undefined) {
      await next();
      return;
    }
    const limit = Math.min(operation.maxBodyBytes ?? Infinity, settings.maxBodyBytes);
    const read = readers.get(limit) ?? readBodyText({ ...settings, maxBodyBytes: limit });
    readers.set(limit, read);
    await read(ctx, next);
  };
}

/** Runs the handler, a repeated `Idempotency-Key` only once. */
export function runOperation(): Middleware {
  return async (ctx: Context) => {
    const { operation } = currentOperation(ctx);
    const run = async (): Promise<void> => {
      await operation.handle(ctx);
    };
    await (operation.replay === undefined ? run() : idempotent(operation.replay)(ctx, run));
  };
}
