import type { Context, Middleware, Next } from 'koa';
import { livePolicies } from '../../change/policy/live-policies.js';
import { currentOperation } from '../../routes/http/request/request-state.js';

/**
 * Reads, if they were changed, which categories there are, where nobody asks policies: the records of reads and writes tell them all the same.
 * That it cannot be done refuses nothing. docs/access.md#categories
 */
export function toldCategories(): Middleware {
  return async (ctx: Context, next: Next) => {
    if (currentOperation(ctx).operation.discloses !== 'nothing') await livePolicies().catch(() => null);
    await next();
  };
}
