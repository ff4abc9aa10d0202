import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import { requesterOf } from '../../routes/http/request/request-state.js';
import { isLoopback } from './client-address.js';

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
  const rates = new RequestRates(rateLimitPerMinute);
  const count = (ctx: Context): void => {
    if (isProbe(ctx) || (rateLimitSparesLoopback && isThisMachine(ctx))) return;
    const waitMs = rates.waitAfter(requesterOf(ctx), performance.now());
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

/** Requests of each client, user or address, in spans of a minute. */

const SPAN_MS = 60_000;
/** Clients that are counted at a time; beyond, the one whose span began first is forgotten. */
export const MOST_COUNTED_CLIENTS = 50_000;

interface Count {
  requests: number;
  readonly endsAt: number;
}

/** Counts for one process. */
export class RequestRates {
  readonly #perMinute: number;
  readonly #mostClients: number;
  /** All spans are as long as each other, so the first to end stands first. */
  readonly #counts = new Map<string, Count>();

  /** `perMinute`: requests that one client may make; `mostClients`: bounds the memory. */
  constructor(perMinute: number, mostClients = MOST_COUNTED_CLIENTS) {
    this.#perMinute = perMinute;
    this.#mostClients = mostClients;
  }

  /** Counts a request at a time in milliseconds. Gives those after which one more is allowed; 0: this one is. */
  waitAfter(client: string, now: number): number {
    this.#forgetEnded(now);
    const count = this.#counts.get(client) ?? { requests: 0, endsAt: now + SPAN_MS };
    if (count.requests === 0) this.#counts.set(client, count);
    count.requests += 1;
    return count.requests <= this.#perMinute ? 0 : count.endsAt - now;
  }

  #forgetEnded(now: number): void {
    for (const [client, { endsAt }] of this.#counts) {
      if (endsAt > now && this.#counts.size < this.#mostClients) return;
      this.#counts.delete(client);
    }
  }
}
