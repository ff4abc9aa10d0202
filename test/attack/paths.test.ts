import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp, useServer } from '../support/app.js';
import { leastMainThreadTime } from '../support/process/processor-time.js';

/** Of a server that asks everybody who he is, with management on a port of its own. */
const closed = useServer(testApp({ auth: 'jwt', managementPort: 1 }));
/** Of a server that everybody may use. */
const open = useServer(testApp());
const SLASHES = '/'.repeat(15_000);
const AT_ONCE = 20;
/** Seconds of the main thread for all of them, the client's included. */
const MOST_S = 0.5;

/** Sends the same request many times over one connection; what came back. */
async function pipelined(url: string, path: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const one = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const last = one.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  socket.write(one.repeat(AT_ONCE - 1) + last);
  await once(socket, 'close');
  return text;
}

const countOf = (text: string, status: number): number => text.split(`HTTP/1.1 ${status} `).length - 1;

describe('a path of 15,000 characters', () => {
  it.each([
    ['below management', `/management${SLASHES}x`],
    ['of slashes', `${SLASHES}x`],
    ['with slashes inside', `/x${SLASHES}x`],
    ['of encoded slashes', `/management${'%2F'.repeat(5_000)}x`],
    ['of dots', `/${'./'.repeat(7_000)}x`],
  ])('%s is refused at once, whoever sends it', async (_, path) => {
    for (const { url } of [closed, open]) {
      let text = '';
      const seconds = await leastMainThreadTime(async () => {
        text = await pipelined(url, path);
      });
      expect(countOf(text, 414)).toBe(AT_ONCE);
      expect(seconds).toBeLessThan(MOST_S);
    }
  });
});

describe('a path', () => {
  it('may have 2,000 characters, and the query string as many more as HTTP takes', async () => {
    const longest = `/${'x'.repeat(1_999)}`;
    expect((await request(open.url).get(longest)).status).toBe(404);
    const { status, body } = await request(open.url).get(`${longest}x`);
    expect({ status, code: (body as { code: string }).code }).toEqual({ status: 414, code: 'uri-too-long' });
    const read = await request(open.url).get(`/rest/openapi.json?x=${'x'.repeat(5_000)}`);
    expect(read.status).not.toBe(414);
  });

  it('of slashes within the length costs no more than another', async () => {
    const path = `/management${'/'.repeat(1_900)}x`;
    const seconds = await leastMainThreadTime(() => pipelined(closed.url, path));
    expect(seconds).toBeLessThan(MOST_S);
  });
});
