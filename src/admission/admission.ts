import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Operation } from '../../routes/http/operation/operation.js';

/**
 * What is refused under overload. Reads and writes are counted apart, so that neither keeps the other out; queries have
 * a gate of their own (`workers/gate.ts`), which is fair to users; health, documentation and administration always pass.
 */
export type AdmittedKind = 'read' | 'write';

/** So many of a kind may always be under way: enough to keep any database busy, so that its pace can be measured. */
export const ALWAYS_ADMITTED = 64;
/** Requests of a kind that a process is believed to finish in a second until it was seen. */
const FIRST_PACE = 250;
const WINDOW_MS = 250;
/** In this time a pace lower than the first one is forgotten, unless it is seen again. */
const FORGET_MS = 30_000;
const MAX_RETRY_AFTER_S = 10;

/**
 * Requests of one kind that are under way. They are finished in `running / pace` seconds, and a new one is refused when
 * that is too long. The pace is what was finished in a second while there was enough to do, so it follows the machine,
 * the database and what is asked of them.
 */
export class Admission {
  #running = 0;
  #finished = 0;
  #pace = FIRST_PACE;
  #windowStart: number;
  /** The fewest under way since the window began. */
  #fewest = 0;

  /** `waitMs`: what a request may be expected to take; `now`, here and below: milliseconds. */
  constructor(
    private readonly waitMs: number,
    now: number,
  ) {
    this.#windowStart = now;
  }

  /** Seconds after which a request that comes now should come again; 0: it may enter. */
  retryAfter(now: number): number {
    this.#measure(now);
    if (this.#running < Math.max(ALWAYS_ADMITTED, (this.#pace * this.waitMs) / 1000)) return 0;
    return Math.min(MAX_RETRY_AFTER_S, Math.ceil(this.#running / this.#pace));
  }

  enter(): void {
    this.#running += 1;
  }

  leave(now: number): void {
    this.#running -= 1;
    this.#fewest = Math.min(this.#fewest, this.#running);
    this.#finished += 1;
    this.#measure(now);
  }

  #measure(now: number): void {
    const elapsed = now - this.#windowStart;
    if (elapsed < WINDOW_MS) return;
    const seen = (this.#finished * 1000) / elapsed;
    if (this.#fewest >= ALWAYS_ADMITTED) {
      this.#pace += (seen - this.#pace) * (1 - 0.5 ** (elapsed / WINDOW_MS));
    } else {
      // With less to do what was seen is what was asked for, not what could be done.
      const forgotten = Math.max(0, FIRST_PACE - this.#pace) * Math.min(1, elapsed / FORGET_MS);
      this.#pace = Math.max(seen, this.#pace + forgotten);
    }
    this.#finished = 0;
    this.#windowStart = now;
    this.#fewest = this.#running;
  }
}

/**
 * Refuses reads and writes at once when those that are under way would make them wait for longer than `waitMs`. A
 * request counts once it has come in whole, so that slow senders keep nobody out. `refused` is called for each.
 * @throws unavailable with `Retry-After`
 */
export function admission(waitMs: number, refused: (kind: AdmittedKind) => void): Middleware {
  const now = performance.now();
  const kinds = { read: new Admission(waitMs, now), write: new Admission(waitMs, now) };
  return async (ctx: Context, next: Next) => {
    const operation = ctx.state.matched?.operation;
    if (operation === undefined || !isAdmitted(operation)) {
      await next();
      return;
    }
    const kind = operation.audit;
    const underWay = kinds[kind];
    const retryAfterSeconds = underWay.retryAfter(performance.now());
    if (retryAfterSeconds > 0) {
      refused(kind);
      throw new CdrError('unavailable', 'the server is busy', { retryAfterSeconds });
    }
    const state = { isCounted: false };
    const count = (): void => {
      state.isCounted = true;
      underWay.enter();
    };
    if (operation.request === undefined) count();
    else ctx.req.once('end', count);
    try {
      await next();
    } finally {
      ctx.req.off('end', count);
      if (state.isCounted) underWay.leave(performance.now());
    }
  };
}

function isAdmitted(operation: Operation): operation is Operation & { readonly audit: AdmittedKind } {
  return (operation.audit === 'read' || operation.audit === 'write') && operation.access !== 'admin';
}
