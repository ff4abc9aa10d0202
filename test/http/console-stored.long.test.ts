import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { ADMIN } from '../support/tokens.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the stored queries of an analyst (skipped where no Chromium is installed)', () => {
  const web = useConsole({ auth: 'jwt' });
  const client = () => new Cdr({ url: web.url, token: ADMIN.replace('Bearer ', '') });
  const list = () => web.page.getByRole('dialog', { name: 'Stored queries' });

  it('stand in folders with all their versions, are opened, and deleted so that it can be taken back', async () => {
    for (const q of ['SELECT e/ehr_id/value FROM EHR e', 'SELECT e/time_created/value FROM EHR e'])
      await client().queries.store('org.ward::records', q);
    await client().queries.store('alone', 'SELECT c/uid/value FROM COMPOSITION c');
    await web.open('/query');
    await web.pasteToken(['ADMIN']);
    await web.page.getByRole('button', { name: 'All stored' }).click();
    await list().getByText('org.ward').waitFor();
    await web.expectGood();
    const records = list().getByRole('region', { name: 'org.ward::records' });
    await records.getByRole('button', { name: '2 versions' }).click();
    await records.getByRole('button', { name: 'Delete org.ward::records/1.0.0' }).click();
    await web.page.getByText('org.ward::records/1.0.0 is deleted').waitFor();
    await records.getByRole('button', { name: '2 versions' }).waitFor({ state: 'detached' });
    expect((await client().queries.list('org.ward::records')).length).toBe(1);
    await web.page.getByRole('button', { name: 'Undo' }).click();
    await records.getByRole('button', { name: '2 versions' }).waitFor();
    expect((await client().queries.get('org.ward::records', '1.0.0')).q).toContain('ehr_id');
    await list().getByRole('searchbox').fill('composition');
    await records.waitFor({ state: 'detached' });
    await list().getByRole('button', { name: 'Open 1.0.0' }).click();
    await web.page.locator('.cm-content', { hasText: 'c/uid/value' }).waitFor();
    await web.expectGood();
  });

  it('are saved by Enter, and it is said as which version; who is no administrator deletes none', async () => {
    await web.open('/query');
    await web.pasteToken(['USER']);
    await web.page.getByRole('button', { name: 'Save' }).click();
    await web.page.getByLabel('Name').fill('org.ward::mine');
    await web.page.keyboard.press('Enter');
    await web.page.getByText('Stored as org.ward::mine/1.0.0').waitFor();
    await web.page.getByRole('button', { name: 'All stored' }).click();
    await list().getByRole('region', { name: 'org.ward::mine' }).waitFor();
    expect(
      await list()
        .getByRole('button', { name: /^Delete/ })
        .count(),
    ).toBe(0);
    await web.expectGood();
  });
});
