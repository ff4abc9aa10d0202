import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { runCli } from '../../../cli/cli.js';
import { testServer } from '../../support/app.js';
import { hasBrowser, startBrowser } from '../../support/browser/browser.js';
import { useDatabase } from '../../support/database.js';
import { outputOf } from '../../support/process/command-line.js';
import { testSettings } from '../../support/settings.js';
import { compilerFindings } from '../../support/typescript.js';

const OPT = 'test/fixtures/openehr/opt/ehrbase_blood_pressure_simple.de.v0.opt';
const inBrowser = hasBrowser ? it : it.skip;

let folder = '';
let server: Server;
let pages: Server;
const addressOf = (one: Server): string => `http://127.0.0.1:${(one.address() as AddressInfo).port}`;

useDatabase();
beforeAll(async () => {
  // Below the repository: there the packages are found as they are where they are installed.
  mkdirSync('node_modules/.cache', { recursive: true });
  folder = mkdtempSync('node_modules/.cache/example-');
  cpSync('examples/blood-pressure', folder, { recursive: true });
  expect(await runCli(['codegen', 'templates', OPT, '-o', join(folder, 'src/gen')])).toBe(0);
  pages = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const file = path === '/' ? 'index.html' : 'page.js';
    response.setHeader('Content-Type', file === 'index.html' ? 'text/html' : 'text/javascript');
    response.end(path === '/favicon.ico' ? '' : readFileSync(join(folder, file)));
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  server = await testServer(testSettings({ corsOrigins: [addressOf(pages)] }));
});
afterAll(() => {
  for (const one of [server, pages]) {
    one.closeAllConnections();
    one.close();
  }
  rmSync(folder, { recursive: true });
});

const recordedBy = (...args: readonly string[]): Promise<string> =>
  outputOf(process.execPath, ['--import', 'tsx', join(folder, 'src/record.ts'), ...args]);

describe('the example', () => {
  it('compiles strictly', () => {
    expect(compilerFindings(['page', 'record'].map((name) => join(folder, `src/${name}.ts`)))).toEqual([]);
  });

  it('records readings from Node.js, again for a patient who is there', async () => {
    const [patients, ...readings] = (await recordedBy(addressOf(server), '4711', OPT)).trimEnd().split('\n');
    expect(patients?.split(', ')).toContain('4711');
    expect(readings).toEqual([
      '2026-03-01T08:00:00Z 142/91',
      '2026-03-02T08:00:00Z 138/88',
      '2026-03-03T08:00:00Z 131/84',
    ]);
    expect((await recordedBy(addressOf(server), '4711', OPT)).split('\n')).toHaveLength(1 + 6 + 1);
  });

  inBrowser('lists patients in a page, takes a reading and draws it (skipped without Chromium)', async () => {
    expect((await recordedBy(addressOf(server), '4712', OPT)).split('\n')).toHaveLength(1 + 3 + 1);
    const entry = join(folder, 'src/page.ts');
    const outfile = join(folder, 'page.js');
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      format: 'esm',
    });
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(20_000);
      const failures: string[] = [];
      page.on('pageerror', (error) => failures.push(error.message));
      page.on('console', (message) => message.type() === 'error' && failures.push(message.text()));
      await page.goto(`${addressOf(pages)}/?cdr=${addressOf(server)}`);
      await page.getByRole('button', { name: '4712' }).click();
      await page.getByLabel('Systolic').fill('127');
      await page.getByLabel('Diastolic').fill('79');
      await page.getByLabel('Position').selectOption('Sitting');
      await page.getByRole('button', { name: 'Record' }).click();
      await page.getByText('Recorded').waitFor();
      await page.locator('figcaption', { hasText: '127/79' }).waitFor();
      expect(await page.locator('polyline').count()).toBe(2);
      expect((await page.locator('.systolic').getAttribute('points'))?.split(' ')).toHaveLength(3 + 1);
      await page.getByLabel('Systolic').fill('1200');
      await page.getByRole('button', { name: 'Record' }).click();
      await page.locator('#message', { hasText: '/content[0]' }).waitFor();
      // The refusal of 422 is the one error that the browser itself tells.
      expect(failures.filter((text) => !text.includes('422'))).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
