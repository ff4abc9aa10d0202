import type { Middleware, Next } from 'koa';
import { CdrError } from '../../base/errors.js';
import type { ProcessState } from '../management.js';

/** Answers 503 while the indexes are being built and once the server is stopping. */
export function readyGate(state: ProcessState): Middleware {
  return async (_ctx, next: Next) => {
    if (!state.indexesBuilt) {
      throw new CdrError('unavailable', 'the server is starting', { retryAfterSeconds: 1 });
    }
    if (state.stopping) {
      throw new CdrError('unavailable', 'the server is shutting down', { retryAfterSeconds: 5 });
    }
    await next();
  };
}
