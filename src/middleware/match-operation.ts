import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import { setFailureRecord } from '../../routes/http/answer/failure-record.js';
import type { OperationTable } from '../../routes/http/operation/operation-table.js';
import { pathHint } from './path-hint.js';
import type { RequestState } from '../../routes/http/request/request-state.js';

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
