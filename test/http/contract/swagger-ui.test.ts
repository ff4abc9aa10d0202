import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { hasBrowser, startBrowser } from '../../support/browser/browser.js';

describe('the API documentation page', () => {
  it('is served with everything it names, from this server alone', async () => {
    const page = await request(testApp()).get('/swagger-ui.html');
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).not.toMatch(/https?:\/\//);
    const names = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(names).toHaveLength(4);
    for (const name of names) expect((await request(testApp()).get(`/${name}`)).status).toBe(200);
  });
});

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the API documentation page in a browser (skipped where no Chromium is installed)', () => {
  let server: Server;
  beforeAll(async () => {
    server = createServer(testApp());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('lists the operations of the API', async () => {
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      const failures: string[] = [];
      page.on('pageerror', (error) => failures.push(error.message));
      page.on('requestfailed', (failed) => failures.push(failed.url()));
      const { port } = server.address() as AddressInfo;
      await page.goto(`http://127.0.0.1:${port}/swagger-ui.html`);
      await page.waitForSelector('.opblock', { timeout: 30_000 });
      expect(await page.locator('.opblock').count()).toBeGreaterThan(40);
      expect(await page.locator('.opblock-summary-path', { hasText: '/query/aql' }).count()).toBeGreaterThan(
        0,
      );
      expect(failures).toEqual([]);
    } finally {
      await browser.close();
    }
  }, 60_000);
});
