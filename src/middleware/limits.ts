import type { Context, Middleware, Next } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { CdrError } from '../../base/errors.js';

/** Health questions must be answered when everything else has to wait. */
function isExempt(ctx: Context): boolean {
  return ctx.path.startsWith('/management/health');
}

/** At most `perMinute` requests of one client address. @throws too-many-requests with `Retry-After` */
export function rateLimit(perMinute: number): Middleware {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async (ctx: Context, next: Next) => {
    if (!isExempt(ctx)) {
      try {
        await limiter.consume(ctx.req.socket.remoteAddress ?? 'unknown');
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        const retryAfterSeconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
        throw new CdrError('too-many-requests', 'too many requests', { retryAfterSeconds });
      }
    }
    await next();
  };
}

/** Query parameters of one request; Node forgets those after the thousandth without a word. */
export const MAX_QUERY_PARAMETERS = 1000;

/** At most `MAX_QUERY_PARAMETERS`. @throws invalid */
export function queryParameterCap(): Middleware {
  return async (ctx: Context, next: Next) => {
    if (ctx.querystring.split('&').length > MAX_QUERY_PARAMETERS)
      throw new CdrError('invalid', `a request may have at most ${MAX_QUERY_PARAMETERS} query parameters`);
    await next();
  };
}

/** At most `most` requests at once. @throws unavailable with `Retry-After` */
export function concurrencyCap(most: number): Middleware {
  let running = 0;
  return async (ctx: Context, next: Next) => {
    if (isExempt(ctx)) {
      await next();
      return;
    }
    if (running >= most) {
      throw new CdrError('unavailable', 'the server is busy', { retryAfterSeconds: 1 });
    }
    running += 1;
    try {
      await next();
    } finally {
      running -= 1;
    }
  };
}
