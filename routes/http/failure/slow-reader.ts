import type { Context } from 'koa';
import { CdrError } from '../../../openehr/base/errors.js';

/** Looks in each span that a reader may take nothing. */
const LOOKS = 10;

/**
 * Closes the connection once its client has taken nothing of what waits to be sent for `idleMs`, until `end` is
 * aborted. What is sent slowly is not cut, and neither is a client that waits for us.
 */
export function cutIdleReader(ctx: Context, idleMs: number, end: AbortSignal): void {
  const { socket } = ctx.req;
  let taken = socket.bytesWritten - socket.writableLength;
  let since = performance.now();
  const look = setInterval(
    () => {
      const now = performance.now();
      const before = taken;
      taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || taken !== before) since = now;
      else if (now - since >= idleMs) socket.destroy();
    },
    Math.max(1, idleMs / LOOKS),
  );
  end.addEventListener('abort', () => {
    clearInterval(look);
  });
}

/** Closes the connection after `timeoutMs`, so that the client sees that the answer is cut, unless `end` comes first. */
export function cutLongAnswer(ctx: Context, timeoutMs: number, end: AbortSignal): void {
  const timer = setTimeout(() => ctx.req.socket.destroy(), timeoutMs);
  end.addEventListener('abort', () => {
    clearTimeout(timer);
  });
}

/** The reason after an answer that was sent, for which nobody waits; to make an error of each would take time. */
const SENT = 'the answer was sent';

/** A signal that is aborted as soon as nobody reads the answer any more: it has been sent, or the client has left. */
export function answerEnd(ctx: Context): AbortSignal {
  const { res } = ctx;
  const { socket } = ctx.req;
  const end = new AbortController();
  // The answer to a request that was sent ahead of its turn does not hear that the connection closed.
  const finish = (): void => {
    res.off('close', finish);
    socket.off('close', finish);
    end.abort(
      res.writableFinished ? SENT : new CdrError('timeout', 'the client left before it was answered'),
    );
  };
  // Many requests may be sent ahead on one connection.
  socket.setMaxListeners(0);
  res.once('close', finish);
  socket.once('close', finish);
  if (socket.destroyed) finish();
  return end.signal;
}
