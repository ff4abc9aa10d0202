import type { Context } from 'koa';
import { CdrError } from '../../../openehr/base/errors.js';

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
