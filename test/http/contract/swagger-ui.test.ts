import { describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp, useServer } from '../../support/app.js';
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
  const server = useServer(testApp());

  it('lists the operations of the API', async () => {
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      const failures: string[] = [];
      page.on('pageerror', (error) => failures.push(error.message));
      page.on('requestfailed', (failed) => failures.push(failed.url()));
      await page.goto(`${server.url}/swagger-ui.html`);
      await page.waitForSelector('.opblock', { timeout: 30_000 });
      expect(await page.locator('.opblock').count()).toBeGreaterThan(40);
      expect(await page.locator('.opblock-summary-path', { hasText: '/query/aql' }).count()).toBeGreaterThan(
        0,
      );
      expect(failures).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
