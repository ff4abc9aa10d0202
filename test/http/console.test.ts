import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../support/app.js';
import { WITH_ADMIN } from '../support/tokens.js';

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
      territory: null,
    });
    const austrian = request(testApp({ consoleTerritory: 'AT' })).get('/console/settings.json');
    expect((await austrian).body.territory).toBe('AT');
  });

  it('loads at most 350 KB at first, as gzip has it', () => {
    const folder = new URL('../../console/dist/', import.meta.url);
    const page = readFileSync(new URL('index.html', folder), 'utf8');
    const names = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => name!);
    const sizes = names.map((name) => gzipSync(readFileSync(new URL(name, folder))).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(350_000);
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
