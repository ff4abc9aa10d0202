import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { MAX_MAIN_SECONDS, watchedServer, type WatchedServer } from '../support/attack/watched-server.js';
import { TEST_JWT_SECRET } from '../support/settings.js';

/** What nobody needs a token for takes the server from nobody: paths of slashes, and the documents that are open. */
const SLASHES = '/'.repeat(15_000);
const AT_ONCE = 12;
const DOCUMENTS = 100;
let server: WatchedServer;

beforeAll(async () => {
  server = await watchedServer({ AUTH: 'jwt', JWT_SECRET: TEST_JWT_SECRET, MANAGEMENT_PORT: '0' });
});
afterAll(() => server.stop());

/** What an attack cost is nothing to speak of for the others. */
async function expectNoCost(attack: () => Promise<unknown>): Promise<void> {
  const { mainSeconds, silenceMs, waitedSeconds } = await server.cost(attack);
  expect(mainSeconds).toBeLessThan(MAX_MAIN_SECONDS);
  expect(waitedSeconds).toBeLessThan(MAX_MAIN_SECONDS);
  expect(silenceMs).toBeLessThan(server.maxSilenceMs);
}

it.each([
  ['below management', `/management${SLASHES}x`],
  ['with slashes inside', `/x${SLASHES}x`],
])('%s, 12 paths of 15,000 characters over one connection', async (_, path) => {
  let text = '';
  await expectNoCost(async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const one = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n`;
    socket.write(`${one}\r\n`.repeat(AT_ONCE - 1) + `${one}Connection: close\r\n\r\n`);
    await once(socket, 'close');
  });
  expect(text.split('HTTP/1.1 414 ').length - 1).toBe(AT_ONCE);
});

it.each(['/rest/openapi.json', '/swagger-ui/swagger-ui-bundle.js'])(
  '%s, asked for a hundred times',
  async (path) => {
    const ask = async (): Promise<number> => {
      const answer = await fetch(`${server.url}${path}`, { headers: { 'Accept-Encoding': 'gzip' } });
      await answer.arrayBuffer();
      return answer.status;
    };
    expect(await ask()).toBe(200);
    await expectNoCost(async () => {
      for (let turn = 0; turn < DOCUMENTS; turn += 1) expect(await ask()).toBe(200);
    });
  },
);
