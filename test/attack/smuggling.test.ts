import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { openDoors, type Doors } from '../../src/doors.js';
import { createLogger } from '../../src/logger.js';
import { handlerOf } from '../support/app.js';
import { useDatabase } from '../support/database.js';
import { testSettings } from '../support/settings.js';

/**
 * Two readers of one connection, a proxy and the server, must agree where a request ends: else what one takes for a body is a
 * request to the other, in the name of somebody else.
 */
useDatabase();

const settings = testSettings({ auth: 'none', port: 0 });
let doors: Doors;
let port = 0;

beforeAll(async () => {
  const handle = handlerOf(settings, createLogger('silent'));
  doors = openDoors(settings, (request, response) => void handle(request, response));
  await doors.listen();
  port = Number(new URL(doors.addresses().url).port);
});
afterAll(() => {
  doors.abandon();
});

const PATH = '/rest/openehr/v1/ehr';
const HIDDEN = `POST ${PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`;
const LAST = HIDDEN.replace('Host', 'Connection: close\r\nHost');
const ehrs = (): Promise<number> => mongoose.connection.collection('ehrs').countDocuments();

/** The statuses that come back on a connection that gets these bytes and is ended by the server. */
async function answersTo(bytes: string): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (data: Buffer) => (text += data.toString()));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(bytes);
  if (!socket.closed) await once(socket, 'close');
  return [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status = '']) => status);
}

const head = (headers: readonly string[], end = '\r\n'): string =>
  ['GET /management/health/liveness HTTP/1.1', 'Host: 127.0.0.1', ...headers, '', ''].join(end);

/** What one reader may take for one request with a body, and another one for two. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  'two lengths': head(['Content-Length: 0', `Content-Length: ${HIDDEN.length}`]) + HIDDEN,
  'two lengths in one line': head([`Content-Length: 0, ${HIDDEN.length}`]) + HIDDEN,
  'a length with a sign': head([`Content-Length: +${HIDDEN.length}`]) + HIDDEN,
  'a length and chunks': `${head([`Content-Length: ${HIDDEN.length + 5}`, 'Transfer-Encoding: chunked'])}0\r\n\r\n${HIDDEN}`,
  'chunks and a length': `${head(['Transfer-Encoding: chunked', 'Content-Length: 4'])}0\r\n\r\n${HIDDEN}`,
  'chunks that are not last': `${head(['Transfer-Encoding: chunked, identity'])}0\r\n\r\n${HIDDEN}`,
  'chunks with a letter before': `${head(['Transfer-Encoding: xchunked'])}0\r\n\r\n${HIDDEN}`,
  'chunks behind a blank': `${head(['Transfer-Encoding : chunked'])}0\r\n\r\n${HIDDEN}`,
  'chunks on a folded line': `${head(['Transfer-Encoding:', ' chunked'])}0\r\n\r\n${HIDDEN}`,
  'lines that end with a line feed alone': head([`Content-Length: ${HIDDEN.length}`], '\n') + HIDDEN,
  'a carriage return inside a header': head([`X-A: b\rContent-Length: ${HIDDEN.length}`]) + HIDDEN,
  'a size of a chunk with more': `${head(['Transfer-Encoding: chunked'])}0x0\r\n\r\n${HIDDEN}`,
  'a chunk that is longer than its size': `${head(['Transfer-Encoding: chunked'])}1\r\nab\r\n0\r\n\r\n${HIDDEN}`,
};

describe('a request whose end is not plain', () => {
  it.each(Object.keys(AMBIGUOUS))('is refused, and nothing behind it is read: %s', async (name) => {
    const before = await ehrs();
    const statuses = await answersTo(AMBIGUOUS[name] ?? '');
    // The request before may have been answered when its end is found to be wrong; then the connection is closed.
    expect([['400'], ['200', '400'], ['200']]).toContainEqual(statuses);
    expect(await ehrs()).toBe(before);
  });

  it('is another one than two that follow each other, which are both answered', async () => {
    const before = await ehrs();
    expect(await answersTo(HIDDEN + LAST)).toEqual(['201', '201']);
    expect(await ehrs()).toBe(before + 2);
  });
});
