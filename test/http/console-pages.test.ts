import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { demoClient, loadDemoData } from '../../cli/demo/load.js';
import { testServer } from '../support/app.js';
import { hasBrowser, startBrowser } from '../support/browser.js';
import { useDatabase } from '../support/database.js';
import { testSettings } from '../support/settings.js';
import { bearer, WITH_ADMIN } from '../support/tokens.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PATIENTS = { ehrs: 3, compositionsPerEhr: 6, seed: 7, parallel: 3 };
const WAIT_MS = 20_000;

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the console in a browser (skipped where no Chromium is installed)', () => {
  useDatabase();
  let server: Server;
  let browser: Browser;
  let page: Page;
  let url = '';
  let failures: string[] = [];

  beforeAll(async () => {
    server = await testServer(testSettings({ ...WITH_ADMIN, auth: 'none' }));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await startBrowser();
    await loadDemoData(demoClient(url), PATIENTS, () => undefined);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await new Promise((resolve) => server.close(resolve));
  });
  beforeEach(async () => {
    page = await browser.newPage({ locale: 'en-GB', viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(WAIT_MS);
    failures = [];
    page.on('pageerror', (error) => failures.push(error.message));
    // What the policy of the page refuses is an error on its console.
    page.on('console', (message) => message.type() === 'error' && failures.push(message.text()));
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url))
        failures.push(request.url());
    });
  }, 60_000);
  afterEach(async () => {
    await page.close();
  });

  /** Nothing failed, nothing left the server, and axe finds nothing against WCAG 2.2 AA. */
  async function expectGood(): Promise<void> {
    // By the protocol of the browser: the policy of the page allows no script of ours.
    await page.evaluate(AXE);
    const found = await page.evaluate<string[]>(`axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
    }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.html).slice(0, 3).join(' ')))`);
    expect(found).toEqual([]);
    expect(failures).toEqual([]);
  }
  const open = (view: string): Promise<unknown> => page.goto(`${url}/console#${view}`);

  it('shows the server at a glance, in German and dark too', async () => {
    await open('/');
    await page.getByText('18', { exact: true }).waitFor();
    await expectGood();
    await page.locator('.user').click();
    await page.getByRole('menuitem', { name: 'Dark' }).click();
    await page.locator('.user').click();
    await page.getByRole('menuitem', { name: 'Deutsch' }).click();
    await page.getByRole('heading', { name: 'Neueste Contributions' }).waitFor();
    await page.getByRole('menu').waitFor({ state: 'hidden' });
    await expectGood();
  }, 90_000);

  it('finds a patient, shows his record, and reads a composition', async () => {
    await open('/patients');
    await page.getByRole('searchbox').fill('0002');
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
    await expectGood();
    await page.getByRole('link', { name: 'P-0002' }).click();
    await page.getByRole('button', { name: /Systolic/ }).click();
    await page.getByRole('img', { name: /Systolic over time/ }).waitFor();
    await page.getByText('6 of 6 compositions').waitFor();
    await expectGood();
    await page.locator('.composition-list a').first().click();
    await page.getByText('Systolic').waitFor();
    await page.getByText('mm[Hg]').first().waitFor();
    await expectGood();
    await page.getByRole('tab', { name: 'FLAT' }).click();
    await page.getByText('/systolic|magnitude').first().waitFor();
  }, 90_000);

  it('commits a form, puts findings beside their fields, changes a version, and deletes it', async () => {
    await open('/patients');
    await page.getByRole('link', { name: 'P-0003' }).click();
    await page.getByRole('button', { name: 'New composition' }).click();
    await page.getByRole('combobox', { name: 'Template' }).fill('blood_pressure');
    await page.getByRole('option', { name: /blood_pressure/ }).click();
    await page.getByLabel('Composer').first().fill('Ada Moe');
    await page.getByLabel('Systolic').first().fill('5000');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/must be .*1000/).waitFor();
    expect(await page.getByLabel('Systolic').first().getAttribute('aria-invalid')).toBe('true');
    failures = failures.filter((failure) => !failure.includes('422'));
    await expectGood();
    await page.getByRole('button', { name: 'Fill with example' }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await page.getByLabel('Systolic').first().fill('131');
    await page.getByRole('button', { name: 'Save as draft' }).click();
    await page.getByText('draft', { exact: true }).waitFor();
    await page.getByText('131').first().waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Systolic').first().fill('142');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Version 2').waitFor();
    await page.getByText('142').first().waitFor();
    await expectGood();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Every version stays').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('This composition was deleted').waitFor();
    await expectGood();
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('A new version will hold this content.').waitFor();
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('Version 4').waitFor();
    await page.getByText('142').first().waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Every version stays').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('This composition was deleted').waitFor();
  }, 90_000);

  it('changes who a patient is and whether the record can be written to', async () => {
    await open('/patients');
    await page.getByRole('link', { name: 'P-0003' }).click();
    await page.getByRole('tab', { name: 'Status' }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Namespace of the subject').fill('');
    await page.getByText('Subject and namespace belong together.').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByLabel('Namespace of the subject').fill('ward');
    await page.getByLabel('Modifiable').uncheck();
    await expectGood();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('not modifiable').waitFor();
    expect(await page.getByRole('button', { name: 'New composition' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Modifiable').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('not modifiable').waitFor({ state: 'detached' });
  }, 90_000);

  it('files a document by mouse and by keyboard, and lists contributions and tags', async () => {
    await open('/patients');
    await page.getByRole('link', { name: 'P-0001' }).click();
    await page.getByRole('tab', { name: 'Directory' }).click();
    await page.getByRole('button', { name: 'Create the directory' }).click();
    // That there was none.
    failures = failures.filter((failure) => !failure.includes('404'));
    await page.getByText('Not filed: 6').waitFor();
    await page.getByLabel('New folder in root').fill('Episode');
    await page.keyboard.press('Enter');
    const episode = page.locator('.folder .folder');
    await page.locator('.unfiled li').first().dragTo(episode.locator('summary'));
    await page.getByText('Not filed: 5').waitFor();
    await page.getByRole('combobox', { name: 'File a document in Episode' }).click();
    await page.getByRole('option').first().click();
    await expectGood();
    await page.getByRole('tab', { name: 'Contributions' }).click();
    await page.locator('.lines li').nth(5).waitFor();
    await expectGood();
    await page.getByRole('tab', { name: 'Tags' }).click();
    await page.getByText('No tags').waitFor();
  }, 90_000);

  it('runs a query with a parameter, draws it, explains it, and marks a mistake', async () => {
    const q = `SELECT c/context/start_time/value AS time, x/value/magnitude AS systolic
FROM EHR e CONTAINS COMPOSITION c CONTAINS ELEMENT x[at0004]`;
    await open(
      `/query?q=${encodeURIComponent(q.replace('ELEMENT x[at0004]', 'ELEMENT x WHERE x/value/magnitude > $least'))}`,
    );
    await page.getByLabel('$least').fill('60');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText(/\d+ rows/).waitFor();
    expect(await page.getByRole('cell').count()).toBeGreaterThan(10);
    await expectGood();
    await page.getByText('Chart', { exact: true }).click();
    await page.getByRole('img', { name: 'systolic by time' }).waitFor();
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('.stage').first().waitFor();
    await expectGood();
    await page.locator('.cm-content').fill('SELECT e FORM EHR e');
    await page.keyboard.press('Control+Enter');
    await page.locator('.cm-lintRange-error').waitFor();
    await page.getByText(/did you mean FROM/).waitFor();
  }, 90_000);

  it('completes, checks, explains and lays out AQL as it is typed', async () => {
    await open('/query');
    const editor = page.locator('.cm-content');
    await editor.fill('');
    await editor.pressSequentially('select o/data[at0001] from EHR e contains COMP');
    await page.locator('.cm-tooltip-autocomplete').getByText('COMPOSITION', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await editor.pressSequentially('OSITION c contains OBSERVATION o[');
    const offered = page.locator('.cm-tooltip-autocomplete');
    await offered.getByText('openEHR-EHR-OBSERVATION.sample_blood_pressure').first().waitFor();
    await expectGood();
    await page.keyboard.press('Escape');
    await editor.fill('select o/data[at0001]/events[at0006] from EHR e contains COMPOZITION o');
    // No request: the words of the server, before it was asked.
    await page.locator('.cm-lintRange-error').hover();
    await page.getByText(/did you mean COMPOSITION/).waitFor();
    await editor.fill(
      'select o/data[at0001]/events[at0006] from EHR e contains OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]',
    );
    await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Format' }).click();
    expect(await editor.innerText()).toContain('\nFROM EHR e CONTAINS OBSERVATION o');
    await editor.fill('SELECT FROM');
    await page.getByRole('button', { name: 'Format' }).click();
    await page.getByRole('alert').waitFor();
    await expectGood();
  }, 90_000);

  it('shows a template, its nodes and an example', async () => {
    await open('/templates');
    await page.getByRole('link', { name: 'Corona_Anamnese' }).click();
    await page.getByText('"bericht/category|code"').waitFor();
    await page.getByText(/^\d+ compositions$/).waitFor();
    await page.getByRole('combobox', { name: 'Compare with another template' }).click();
    await page.getByRole('option', { name: /blood_pressure/ }).click();
    await page.locator('.template-differences li').nth(3).waitFor();
    await page.getByRole('searchbox').fill('Temperatur');
    await page
      .getByRole('button', { name: /^Temperatur / })
      .first()
      .click();
    await page.getByText(/items\[at0004\]/).waitFor();
    await expectGood();
  }, 90_000);

  it('merges two patients, takes it back, verifies and erases, as an administrator only', async () => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await open('/administration');
    await page.getByLabel('Token').waitFor();
    expect(asked.filter((address) => address.includes('/rest/admin'))).toEqual([]);
    await expectGood();
    await page.getByLabel('Token').fill(bearer(['ADMIN']).replace('Bearer ', ''));
    await page.locator('main button[type=submit]').click();
    for (const [index, name] of ['P-0001', 'P-0002'].entries()) {
      await page.getByRole('combobox').nth(index).fill(name);
      await page.getByRole('option', { name: new RegExp(name) }).click();
    }
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByText('DRY RUN: 6 compositions moved').waitFor();
    await expectGood();
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByText(/^6 compositions moved/).waitFor();
    await page.getByRole('link', { name: /to take one back/ }).click();
    await page.getByRole('button', { name: 'What would undo do?' }).click();
    await page.getByRole('button', { name: 'Take it back' }).click();
    await page.getByText('Nothing was merged').waitFor();
    await expectGood();
    await page.getByRole('tab', { name: 'Server' }).click();
    await page.getByRole('button', { name: 'Verify what is stored' }).click();
    await page.getByText('Everything is as it should be.').waitFor();
    await expectGood();
    await page.getByRole('tab', { name: 'Erase' }).click();
    await page.getByRole('combobox').fill('P-0003');
    await page.getByRole('option', { name: /P-0003/ }).click();
    const label = await page.getByText(/^Type \w+ to erase it/).textContent();
    expect(await page.getByRole('button', { name: 'Erase for good' }).isDisabled()).toBe(true);
    await expectGood();
    await page.getByLabel(/^Type/).fill(label?.split(' ')[1] ?? '');
    await page.getByRole('button', { name: 'Erase for good' }).click();
    await page.getByText(/ is erased\.$/).waitFor();
  }, 90_000);
});
