import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { testApp } from '../support/app.js';
import { useDatabase } from '../support/database.js';
import { HILLTOP } from '../support/hilltop/hilltop.js';
import { loadReferenceData } from '../support/aql/load-reference.js';
import { testSettings } from '../support/settings.js';
import { bearer, WITH_ADMIN } from '../support/tokens.js';

/** Some hundred thousand rows of twenty thousand characters: all buffers are full at once, on a busy machine too. */
const ENDLESS = `SELECT '${'x'.repeat(20_000)}', a/name/value FROM EHR e CONTAINS (LOCATABLE a AND LOCATABLE b AND LOCATABLE c)`;
/** As many rows to be looked through, none of which is given. */
const FRUITLESS =
  'SELECT a/name/value FROM EHR e CONTAINS (LOCATABLE a AND LOCATABLE b AND LOCATABLE c AND LOCATABLE d) WHERE CONCAT(a/name/value, b/name/value, c/name/value, d/name/value) = $x';
const SMALL = 'SELECT e/ehr_id/value FROM EHR e LIMIT 1';
const IDLE_MS = 3000;
/** Long enough to be told from an answer on a busy machine, shorter than a query waits for a place. */
const LONG_IDLE_MS = 8000;
const { aql } = testSettings();
const PLACES = 4;
const attacker = bearer(['USER'], 'mallory');
const others = bearer(['USER'], 'ada');
const servers: Server[] = [];
const sockets: Socket[] = [];
/** The server's ends of all connections. */
const accepted: Socket[] = [];

useDatabase();
beforeAll(() => loadReferenceData(HILLTOP), 120_000);
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => {
  for (const server of servers) server.closeAllConnections();
  for (const server of servers) server.close();
});

/** A server with these limits; its address. */
async function serverWith(limits: Partial<typeof aql>): Promise<number> {
  const app = testApp({
    ...WITH_ADMIN,
    auth: 'jwt',
    aql: { ...aql, maxConcurrent: PLACES, maxPerUser: 3, ...limits },
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  server.on('connection', (socket) => accepted.push(socket));
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function requestText(q: string, accept: string, token: string): string {
  const body = JSON.stringify({ q, query_parameters: { x: 'nothing' } });
  const head = [
    'POST /rest/openehr/v1/query/aql HTTP/1.1',
    'Host: localhost',
    `Authorization: ${token}`,
    `Accept: ${accept}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Sends a text and reads nothing but, where it is waited for, the first bytes. */
async function sendAndStop(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** Sends and takes the first bytes of the answer, then no more. */
async function sendAndStall(port: number, text: string): Promise<Socket> {
  const socket = await sendAndStop(port, text);
  await once(socket, 'readable');
  return socket;
}

async function ask(port: number, token: string, signal?: AbortSignal): Promise<number> {
  const url = `http://127.0.0.1:${port}/rest/openehr/v1/query/aql?q=${encodeURIComponent(SMALL)}`;
  const answer = await fetch(url, {
    headers: { Authorization: token },
    ...(signal !== undefined && { signal }),
  });
  await answer.text();
  return answer.status;
}

/** Queries that are at work in the database of this test. */
async function running(): Promise<number> {
  const { db } = mongoose.connection;
  const { inprog } = await db!.admin().command({ currentOp: 1, ns: `${db!.databaseName}.aql` });
  return (inprog as object[]).length;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(20);
}

describe('readers that stop reading', () => {
  it('leave other users served at once, and are cut off', async () => {
    const port = await serverWith({ streamIdleMs: LONG_IDLE_MS });
    const request = requestText(ENDLESS, 'application/x-ndjson', attacker);
    const before = accepted.length;
    await Promise.all([1, 2, 3].map(() => sendAndStall(port, request)));
    await sendAndStop(port, request);
    await until(() => Promise.resolve(accepted.length === before + 4));
    const readers = accepted.slice(before);
    const start = performance.now();
    expect(await ask(port, others)).toBe(200);
    expect(performance.now() - start).toBeLessThan(LONG_IDLE_MS);
    // Their own further query comes to a place once the readers are cut off.
    expect(await ask(port, attacker)).toBe(200);
    await until(() => Promise.resolve(readers.every(({ closed }) => closed)));
    await until(async () => (await running()) === 0);
  });

  it('do not keep every place when several users do it', async () => {
    const port = await serverWith({ streamIdleMs: IDLE_MS });
    const users = ['m1', 'm2', 'm3', 'm4'].map((name) => bearer(['USER'], name));
    await Promise.all(users.map((token) => sendAndStall(port, requestText(ENDLESS, 'text/csv', token))));
    expect(await ask(port, others)).toBe(200);
  });

  it('have no longer than the limit of a stream, even if they read', async () => {
    const port = await serverWith({ streamTimeoutMs: 1500 });
    const socket = await sendAndStop(port, requestText(ENDLESS, 'application/x-ndjson', attacker));
    let end = '';
    const closed = once(socket, 'close');
    // Slowly, so that there is always something to take.
    for (let isOpen = true; isOpen;) {
      const chunk = socket.read(64 * 1024) as Buffer | null;
      if (chunk !== null) end = chunk.toString().slice(-5);
      isOpen = (await Promise.race([closed, setTimeout(20, 'open')])) === 'open';
    }
    expect(end).not.toBe('0\r\n\r\n'); // what ends a whole answer
    expect(await ask(port, attacker)).toBe(200);
  });

  it('that read slowly but steadily get everything', async () => {
    const port = await serverWith({ streamIdleMs: 1000 });
    const q = `SELECT '${'x'.repeat(200)}', a/name/value FROM EHR e CONTAINS (LOCATABLE a AND LOCATABLE b)`;
    const socket = await sendAndStop(port, requestText(q, 'application/x-ndjson', attacker));
    let end = '';
    for (let looks = 0; !end.endsWith('0\r\n\r\n') && looks < 1000; looks++) {
      await setTimeout(10);
      const chunk = socket.read(Math.min(16 * 1024, socket.readableLength)) as Buffer | null;
      if (chunk !== null) end = (end + chunk.toString()).slice(-5);
    }
    expect(end).toBe('0\r\n\r\n');
  });
});

describe('a client that leaves', () => {
  it.each(['application/json', 'application/x-ndjson'])(
    'ends its query in the database: %s',
    async (accept) => {
      const port = await serverWith({ timeoutMs: 120_000, maxConcurrent: 1, maxPerUser: 1 });
      const socket = await sendAndStop(port, requestText(FRUITLESS, accept, attacker));
      await until(async () => (await running()) > 0);
      socket.destroy();
      expect(await ask(port, others)).toBe(200); // long before the time limit
      await until(async () => (await running()) === 0);
    },
  );

  it('frees the places of all that it sent ahead', async () => {
    const port = await serverWith({ maxConcurrent: 2, maxPerUser: 2 });
    const request = requestText(ENDLESS, 'application/x-ndjson', attacker);
    const socket = await sendAndStall(port, request + request + request);
    await setTimeout(300); // the others have come to the gate
    socket.destroy();
    expect(await Promise.all([ask(port, others), ask(port, attacker)])).toEqual([200, 200]);
  });
});

describe('a query that waits', () => {
  it('is answered 503 with Retry-After when no place becomes free in ten seconds', async () => {
    const port = await serverWith({ maxConcurrent: 1, maxPerUser: 1 });
    await sendAndStall(port, requestText(ENDLESS, 'application/x-ndjson', attacker));
    const url = `http://127.0.0.1:${port}/rest/openehr/v1/query/aql?q=${encodeURIComponent(SMALL)}`;
    const answer = await fetch(url, { headers: { Authorization: others } });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  });
});
