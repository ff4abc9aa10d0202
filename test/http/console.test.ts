import { get } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp, useServer } from '../support/app.js';
import { WITH_ADMIN } from '../support/tokens.js';

const served = useServer(testApp());

/** The files that the page names, by their addresses. */
async function firstNames(): Promise<string[]> {
  const { text } = await request(testApp()).get('/console');
  return [...text.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => `/${name!}`);
}

/** What is sent over the wire, as it is. */
function sent(path: string, encoding: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get(served.url + path, { headers: { 'Accept-Encoding': encoding } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve(Buffer.concat(chunks)));
    }).on('error', reject);
  });
}

describe('the console', () => {
  it('is one page with a nonce of its own, no inline script, and nothing from elsewhere', async () => {
    const pages = [await request(testApp()).get('/console'), await request(testApp()).get('/console/')];
    const nonces = pages.map(({ text }) => /<script[^>]* nonce="([^"]+)"/.exec(text)?.[1]);
    expect(new Set(nonces).size).toBe(2);
    for (const [index, { headers, text }] of pages.entries()) {
      const policy = headers['content-security-policy']!;
      expect(policy).toContain(`style-src 'self' 'nonce-${nonces[index]}'`);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).not.toContain('unsafe');
      expect(headers['cache-control']).toBe('no-store');
      expect(text).not.toContain('EVERCHART_CSP_NONCE');
      expect(text).not.toMatch(/https?:\/\/|<script(?![^>]*src=)|style="/);
    }
  });

  it('has every file that the page names, to be kept forever, and no other', async () => {
    const app = testApp();
    for (const address of ['/console', '/console/']) {
      const { text } = await request(app).get(address);
      const names = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name!);
      expect(names.length).toBeGreaterThan(2);
      for (const name of names) {
        const { pathname } = new URL(name, `http://server${address}`);
        const file = await request(app).get(pathname).expect(200);
        expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable');
        expect(file.headers['content-type']).toMatch(/^(text\/(javascript|css)|image\/svg)/);
      }
    }
    for (const name of ['index.html', '..%2Findex.html', '%2e%2e%2f%2e%2e%2fpackage.json', 'sources.sha256'])
      await request(app).get(`/console/assets/${name}`).expect(404);
  });

  it('tells everybody how to sign in, and nothing else', async () => {
    const { body } = await request(testApp({ ...WITH_ADMIN, auth: 'jwt' })).get('/console/settings.json');
    expect(body).toEqual({
      auth: 'jwt',
      has_passwords: false,
      oidc: null,
      administration: true,
      access_mode: 'off',
      policies_take_two: false,
      territory: null,
      idle_minutes: 15,
      banner_paths: [],
      largest_document_bytes: 8_388_608,
    });
    const austrian = request(testApp({ consoleTerritory: 'AT' })).get('/console/settings.json');
    expect((await austrian).body.territory).toBe('AT');
  });

  it('loads at most 150 KB at first, compressed', async () => {
    const names = await firstNames();
    const sizes = await Promise.all(names.map(async (name) => (await sent(name, 'br')).length));
    const sum = sizes.reduce((total, size) => total + size, 0);
    process.stderr.write(`the first page of the console is ${(sum / 1000).toFixed(1)} KB, compressed\n`);
    expect(sum).toBeLessThan(150_000);
  });

  it('is the same in every encoding', async () => {
    const name = (await firstNames()).find((each) => each.endsWith('.js')) ?? '';
    const plain = await sent(name, 'identity');
    expect(brotliDecompressSync(await sent(name, 'br')).equals(plain)).toBe(true);
    expect(gunzipSync(await sent(name, 'gzip')).equals(plain)).toBe(true);
  });

  it('stands below BASE_PATH', async () => {
    const app = testApp({ basePath: '/ehrbase' });
    await request(app).get('/ehrbase/console').expect(200);
    await request(app).get('/console').expect(404);
  });
});

describe('the page at /', () => {
  it('links to console, documentation and health, without script', async () => {
    const { text, headers } = await request(testApp()).get('/').expect(200);
    expect(text).not.toContain('<script');
    expect(headers['content-security-policy']).not.toContain('script');
    const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, href]) => new URL(href!).pathname);
    expect(links).toEqual([
      '/console',
      '/swagger-ui.html',
      '/rest/openapi.json',
      '/management/health/readiness',
    ]);
  });
});
