import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, request, type ClientRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EVENTS, type QueryEvent } from '../../../database/events.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { HILLTOP } from '../../support/hilltop/hilltop.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';
import { testSettings } from '../../support/settings.js';

/** Every three nodes of an EHR, a hundred thousand rows of a thousand characters. */
const LARGE = `SELECT '${'x'.repeat(1000)}', a/name/value FROM EHR e CONTAINS (LOCATABLE a AND LOCATABLE b AND LOCATABLE c)`;
const ROWS = 'SELECT COUNT(*) FROM EHR e CONTAINS (LOCATABLE a AND LOCATABLE b AND LOCATABLE c)';
const BYTES_PER_ROW = 1000;
/** More than the buffers of two sockets hold, far less than the whole answer. */
const MOST_UNREAD_BYTES = 32 * 1024 * 1024;

let server: Server;
let rows = 0;
const sockets: Socket[] = [];

useDatabase();
beforeAll(async () => {
  await loadReferenceData(HILLTOP);
  const { aql } = testSettings();
  server = createServer(testApp({ aql: { ...aql, maxConcurrent: 1, timeoutMs: 60_000 } }));
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  rows = await countOf(ROWS);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A query on a connection of its own. */
function sent(q: string, accept: string, encoding = 'identity'): ClientRequest {
  const { port } = server.address() as AddressInfo;
  const call = request({
    port,
    host: '127.0.0.1',
    path: '/rest/openehr/v1/query/aql',
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: accept, 'Accept-Encoding': encoding },
    agent: false,
  });
  call.end(JSON.stringify({ q }));
  return call;
}

/** The answer to a query as it begins, not read yet. */
async function answerTo(q: string, accept: string, encoding?: string): Promise<IncomingMessage> {
  const [answer] = (await once(sent(q, accept, encoding), 'response')) as [IncomingMessage];
  return answer;
}

async function countOf(q: string): Promise<number> {
  let text = '';
  for await (const chunk of await answerTo(q, 'application/json')) text += String(chunk);
  return (JSON.parse(text) as { rows: number[][] }).rows[0]![0]!;
}

/** Bytes that the server has handed to the socket once it hands over no more for a while. */
async function bytesWhenStill(socket: Socket): Promise<number> {
  for (let before = -1; ;) {
    const now = socket.bytesWritten;
    if (now === before) return now;
    before = now;
    await setTimeout(500);
  }
}

/** What is told when the next query ends. */
function nextQueryEvent(): Promise<QueryEvent> {
  return new Promise((resolve) => {
    const hear = (event: unknown): void => {
      unsubscribe(EVENTS.query, hear);
      resolve(event as QueryEvent);
    };
    subscribe(EVENTS.query, hear);
  });
}

describe('a stream of a large result', () => {
  it.each(['application/x-ndjson', 'text/csv'])('%s waits for a slow reader', async (accept) => {
    expect(rows * BYTES_PER_ROW).toBeGreaterThan(2 * MOST_UNREAD_BYTES);
    const answer = await answerTo(LARGE, accept);
    const socket = sockets.at(-1)!;
    const unread = await bytesWhenStill(socket);
    expect(unread).toBeLessThan(MOST_UNREAD_BYTES);
    answer.resume();
    while (socket.bytesWritten <= 2 * unread) await setTimeout(20); // it goes on; enough of it
    answer.destroy();
    // The reader is gone: the one place for queries is free again.
    expect(await countOf('SELECT COUNT(*) FROM EHR e')).toBe(3);
  });

  it.each(['identity', 'gzip'])('ends when its reader leaves, sent as %s', async (encoding) => {
    const ended = nextQueryEvent();
    const answer = await answerTo(LARGE, 'application/x-ndjson', encoding);
    await once(answer, 'data');
    answer.destroy();
    expect((await ended).rows).toBeLessThan(rows);
  });

  it('keeps no place for one who left while the query waited', async () => {
    const running = await answerTo(LARGE, 'application/x-ndjson');
    const known = sockets.length;
    const waiting = sent(ROWS, 'text/csv').on('error', () => undefined);
    while (sockets.length === known) await setTimeout(20);
    await setTimeout(200); // it has come to the gate
    const left = once(sockets.at(-1)!, 'close');
    waiting.destroy();
    await left;
    running.destroy();
    expect(await countOf('SELECT COUNT(*) FROM EHR e')).toBe(3);
  });
});
