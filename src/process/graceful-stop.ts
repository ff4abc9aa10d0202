import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** So long after its last answer a server that is stopping still waits for a request on a kept connection. */
const QUIET_MS = 400;
const LOOK_EVERY_MS = 20;

/**
 * Prepares a server for being stopped without failing a request; to be called before it listens. The function it
 * gives takes no new connection, answers what is under way and what still comes on kept connections, each as the
 * last of its connection, and cuts off what is left after `timeoutMs`.
 */
export function gracefulStop(server: Server): (timeoutMs: number) => Promise<void> {
  let isStopping = false;
  let active = 0;
  let quietSince = performance.now();
  server.prependListener('request', (_request, response) => {
    if (isStopping) response.setHeader('Connection', 'close');
    active += 1;
    response.once('close', () => {
      active -= 1;
      quietSince = performance.now();
    });
  });
  const isQuiet = (): boolean => active === 0 && performance.now() - quietSince >= QUIET_MS;
  return async (timeoutMs) => {
    isStopping = true;
    quietSince = performance.now();
    const deadline = performance.now() + timeoutMs;
    const state = { isClosed: false };
    // That of http.Server closes idle connections at once, also those a request is on its way over.
    NetServer.prototype.close.call(server, () => (state.isClosed = true));
    while (!state.isClosed && performance.now() < deadline) {
      if (isQuiet()) server.closeIdleConnections();
      await pause(LOOK_EVERY_MS);
    }
    server.closeAllConnections();
    server.close(() => undefined);
  };
}
