import { randomUUID } from 'node:crypto';
import type { Context, Middleware, Next } from 'koa';
import type { Logger } from 'pino';
import { requestState } from '../../routes/http/request-state.js';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Gives every request an id, answers it in `X-Request-Id`, and logs one line with the route pattern. */
export function requestLog(log: Logger): Middleware {
  return async (ctx: Context, next: Next) => {
    const start = performance.now();
    const given = ctx.get('X-Request-Id');
    const requestId = REQUEST_ID.test(given) ? given : randomUUID();
    Object.assign(ctx.state, { requestId, user: null, matched: null });
    ctx.set('X-Request-Id', requestId);
    await next();
    const line = {
      requestId,
      method: ctx.method,
      route: matchedRoute(ctx),
      status: ctx.status,
      ms: Math.round((performance.now() - start) * 100) / 100,
      user: requestState(ctx).user?.name,
    };
    if (ctx.status >= 500) log.error(line);
    else log.info(line);
  };
}

/** The pattern of the matched route, never the concrete path: that would hold ids. */
export function matchedRoute(ctx: Context): string {
  return requestState(ctx).matched?.operation.path ?? 'none';
}
