import { once } from 'node:events';
import {
  createServer,
  connect,
  type AddressInfo,
  type NetConnectOpts,
  type Server,
  type Socket,
} from 'node:net';

/** What stands between the driver and the database, and can hold up what the database says. */
export class DatabaseGateway {
  /** The database through this gateway. */
  uri = '';
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #isHeld = false;

  /** Stands before the database of a connection string, on a port of 127.0.0.1. */
  static async to(uri: string): Promise<DatabaseGateway> {
    // mongodb://[user:password@]host[:port]/[?options], or the path of a socket in place of the host
    const [, before, place = '', after] = /^(mongodb:\/\/(?:[^@/]*@)?)([^/?]*)\/?(.*)$/.exec(uri) ?? [];
    const [host = '', port] = place.split(':');
    const gateway = new DatabaseGateway(
      host.startsWith('%2F') ? { path: decodeURIComponent(host) } : { host, port: Number(port ?? 27017) },
    );
    const direct = `${after}${after?.includes('?') ? '&' : '?'}directConnection=true`;
    const options = direct.replace('directConnection=true&', '');
    gateway.uri = `${before}127.0.0.1:${await gateway.#listen()}/${options}`;
    return gateway;
  }

  private constructor(address: NetConnectOpts) {
    this.#server = createServer((socket) => {
      const database = connect(address);
      this.#sockets.add(database);
      if (this.#isHeld) database.pause();
      socket.pipe(database);
      database.on('data', (data) => socket.write(data));
      for (const end of [socket, database]) {
        end.on('error', () => undefined);
        end.on('close', () => {
          socket.destroy();
          database.destroy();
        });
      }
    });
  }

  hold(): void {
    this.#isHeld = true;
    for (const socket of this.#sockets) socket.pause();
  }

  release(): void {
    this.#isHeld = false;
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  async #listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }
}
