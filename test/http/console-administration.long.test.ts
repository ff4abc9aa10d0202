import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { claimStorage, finishReindex, saveReindexPosition } from '../../models/settings.js';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { testSettings } from '../support/settings.js';
import { bearer } from '../support/tokens.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('administration in the console (skipped where no Chromium is installed)', () => {
  const web = useConsole();
  const { open, expectGood, forgive } = web;

  it('merges two patients, takes it back, verifies and erases, as an administrator only', async () => {
    const asked: string[] = [];
    web.page.on('request', (request) => asked.push(request.url()));
    await open('/administration');
    await web.page.getByLabel('Token').waitFor();
    expect(asked.filter((address) => address.includes('/rest/admin'))).toEqual([]);
    await expectGood();
    await web.pasteToken(['ADMIN']);
    for (const [index, name] of ['P-0001', 'P-0002'].entries()) {
      await web.page.getByRole('combobox').nth(index).fill(name);
      await web.page.getByRole('option', { name: new RegExp(name) }).click();
    }
    await web.page.getByRole('button', { name: 'Show the plan' }).click();
    await web.page.getByText('Compositions to move: 6,').waitFor();
    await expectGood();
    // Two patients have two subjects: whose stays is chosen, and the plan is made anew.
    await web.page.getByLabel('Whose subject stays').getByText('Source').click();
    await web.page.getByLabel('Reason').fill('registered twice');
    await web.page.getByLabel('Asked for by').fill('ward 3');
    // Who looks elsewhere meanwhile finds plan and reason again.
    await web.page.getByRole('tab', { name: 'Server' }).click();
    await web.page.getByRole('button', { name: 'Verify what is stored' }).waitFor();
    await web.page.getByRole('tab', { name: 'Merge', exact: true }).click();
    await web.page.getByText('Compositions to move: 6,').waitFor();
    expect(await web.page.getByLabel('Reason').inputValue()).toBe('registered twice');
    await web.page.getByRole('button', { name: 'Merge', exact: true }).click();
    await web.page.getByText(/^compositions moved: 6/).waitFor();
    await web.page.getByRole('link', { name: /to take one back/ }).click();
    await web.page.getByText('registered twice · asked for by ward 3').waitFor();
    await web.page.getByRole('button', { name: 'What would undo do?' }).click();
    await web.page.getByRole('button', { name: 'Take it back' }).click();
    await web.page.getByText('Nothing was merged').waitFor();
    // What was taken back is not forgotten.
    const takenBack = web.page.locator('section', { hasText: 'Taken back by' });
    await takenBack.getByRole('link', { name: 'P-0001' }).waitFor();
    await expectGood();
    await web.page.getByRole('tab', { name: 'Server' }).click();
    await web.page.getByRole('button', { name: 'Verify what is stored' }).click();
    await web.page.getByRole('status').getByText('Everything is as it should be.').waitFor();
    await expectGood();
    await web.page.getByRole('tab', { name: 'Erase' }).click();
    await web.page.getByRole('combobox').fill('P-0003');
    await web.page.getByRole('option', { name: /P-0003/ }).click();
    const label = await web.page.getByText(/^Type \w+ to erase it/).textContent();
    expect(await web.page.getByRole('button', { name: 'Erase for good' }).isDisabled()).toBe(true);
    await web.page.getByLabel(/^Type/).fill(label?.split(' ')[1] ?? '');
    expect(await web.page.getByRole('button', { name: 'Erase for good' }).isDisabled()).toBe(true);
    await web.page.getByLabel('Reason').fill('a wish of the patient');
    await web.page.getByLabel('Asked for by').fill('data protection officer');
    await web.page.getByRole('button', { name: 'Erase for good' }).click({ trial: true });
    // That nothing was merged into it.
    forgive('404');
    await expectGood();
    await web.page.getByRole('button', { name: 'Erase for good' }).click();
    await web.page.getByText(/ is erased\.$/).waitFor();
    const [erased] = await new Cdr({
      url: web.url,
      token: bearer(['ADMIN'], 'ben').replace('Bearer ', ''),
    }).admin.audit({ operation: 'deleteEhr' });
    expect(erased).toMatchObject({
      reason: 'a wish of the patient',
      options: { requested_by: 'data protection officer' },
    });
    await web.page.getByRole('tab', { name: 'Permissions' }).click();
    await web.page.getByRole('row', { name: /^AUDITOR/ }).waitFor();
    await web.page.getByRole('row', { name: /^ADMIN yours/ }).waitFor();
    await expectGood();
  });

  it('offers records that may be of one person, and erases one with those that were merged into it', async () => {
    await new Cdr({ url: web.url }).ehr.create({ subject: { namespace: 'north-clinic', id: 'P-0001' } });
    await open('/administration');
    await web.pasteToken(['ADMIN']);
    await web.page.getByText('Same subject id P-0001').waitFor();
    await web.page.getByText(/^compositions: (6 and 0|0 and 6)$/).waitFor();
    await expectGood();
    await web.page.getByRole('button', { name: /^Compare .*north-clinic/ }).click();
    await web.page.getByRole('cell', { name: 'north-clinic' }).waitFor();
    await web.page.getByRole('group', { name: 'Both records on one axis of time' }).waitFor();
    await web.page.getByRole('button', { name: 'Show the plan' }).click();
    // The one that holds less is proposed as the source.
    await web.page.getByText(/Compositions to move: 0,/).waitFor();
    await web.page.getByText(/^The source holds nothing that would move/).waitFor();
    await expectGood();
    await web.page.getByRole('button', { name: 'Swap source and target' }).click();
    await web.page.getByRole('button', { name: 'Show the plan' }).click();
    await web.page.getByText(/Compositions to move: 6,/).waitFor();
    expect(await web.page.getByText(/^The source holds nothing/).count()).toBe(0);
    await web.page.getByRole('button', { name: 'Merge', exact: true }).click();
    const target = await web.page.getByRole('link', { name: 'Open the patient' }).getAttribute('href');
    await web.page.getByRole('tab', { name: 'Erase' }).click();
    const ehrId = target?.split('/').at(-1) ?? '';
    await web.page.getByRole('combobox').fill(ehrId);
    await web.page.getByRole('option', { name: new RegExp(ehrId.slice(0, 8)) }).click();
    await web.page.getByLabel(/^Type/).fill(ehrId.slice(0, 8));
    expect(await web.page.getByRole('button', { name: 'Erase for good' }).isDisabled()).toBe(true);
    await web.page.getByLabel(/^Also the 1 record that was/).check();
    expect(await web.page.getByRole('button', { name: 'Erase for good' }).isDisabled()).toBe(true);
    await web.page.getByLabel('Reason').fill('a wish of the patient');
    await expectGood();
    await web.page.getByRole('button', { name: 'Erase for good' }).click();
    await web.page.getByText(/ is erased\.$/).waitFor();
  });

  it('never takes a patient by Enter who was found for other words', async () => {
    const client = new Cdr({ url: web.url });
    // Newest first: the other one stands above.
    for (const id of ['PICK-2', 'OTHER-1']) await client.ehr.create({ subject: { namespace: 'ward', id } });
    await open('/administration');
    await web.pasteToken(['ADMIN']);
    const source = web.page.getByRole('combobox').first();
    await source.click();
    await web.page.getByRole('option', { name: /OTHER-1/ }).waitFor();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await web.page.route(/\/query\/aql|\/rest\/ehrs/, async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    await source.pressSequentially('PICK-2');
    await source.press('Enter');
    // Whoever stood first in the list before is not chosen to be merged.
    expect(await source.inputValue()).toMatch(/^PICK-2( · ward · |$)/);
    release();
  });

  it('says in the language of the reader what a merge did and what stands against taking it back', async () => {
    const client = new Cdr({ url: web.url, token: bearer(['ADMIN']).replace('Bearer ', '') });
    const made = await Promise.all(['a', 'b', 'c'].map(() => client.ehr.create({})));
    const [first = '', second = '', third = ''] = made.map(({ id }) => id);
    await client.admin.merges.merge({ source_ehr: first, target_ehr: second, reversible: true });
    await client.admin.merges.merge({ source_ehr: second, target_ehr: third, reversible: true });
    await web.page.addInitScript("localStorage.setItem('everchart-language', JSON.stringify('de'))");
    await open('/administration?tab=merges');
    await web.pasteToken(['ADMIN']);
    const merge = web.page.getByRole('listitem').filter({ hasText: second.slice(0, 8) });
    const older = merge.filter({ hasText: first.slice(0, 8) });
    await older.getByText('Contributions umgezogen: 1').waitFor();
    await older.getByRole('button', { name: 'Was täte ein Zurücknehmen?' }).click();
    await older.getByText('Das Ziel selbst wurde inzwischen zusammengeführt').waitFor();
    await older.getByText(/Hier gibt es keine Wahl/).waitFor();
    forgive('409');
    // Of a merge that was taken back one record may be erased since.
    forgive('404');
    await expectGood();
  });

  it('shows what goes on in the background, as it goes on', async () => {
    await open('/administration?tab=server');
    await web.pasteToken(['ADMIN']);
    await web.page.getByText('Nothing is running.').waitFor();
    const { systemId, aql } = testSettings();
    await claimStorage(systemId, aql.leafIndex);
    await saveReindexPosition({ sv: 0, leafIndex: aql.leafIndex, afterEhr: '0' });
    await web.page.getByText(/Rebuild of what AQL reads · 0 of \d+ records/).waitFor();
    await web.page
      .getByRole('progressbar', { name: 'Rebuild of what AQL reads' })
      .waitFor({ state: 'attached' });
    await expectGood();
    await finishReindex(aql.leafIndex);
    await web.page.getByText('Nothing is running.').waitFor();
  });
});

inBrowser('a merge that needs approval, in the console', () => {
  const web = useConsole({ fourEyes: ['merge'] });
  const { open, expectGood } = web;

  async function signedIn(user: string): Promise<void> {
    await open('/');
    await open('/administration');
    await web.page.reload();
    await web.pasteToken(['ADMIN'], user);
  }

  it('is asked for by one administrator, withdrawn or confirmed by another, and made final', async () => {
    for (const end of ['Withdraw', 'Confirm this plan']) {
      await signedIn('first-admin');
      for (const [index, name] of ['P-0001', 'P-0002'].entries()) {
        await web.page.getByRole('combobox').nth(index).fill(name);
        await web.page.getByRole('option', { name: new RegExp(name) }).click();
      }
      await web.page.getByRole('button', { name: 'Show the plan' }).click();
      await web.page.getByText('Compositions to move: 6,').waitFor();
      await web.page.getByRole('button', { name: 'Merge', exact: true }).click();
      await web.page.getByText('Another administrator has to confirm it.').waitFor();
      await web.page.getByRole('heading', { name: 'Waiting for approval' }).waitFor();
      expect(await web.page.getByText('4 · Done').count()).toBe(0);
      await signedIn('second-admin');
      await web.page.getByRole('tab', { name: 'Merges' }).click();
      await web.page.getByText('Asked for by first-admin').waitFor();
      await web.page.getByRole('button', { name: 'Show the plan' }).click();
      await web.page.getByText('Compositions to move: 6,').waitFor();
      await expectGood();
      await web.page.getByRole('button', { name: end }).click();
      await web.page.getByText('Waiting for approval').waitFor({ state: 'detached' });
    }
    await web.page.getByRole('button', { name: 'Make it final' }).click();
    await web.page.getByLabel('Reason').fill('checked twice');
    // The list named the source until its merge was confirmed, and asked for it once more.
    web.forgive('404');
    await expectGood();
    await web.page.getByRole('button', { name: 'Make it final' }).click();
    await web.page.getByText(/^Final, by second-admin: checked twice/).waitFor();
    expect(await web.page.getByRole('button', { name: 'What would undo do?' }).count()).toBe(0);
    await web.page.getByRole('tab', { name: 'Audit' }).click();
    await web.page.getByRole('textbox', { name: 'What' }).fill('finaliseMerge');
    await web.page.getByRole('textbox', { name: 'Status' }).fill('200');
    await web.page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
    await web.page.getByRole('cell', { name: 'made a merge final' }).waitFor();
    await web.page.getByRole('button', { name: '1 request' }).click();
    await web.page.getByRole('cell', { name: 'finaliseMerge' }).waitFor();
    const saved = web.page.waitForEvent('download');
    await web.page.getByRole('button', { name: 'CSV' }).click();
    const [head = '', ...records] = readFileSync(await (await saved).path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(head).toMatch(/^time,.*operation/);
    expect(records).toHaveLength(1);
    expect(records[0]).toContain('finaliseMerge');
    await expectGood();
  });
});
