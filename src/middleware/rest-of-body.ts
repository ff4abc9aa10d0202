import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';

/** Bytes of a refused body that are still taken and thrown away; after more the connection is closed. */
export const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/**
 * Takes what is still to come of the body of a request that is answered already and throws it away: many clients read no answer
 * before they have sent all, and the next request of the connection begins behind it. `RECEIVE_TIMEOUT_MS` ends those who take their time.
 */
export function discardRest({ req }: Context): void {
  if (req.complete) return;
  let bytes = 0;
  req.unpipe();
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DISCARDED_BYTES) req.socket.destroy();
  });
  req.resume();
  closeAfterRest(req);
}

/**
 * Where the connection ends with the answer (`Connection: close`, a server that stops), Node would destroy it with the last byte
 * written, and who still sends would lose the answer to a reset. The half that writes is closed first, and the rest is read: RFC 9112, section 9.6.
 */
function closeAfterRest(req: IncomingMessage): void {
  const { socket } = req;
  socket.destroySoon = () => {
    socket.end();
    req.once('end', () => socket.destroy());
  };
}
