import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import { requesterOf } from '../../routes/http/request/request-state.js';
import { Places } from '../admission/places.js';
import { Rates } from '../admission/rates.js';
import { isLoopback } from '../admission/client-address.js';

const MINUTE_MS = 60_000;

/** Whether the health of the server is asked: that must be answered when everything else has to wait. */
export function isProbe(ctx: Context): boolean {
  return ctx.state.matched?.operation.isProbe === true;
}

/** What the limits of requests per minute share. */
interface RateLimit {
  /** Counts a request of whoever the state names. @throws too-many-requests with `Retry-After` */
  readonly count: (ctx: Context) => void;
  /** Whether an identity is looked for at all. */
  readonly knowsUsers: boolean;
}

/** The limit of the settings, by `requesterOf`; null: none. Needs `ctx.state.address`. */
export function rateLimitOf(settings: Settings): RateLimit | null {
  const { rateLimitPerMinute, rateLimitSparesLoopback } = settings;
  if (rateLimitPerMinute === null) return null;
  const rates = new Rates({ most: rateLimitPerMinute, spanMs: MINUTE_MS });
  const count = (ctx: Context): void => {
    if (isProbe(ctx) || (rateLimitSparesLoopback && isThisMachine(ctx))) return;
    const waitMs = rates.take(requesterOf(ctx), performance.now());
    if (waitMs === 0) return;
    throw new CdrError('too-many-requests', 'too many requests', {
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    });
  };
  return { count, knowsUsers: settings.auth !== 'none' };
}

/** Whether the client runs on this machine: not where a proxy does, which says whom it speaks for. */
function isThisMachine(ctx: Context): boolean {
  return isLoopback(ctx.state.address) && ctx.get('X-Forwarded-For') === '';
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
  const busy = () => new CdrError('unavailable', 'the server is busy', { retryAfterSeconds: 1 });
  const places = new Places({ atOnce: most, waiting: 0 }, busy);
  return (ctx: Context, next: Next) => (isProbe(ctx) ? next() : places.run(next));
}
