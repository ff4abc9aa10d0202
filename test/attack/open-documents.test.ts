import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { testApp, useServer } from '../support/app.js';
import { mainThreadTime } from '../support/process/processor-time.js';

const served = useServer(testApp({ auth: 'jwt', rateLimitPerMinute: null }));
const OPEN = ['/rest/openapi.json', '/swagger-ui/swagger-ui-bundle.js'];
const TIMES = 50;

/** The bytes of an answer as they came. */
function answered(
  path: string,
  headers: Record<string, string> = {},
  from = served.url,
): Promise<{ encoding: string; body: Buffer }> {
  return new Promise((resolve, reject) => {
    get(
      `${from}${path}`,
      { agent: false, headers: { 'Accept-Encoding': 'gzip', ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({ encoding: response.headers['content-encoding'] ?? '', body: Buffer.concat(chunks) });
        });
      },
    ).on('error', reject);
  });
}

const asOften = async (once: (turn: number) => unknown): Promise<number> =>
  mainThreadTime(async () => {
    for (let turn = 1; turn <= TIMES; turn++) await once(turn);
  });

/**
 * Processor seconds that are enough for what is made and compressed once, here and now: three times what a bare server of
 * the same bytes takes, client included, and half of what compressing alone would.
 */
async function enoughFor(path: string): Promise<number> {
  const { body } = await answered(path, { 'Accept-Encoding': 'identity' });
  const bytes = gzipSync(body);
  const bare = createServer((_, response) => response.end(bytes)).listen(0, '127.0.0.1');
  await once(bare, 'listening');
  const { port } = bare.address() as AddressInfo;
  const serving = await asOften(() => answered(path, {}, `http://127.0.0.1:${port}`));
  bare.close();
  return 3 * serving + (await asOften(() => gzipSync(body))) / 2;
}

describe('what everybody may read', () => {
  beforeAll(async () => {
    for (const path of OPEN) await answered(path);
  });

  it.each(OPEN)('%s is made and compressed once', async (path) => {
    expect((await answered(path)).encoding).toBe('gzip');
    expect(await asOften(() => answered(path))).toBeLessThan(await enoughFor(path));
  });

  it.each(OPEN)('%s is the same compressed and not', async (path) => {
    const [gzipped, plain] = [await answered(path), await answered(path, { 'Accept-Encoding': 'identity' })];
    expect(plain.encoding).toBe('');
    expect(gunzipSync(gzipped.body).equals(plain.body)).toBe(true);
  });

  it('the description costs as little for addresses that a client makes up, and names each', async () => {
    const asked = (port: number) => answered('/rest/openapi.json', { Host: `localhost:${port}` });
    expect(await asOften(asked)).toBeLessThan(await enoughFor('/rest/openapi.json'));
    const { encoding, body } = await asked(4711);
    const text = encoding === 'gzip' ? gunzipSync(body).toString() : body.toString();
    expect((JSON.parse(text) as { servers: unknown }).servers).toEqual([{ url: 'http://localhost:4711' }]);
  });
});
