import { createHook } from 'node:async_hooks';
import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, jest } from '@jest/globals';
import { testApp, useServer } from '../support/app.js';

const SETTINGS = { auth: 'jwt', rateLimitPerMinute: null } as const;
const OPEN = ['/rest/openapi.json', '/swagger-ui/swagger-ui-bundle.js'];
const TIMES = 50;
/** Characters from which a text is one of these documents and no line of the log. */
const DOCUMENT = 100_000;

/** The bytes of an answer as they came. */
function answered(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ encoding: string; body: Buffer }> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers: { 'Accept-Encoding': 'gzip', ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        resolve({ encoding: response.headers['content-encoding'] ?? '', body: Buffer.concat(chunks) });
      });
    }).on('error', reject);
  });
}

/** What is made to answer `TIMES` requests: texts of the size of a document, and streams that compress. */
async function madeFor(
  ask: (turn: number) => Promise<unknown>,
): Promise<{ texts: number; compressions: number }> {
  const made = { texts: 0, compressions: 0 };
  const stringify = jest.spyOn(JSON, 'stringify');
  const hook = createHook({
    init: (_, type) => void (made.compressions += type === 'ZLIB' ? 1 : 0),
  }).enable();
  for (let turn = 1; turn <= TIMES; turn++) await ask(turn);
  hook.disable();
  made.texts = stringify.mock.results.filter(({ value }) => String(value).length > DOCUMENT).length;
  stringify.mockRestore();
  return made;
}

describe('what everybody may read', () => {
  describe.each(OPEN)('%s', (path) => {
    const served = useServer(testApp(SETTINGS));

    it('is made and compressed at most once, and is the same compressed and not', async () => {
      const { texts, compressions } = await madeFor(() => answered(`${served.url}${path}`));
      expect(texts).toBeLessThanOrEqual(1);
      expect(compressions).toBe(1);
      const gzipped = await answered(`${served.url}${path}`);
      const plain = await answered(`${served.url}${path}`, { 'Accept-Encoding': 'identity' });
      expect([gzipped.encoding, plain.encoding]).toEqual(['gzip', '']);
      expect(gunzipSync(gzipped.body).equals(plain.body)).toBe(true);
    });
  });

  describe('the description', () => {
    const served = useServer(testApp(SETTINGS));

    it('is compressed for a few of the addresses that a client makes up, and names each', async () => {
      const asked = (port: number) =>
        answered(`${served.url}/rest/openapi.json`, { Host: `localhost:${port}` });
      const { texts, compressions } = await madeFor(asked);
      expect(texts).toBeLessThanOrEqual(1);
      expect(compressions).toBeLessThanOrEqual(8);
      const { encoding, body } = await asked(4711);
      const text = encoding === 'gzip' ? gunzipSync(body).toString() : body.toString();
      expect((JSON.parse(text) as { servers: unknown }).servers).toEqual([{ url: 'http://localhost:4711' }]);
    });
  });
});
