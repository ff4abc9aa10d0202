import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Settings } from '../config/settings.js';
import { cameToManagement } from './middleware/authenticate.js';

/** Where requests come in: `PORT`, and `MANAGEMENT_PORT` where it is set. */
export interface Doors {
  /** Listens. @throws Error when a port is taken */
  listen(): Promise<void>;
  /** Addresses as `http://host:port`, once it listens. */
  addresses(): { readonly url: string; readonly managementUrl: string | null };
  /** Takes no new connection, lets what is under way end within this time, then cuts it off. */
  close(timeoutMs: number): Promise<void>;
  /** Cuts off everything at once. */
  abandon(): void;
}

/** Servers for one application; they do not listen yet. */
export function openDoors(settings: Settings, handle: RequestListener): Doors {
  const { host, port, managementPort, maxConnections, receiveTimeoutMs } = settings;
  const limits = { maxConnections, receiveTimeoutMs };
  const main = new Door(handle, { host, port, ...limits });
  const management =
    managementPort === null
      ? null
      : new Door(
          (request, response) => {
            cameToManagement(request);
            handle(request, response);
          },
          { host, port: managementPort, ...limits },
        );
  const doors = management === null ? [main] : [management, main];
  return {
    async listen() {
      for (const door of doors) await door.listen();
    },
    addresses: () => ({ url: main.url(), managementUrl: management?.url() ?? null }),
    async close(timeoutMs) {
      await Promise.all(doors.map((door) => door.close(timeoutMs)));
    },
    abandon() {
      for (const door of doors) door.abandon();
    },
  };
}

/** Connections that wait to be taken: what is beyond would try again after 1, 3, 7 s, and nobody could refuse it. */
const BACKLOG = 4_096;

/** How long the headers of a request may take, and how often those that take too long are looked for. Milliseconds. */
const HEADERS_TIMEOUT_MS = 20_000;
const LOOK_FOR_SLOW_SENDERS_MS = 5_000;

interface Place extends Pick<Settings, 'host' | 'port' | 'maxConnections' | 'receiveTimeoutMs'> {}

/** One port. */
class Door {
  readonly close: (timeoutMs: number) => Promise<void>;
  readonly #server: Server;

  constructor(
    handle: RequestListener,
    private readonly place: Place,
  ) {
    const { receiveTimeoutMs: requestTimeout, maxConnections } = place;
    const headersTimeout = Math.min(requestTimeout, HEADERS_TIMEOUT_MS);
    const connectionsCheckingInterval = Math.min(requestTimeout / 4, LOOK_FOR_SLOW_SENDERS_MS);
    this.#server = createServer({ requestTimeout, headersTimeout, connectionsCheckingInterval }, handle);
    this.#server.maxConnections = maxConnections;
    this.close = gracefulStop(this.#server);
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      const { host, port } = this.place;
      this.#server.listen({ host, port, backlog: BACKLOG }, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  url(): string {
    const { port } = this.#server.address() as AddressInfo;
    const { host } = this.place;
    return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  abandon(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** So long after its last answer a server that is stopping still waits for a request on a kept connection. */
const QUIET_MS = 400;
const LOOK_EVERY_MS = 20;

/**
 * Prepares a server for being stopped without failing a request; to be called before it listens. The function it
 * gives takes no new connection, answers what is under way and what still comes on kept connections, each as the
 * last of its connection, and cuts off what is left after `timeoutMs`.
 */
function gracefulStop(server: Server): (timeoutMs: number) => Promise<void> {
  let isStopping = false;
  const underWay = new Set<ServerResponse>();
  let quietSince = performance.now();
  server.prependListener('request', (_request, response) => {
    if (isStopping) response.setHeader('Connection', 'close');
    underWay.add(response);
    response.once('close', () => {
      underWay.delete(response);
      quietSince = performance.now();
    });
  });
  const isQuiet = (): boolean => underWay.size === 0 && performance.now() - quietSince >= QUIET_MS;
  return async (timeoutMs) => {
    isStopping = true;
    for (const response of underWay) if (!response.headersSent) response.setHeader('Connection', 'close');
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
