import type { Middleware, Next } from 'koa';
import { CdrError } from '../../base/errors.js';
import type { ProcessState } from '../management.js';

/** Answers 503 while the indexes are being built. A stopping server still answers what reaches it. */
export function readyGate(state: ProcessState): Middleware {
  return async (_ctx, next: Next) => {
    if (!state.indexesBuilt) {
      throw new CdrError('unavailable', 'the server is starting', { retryAfterSeconds: 1 });
    }
    await next();
  };
}
