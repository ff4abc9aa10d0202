import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import { requesterOf } from '../../routes/http/request/requester.js';
import { isLoopback } from './loopback.js';
import { RequestRates } from './request-rates.js';

/** Whether the health of the server is asked: that must be answered when everything else has to wait. */
export function isProbe(ctx: Context): boolean {
  return ctx.state.matched?.operation.isProbe === true;
}

/** What the limits of requests per minute share. */
export interface RateLimit {
  /** Counts a request of whoever the state names. @throws too-many-requests with `Retry-After` */
  readonly count: (ctx: Context) => void;
  /** Whether an identity is looked for at all. */
  readonly knowsUsers: boolean;
}

/** The limit of the settings, by `requesterOf`; null: none. Needs `ctx.state.address`. */
export function rateLimitOf(settings: Settings): RateLimit | null {
  const { rateLimitPerMinute, rateLimitSparesLoopback } = settings;
  if (rateLimitPerMinute === null) return null;
  const rates = new RequestRates(rateLimitPerMinute);
  const count = (ctx: Context): void => {
    if (isProbe(ctx) || (rateLimitSparesLoopback && isLoopback(ctx.state.address))) return;
    const waitMs = rates.waitAfter(requesterOf(ctx), performance.now());
    if (waitMs === 0) return;
    throw new CdrError('too-many-requests', 'too many requests', {
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    });
  };
  return { count, knowsUsers: settings.auth !== 'none' };
}

/**
 * Counts by address what no user asks: at once without `Authorization`, else when no user was found in the end, so that
 * wrong credentials count and right ones do not, whoever else is behind the same address. Before authentication.
 * @throws too-many-requests
 */
export function rateLimitByAddress({ count, knowsUsers }: RateLimit): Middleware {
  return async (ctx: Context, next: Next) => {
    const mayBeUser = knowsUsers && ctx.get('Authorization') !== '';
    if (!mayBeUser) count(ctx);
    try {
      await next();
    } finally {
      if (mayBeUser && ctx.state.user === null) count(ctx);
    }
  };
}

/** Counts the requests of each user. After authentication. @throws too-many-requests */
export function rateLimitByUser({ count }: RateLimit): Middleware {
  return async (ctx: Context, next: Next) => {
    if (ctx.state.user !== null) count(ctx);
    await next();
  };
}

/** At most `most` requests at once. @throws unavailable with `Retry-After` */
export function concurrencyCap(most: number): Middleware {
  let running = 0;
  return async (ctx: Context, next: Next) => {
    if (isProbe(ctx)) {
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
