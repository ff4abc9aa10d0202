import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { testApp, useServer } from '../support/app.js';
import { mainThreadTime } from '../support/process/processor-time.js';

const served = useServer(testApp({ auth: 'jwt', rateLimitPerMinute: null }));
const OPEN = ['/rest/openapi.json', '/swagger-ui/swagger-ui-bundle.js'];
const TIMES = 100;
/** Seconds of the main thread for a hundred answers, the client's included. */
const MOST_S = 0.5;

/** The bytes of an answer as they came. */
function answered(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ encoding: string; body: Buffer }> {
  return new Promise((resolve, reject) => {
    get(`${served.url}${path}`, { headers: { 'Accept-Encoding': 'gzip', ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        resolve({ encoding: response.headers['content-encoding'] ?? '', body: Buffer.concat(chunks) });
      });
    }).on('error', reject);
  });
}

describe('what everybody may read', () => {
  beforeAll(async () => {
    for (const path of OPEN) await answered(path);
  });

  it.each(OPEN)('%s is made and compressed once', async (path) => {
    const seconds = await mainThreadTime(async () => {
      for (let i = 0; i < TIMES; i++) expect((await answered(path)).encoding).toBe('gzip');
    });
    expect(seconds).toBeLessThan(MOST_S);
  });

  it.each(OPEN)('%s is the same compressed and not', async (path) => {
    const [gzipped, plain] = [await answered(path), await answered(path, { 'Accept-Encoding': 'identity' })];
    expect(plain.encoding).toBe('');
    expect(gunzipSync(gzipped.body).equals(plain.body)).toBe(true);
  });

  it('the description costs as little for addresses that a client makes up, and names each', async () => {
    const asked = (port: number) => answered('/rest/openapi.json', { Host: `localhost:${port}` });
    const seconds = await mainThreadTime(async () => {
      for (let i = 1; i <= TIMES; i++) await asked(i);
    });
    expect(seconds).toBeLessThan(2 * MOST_S);
    const { encoding, body } = await asked(4711);
    const text = encoding === 'gzip' ? gunzipSync(body).toString() : body.toString();
    expect((JSON.parse(text) as { servers: unknown }).servers).toEqual([{ url: 'http://localhost:4711' }]);
  });
});
