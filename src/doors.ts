import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Settings } from '../config/settings.js';
import { gracefulStop } from './process/graceful-stop.js';
import { cameToManagement } from './middleware/management-door.js';

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
  const { host, port, managementPort } = settings;
  const main = new Door(handle, { host, port });
  const management =
    managementPort === null
      ? null
      : new Door(
          (request, response) => {
            cameToManagement(request);
            handle(request, response);
          },
          { host, port: managementPort },
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

/** One port. */
class Door {
  readonly close: (timeoutMs: number) => Promise<void>;
  readonly #server: Server;

  constructor(
    handle: RequestListener,
    private readonly place: { readonly host: string; readonly port: number },
  ) {
    this.#server = createServer(handle);
    this.close = gracefulStop(this.#server);
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.place.port, this.place.host, () => {
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
