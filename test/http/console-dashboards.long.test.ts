import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('dashboards (skipped where no Chromium is installed)', () => {
  const web = useConsole();
  const write = async (q: string) => {
    await web.open('/query');
    await web.write(q);
  };
  const pin = async (title: string, show: 'Table' | 'Chart') => {
    await web.page.getByRole('button', { name: 'Pin', exact: true }).first().click();
    const name = web.page.getByLabel('Name of the dashboard');
    const titleField = web.page.getByLabel('Title');
    await titleField.waitFor();
    if (await name.isVisible()) await name.fill('Ward');
    await titleField.fill(title);
    await web.page.getByLabel('Show as').getByText(show).click();
    await titleField.press('Enter');
    await web.page.getByText('Pinned to Ward').waitFor();
    // What is said may be of the one before.
    await titleField.waitFor({ state: 'detached' });
  };

  it('hold queries that are pinned, run them with one set of parameters, and outlive the page', async () => {
    await write(
      'SELECT c/name/value AS name FROM EHR e CONTAINS COMPOSITION c WHERE e/ehr_status/subject/external_ref/id/value = $patient',
    );
    await web.page.getByLabel('$patient').fill('P-0001');
    await pin('Documents', 'Table');
    await write(
      'SELECT o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value/magnitude AS systolic FROM EHR e CONTAINS OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]',
    );
    await pin('Systolic', 'Chart');
    await web.page.reload();
    await web.page.getByRole('link', { name: 'Dashboards' }).click();
    await web.page.getByRole('heading', { name: 'Ward' }).waitFor();
    const table = web.page.locator('.panels section', { hasText: 'Documents' }).getByRole('table');
    await table.waitFor();
    expect(await table.getAttribute('aria-rowcount')).toBe('7');
    await web.page.locator('.panels canvas').waitFor();
    await web.expectGood();
    // Paper cannot be scrolled: all rows stand on it, with what was asked.
    await web.page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    expect(await web.page.locator('.panels .printed tbody tr').count()).toBe(6);
    expect(await web.page.locator('.panels .printed').innerText()).toContain('$patient = "P-0001"');
    await web.page.evaluate("window.dispatchEvent(new Event('afterprint'))");
    await table.waitFor();
    // One parameter for all of them, kept when it is asked with.
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await web.page.route('**/query/aql', async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    await web.page.getByLabel('$patient').fill('nobody');
    await web.page.getByRole('button', { name: 'Refresh' }).click();
    // Nothing of one patient stands below the id of another.
    await table.waitFor({ state: 'detached' });
    release();
    await web.page.getByText('No rows').waitFor();
    const client = new Cdr({ url: web.url });
    const { body } = await client.request<{ parameters: object; panels: object[] }[]>(
      'GET',
      '/rest/dashboard',
    );
    expect(body).toMatchObject([{ parameters: { patient: 'nobody' }, panels: [{}, {}] }]);
    // What is taken away comes back.
    await web.page.getByRole('button', { name: 'Unpin Documents' }).click();
    await web.page.getByText('No rows').waitFor({ state: 'detached' });
    await web.page.getByRole('button', { name: 'Undo' }).dblclick();
    await web.page.getByText('No rows').waitFor();
    await web.page.getByText('Taken back').waitFor();
    expect(await web.page.locator('.panels section').count()).toBe(2);
    await web.page.getByRole('button', { name: 'Move Systolic forward' }).click();
    await web.page.locator('.panels section').first().getByRole('heading', { name: 'Systolic' }).waitFor();
    await web.page.setViewportSize({ width: 390, height: 800 });
    await web.expectGood();
    await web.page.getByRole('button', { name: 'Delete the dashboard' }).click();
    await web.page.getByText('No dashboards yet').waitFor();
    await web.expectGood();
  });

  it('are asked again every minute, where one wants that, and chosen where there are several', async () => {
    const client = new Cdr({ url: web.url });
    const ids = [randomUUID(), randomUUID()];
    for (const [index, name] of ['Acute 1', 'Acute 2'].entries())
      await client.request('PUT', `/rest/dashboard/${ids[index]}`, {
        body: { name, panels: [{ title: 'Records', q: 'SELECT e/ehr_id/value FROM EHR e', show: 'table' }] },
      });
    await web.page.clock.install();
    await web.open('/dashboards');
    await web.page.getByRole('heading', { name: 'Acute 1' }).waitFor();
    await web.page.locator('.panels').getByRole('table').waitFor();
    let asked = 0;
    web.page.on('request', (request) => {
      if (request.url().endsWith('/query/aql')) asked += 1;
    });
    await web.page.clock.fastForward('03:00');
    expect(asked).toBe(0);
    await web.page.getByLabel('Every minute').check();
    const again = web.page.waitForRequest(/\/query\/aql$/);
    await web.page.clock.fastForward('01:05');
    await again;
    await web.page.getByRole('combobox', { name: 'Dashboards' }).click();
    await web.page.getByRole('option', { name: 'Acute 2' }).click();
    await web.page.getByRole('heading', { name: 'Acute 2' }).waitFor();
    expect(new URL(web.page.url()).hash).toBe(`#/dashboards?id=${ids[1]}`);
    for (const id of ids) await client.request('DELETE', `/rest/dashboard/${id}`);
  });
});
