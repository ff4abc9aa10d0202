import { connect, type AddressInfo } from 'node:net';
import type { Server as HttpServer } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { connectMongoose } from '../../../database/connect.js';
import { createCollections } from '../../../database/indexes.js';
import { COLLECTION_LAYOUT } from '../../../models/access/layout.js';
import { ALWAYS_ADMITTED } from '../../../src/admission/admission.js';
import { testServer } from '../../support/app.js';
import { DatabaseGateway } from '../../support/database-gateway.js';
import { testDatabaseName, testDatabaseUri } from '../../support/database.js';
import { testSettings } from '../../support/settings.js';

describe('a server with more to do than it can', () => {
  let gateway: DatabaseGateway;
  let server: HttpServer;
  let url: string;
  let ehr: string;
  let come = 0;

  beforeAll(async () => {
    gateway = await DatabaseGateway.to(testDatabaseUri());
    await connectMongoose(gateway.uri, testDatabaseName());
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
