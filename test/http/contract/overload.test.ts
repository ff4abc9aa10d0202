import {
  createServer,
  connect,
  type AddressInfo,
  type NetConnectOpts,
  type Server,
  type Socket,
} from 'node:net';
import type { Server as HttpServer } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import { connectMongoose } from '../../../database/connect.js';
import { createCollections } from '../../../database/indexes.js';
import { COLLECTION_LAYOUT } from '../../../models/layout.js';
import { ALWAYS_ADMITTED } from '../../../src/middleware/admission.js';
import { testServer } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri } from '../../support/database.js';
import { testSettings } from '../../support/settings.js';

jest.setTimeout(30_000);

/** What stands between the driver and the database, and can hold up what the database says. */
class Gateway {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #isHeld = false;

  constructor(address: NetConnectOpts) {
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

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
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
}

describe('a server with more to do than it can', () => {
  let gateway: Gateway;
  let server: HttpServer;
  let url: string;
  let ehr: string;
  let come = 0;

  beforeAll(async () => {
    // mongodb://[user:password@]host[:port]/[?options], or the path of a socket in place of the host
    const [, before, place = '', after] =
      /^(mongodb:\/\/(?:[^@/]*@)?)([^/?]*)\/?(.*)$/.exec(testDatabaseUri()) ?? [];
    const [host = '', port] = place.split(':');
    gateway = new Gateway(
      host.startsWith('%2F') ? { path: decodeURIComponent(host) } : { host, port: Number(port ?? 27017) },
    );
    const direct = `${after}${after?.includes('?') ? '&' : '?'}directConnection=true`;
    const uri = `${before}127.0.0.1:${await gateway.listen()}/${direct.replace('directConnection=true&', '')}`;
    await connectMongoose(uri, testDatabaseName());
    await createCollections(COLLECTION_LAYOUT);
    const settings = testSettings({
      requestWaitMs: 100,
      managementEndpoints: ['health', 'prometheus'],
      managementAccess: 'PUBLIC',
    });
    server = await testServer(settings);
    server.on('request', () => (come += 1));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const made = await fetch(`${url}/rest/openehr/v1/ehr`, { method: 'POST' });
    ehr = made.headers.get('Location')!;
  });

  afterAll(async () => {
    gateway.release();
    await mongoose.connection.dropDatabase();
    await mongoose.disconnect();
    gateway.close();
    server.closeAllConnections();
    server.close();
  });

  it('refuses at once what would wait too long, answers health, and goes on afterwards', async () => {
    come = 0;
    gateway.hold();
    const held = Array.from({ length: ALWAYS_ADMITTED }, () => fetch(ehr));
    while (come < ALWAYS_ADMITTED) await once(server, 'request');
    const refused = await fetch(ehr);
    const alive = await fetch(`${url}/management/health/liveness`);
    gateway.release();
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({
      code: 'unavailable',
      message: 'the server is busy',
      request_id: refused.headers.get('X-Request-Id'),
    });
    expect(alive.status).toBe(200);
    expect(new Set((await Promise.all(held)).map(({ status }) => status))).toEqual(new Set([200]));
    expect((await fetch(ehr)).status).toBe(200);
    const figures = await (await fetch(`${url}/management/prometheus`)).text();
    expect(figures).toContain('everchart_requests_refused_total{kind="read"} 1\n');
  });

  it('keeps nobody out for senders whose bodies do not come', async () => {
    come = 0;
    const slow = Array.from({ length: ALWAYS_ADMITTED + 1 }, () => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(
        'POST /rest/openehr/v1/ehr HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{',
      );
      return socket;
    });
    while (come < slow.length) await once(server, 'request');
    const made = await fetch(`${url}/rest/openehr/v1/ehr`, { method: 'POST' });
    for (const socket of slow) socket.destroy();
    expect(made.status).toBe(201);
  });
});
