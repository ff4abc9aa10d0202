import { beforeEach, describe, expect, it } from '@jest/globals';
import { hasBrowser } from '../support/browser/browser.js';
import { beyondEdge, useConsole } from '../support/browser/console.js';
import {
  clientOf,
  givenWardPatient,
  readyPolicy,
  storePolicies,
  wardSettings,
} from '../support/browser/ward.js';
import { ROOT, tokenOf } from '../support/policy/marks.js';

const inBrowser = hasBrowser ? describe : describe.skip;
const PHYSICIANS = 'permit (principal, action, resource)\nwhen { principal.roles.contains("PHYSICIAN") };';

inBrowser('policies of access in the console (skipped where no Chromium is installed)', () => {
  const web = useConsole(wardSettings());
  const tab = (name: string) => web.page.getByRole('tab', { name }).click();
  const button = (name: string) => web.page.getByRole('button', { name, exact: true });

  beforeEach(async () => {
    const root = clientOf(web.url, ROOT);
    const { body } = await root.request<{ policies: { id: string }[] }>('GET', '/rest/admin/policies');
    for (const { id } of body.policies) await root.request('DELETE', `/rest/admin/policies/${id}`);
  });

  async function signedIn(view: string): Promise<void> {
    await web.open(view);
    await web.pasteToken(['USER', 'ADMIN'], 'root');
  }

  it('are begun from a ready one, mended where they are wrong, tried, compared, stored, and brought back', async () => {
    const { ehrId, subject } = await givenWardPatient(web.url, '3B', 'P-3B-9');
    await signedIn('/administration?tab=access');
    await web.page.getByText('No policies yet').waitFor();
    await web.page.getByText('ACCESS_MODE=enforce').waitFor();
    await web.expectGood();
    await web.page.getByRole('combobox', { name: 'Begin with' }).click();
    await web.page.getByRole('option', { name: 'A ward sees who lies there' }).click();
    await button('Write it').click();
    await web.page.getByText('It would be the first policy').waitFor();
    await web.page.getByText('It can be stored').waitFor();
    // Highlighted as Cedar.
    expect(await web.page.locator('.cm-keyword', { hasText: 'permit' }).count()).toBe(1);
    await web.expectGood();
    await web.write(PHYSICIANS.replace('roles', 'rolls'));
    await web.page.getByText(/attribute `rolls`/).waitFor();
    await web.page.locator('.cm-lintRange-error').first().waitFor();
    expect(await button('Save').isDisabled()).toBe(true);
    await web.expectGood();
    await button('line 2, column 8').click();
    // Where the mistake is, the cursor is.
    await web.page.keyboard.insertText('false && ');
    await web.page.getByText('when { false && principal').waitFor();
    await web.write('permit (principal, action resource);');
    await web.page.getByText(/^Cannot be read/).waitFor();
    await web.write(readyPolicy('ward'));
    await web.page.getByText('It can be stored').waitFor();

    await button('What would it change?').click();
    await web.page.getByText('not stored yet').waitFor();
    await web.page.getByLabel('Roles, with commas between').fill('physician');
    await web.page.getByLabel('Organisation').fill('4A');
    await button('Compare').click();
    await web.page.getByText(/1 record fewer, 3 contents fewer/).waitFor();
    await web.page.getByText('minimal_evaluation.en.v1: 1 content fewer').waitFor();
    await web.expectGood();

    await tab('Policies');
    await web.page.getByRole('link', { name: 'ward' }).click();
    await button('Save').click();
    await web.page.getByText('ward is stored').waitFor();
    await web.page.getByText('Version 1', { exact: true }).waitFor();

    await tab('Try a decision');
    await web.page.getByLabel('Organisation').fill('3B');
    await web.page.getByRole('combobox', { name: 'Record' }).fill(ehrId);
    await button('What is decided?').click();
    await web.page.getByRole('heading', { name: 'Permitted', exact: true }).waitFor();
    await web.page.getByText('The policy ward permits it.').waitFor();
    await web.page.getByLabel('Organisation').fill('4A');
    await button('What is decided?').click();
    await web.page.getByRole('heading', { name: 'Not permitted' }).waitFor();
    await web.page.getByText('No policy permits it.').waitFor();
    // Its documents are not offered to whom they are hidden from.
    web.forgive('404');
    await web.expectGood();
    // As it is decided, so it is.
    const read = (organisation: string) =>
      clientOf(web.url, tokenOf(['PHYSICIAN'], { organisation }, 'clara')).ehr.search(subject);
    expect((await read('3B')).ehrs).toHaveLength(1);
    expect((await read('4A')).ehrs).toEqual([]);

    await tab('Policies');
    await web.page.getByRole('link', { name: 'ward' }).click();
    await web.write(PHYSICIANS);
    await web.page.getByText('It can be stored').waitFor();
    await web.page.keyboard.press('Control+Enter');
    await web.page.getByText('Version 2', { exact: true }).waitFor();
    await button('What differs').click();
    await web.page.locator('.policy-versions .cm-deletedChunk').first().waitFor();
    await web.expectGood();
    await button('Take version 1 back').click();
    await web.page.getByText('changed, not stored').waitFor();
    await button('Save').click();
    await web.page.getByText('Version 3', { exact: true }).waitFor();
    expect((await read('4A')).ehrs).toEqual([]);
    await web.page.setViewportSize({ width: 360, height: 740 });
    expect(await beyondEdge(web.page)).toEqual([]);
    await web.page.setViewportSize({ width: 1440, height: 900 });

    await button('Remove the policy').click();
    await web.expectGood();
    await button('Remove it').click();
    await web.page.getByText('No policies yet').waitFor();
    expect((await read('4A')).ehrs).toHaveLength(1);
  });

  it('that would lock out all administrators are refused in plain words, and what is written stays', async () => {
    await storePolicies(web.url, { all: 'permit (principal, action, resource);' });
    await signedIn('/administration?tab=access');
    await button('New policy').click();
    await web.page.getByRole('combobox', { name: 'Begin with' }).click();
    await web.page.getByRole('option', { name: 'A policy for one role' }).click();
    await web.page.getByRole('textbox', { name: 'Id' }).fill('all');
    await web.page.getByText('There is one of this id').waitFor();
    await web.page.getByRole('textbox', { name: 'Id' }).fill('nobody');
    await button('Write it').click();
    await web.write('forbid (principal, action, resource);');
    await web.page.getByText('It can be stored').waitFor();
    await button('Save').click();
    await web.page.getByText('Not stored: nobody could change policies any more').waitFor();
    web.forgive('409');
    await web.expectGood();
    await web.page.getByRole('link', { name: /All policies/ }).click();
    await web.page.getByText('not stored yet').waitFor();
    await web.page.getByText('forbids').waitFor();
    await web.expectGood();
  });

  it('are said in German, on a dark phone too', async () => {
    await storePolicies(web.url, { all: '// Alle alles\npermit (principal, action, resource);' });
    await web.page.addInitScript("localStorage.setItem('everchart-language', JSON.stringify('de'))");
    await web.page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await web.page.setViewportSize({ width: 360, height: 740 });
    await signedIn('/administration?tab=access');
    await web.page.getByText('Alle alles').waitFor();
    for (const name of [
      'Entscheidung probieren',
      'Entwurf vergleichen',
      'Was verborgen wurde',
      'Eine Akte',
      'Notfälle',
    ]) {
      await tab(name);
      expect(await beyondEdge(web.page)).toEqual([]);
      await web.expectGood();
    }
    await web.page.getByText('Niemand gab einen Notfall an').waitFor();
  });
});

inBrowser('policies that take two persons, in the console', () => {
  const web = useConsole(wardSettings({ fourEyes: ['policy'] }));
  const button = (name: string) => web.page.getByRole('button', { name, exact: true });
  const policies = async () =>
    (
      await clientOf(web.url, ROOT).request<{ policies: { id: string; policy: string }[] }>(
        'GET',
        '/rest/admin/policies',
      )
    ).body.policies;

  it('wait with what differs, are confirmed by another person, and name both', async () => {
    await web.open('/administration?tab=access');
    await web.pasteToken(['USER', 'ADMIN'], 'ada');
    await web.page.getByText('No policies yet').waitFor();
    await web.page.getByRole('textbox', { name: 'Id' }).fill('doctors');
    await button('Write it').click();
    await web.write(PHYSICIANS);
    await web.page.getByText('It is not stored by one person').waitFor();
    await web.page.getByText('It can be stored').waitFor();
    await web.expectGood();
    await button('Ask a second person').click();
    await web.page.getByRole('heading', { name: 'Waiting for approval' }).waitFor();
    await web.page.getByText('It says something else from then on').waitFor();
    expect(await policies()).toEqual([]);
    await web.page.getByText('Asked for by ada').waitFor();
    await web.expectGood();

    await web.page.reload();
    await web.open('/administration?tab=access');
    await web.pasteToken(['USER', 'ADMIN'], 'ben');
    await web.page.getByText('Policy doctors').waitFor();
    await button('Show the plan').click();
    await web.page.getByText('It would be the first policy').waitFor();
    await web.page.locator('.cm-line', { hasText: 'PHYSICIAN' }).first().waitFor();
    await web.expectGood();
    await button('Confirm this plan').click();
    await web.page.getByText('Waiting for approval').waitFor({ state: 'detached' });
    expect(await policies()).toMatchObject([{ id: 'doctors', policy: PHYSICIANS }]);
    await web.page.getByRole('link', { name: 'doctors' }).click();
    await web.page.getByText('confirmed by ben').waitFor();

    await button('Remove the policy').click();
    await web.page.getByText('It holds until another person confirms this').waitFor();
    await button('Ask a second person').last().click();
    await web.page.getByText('It holds no more from then on').waitFor();
    expect(await policies()).toHaveLength(1);
    await web.expectGood();
  });

  it('wait in German too, on a dark phone', async () => {
    await web.page.addInitScript("localStorage.setItem('everchart-language', JSON.stringify('de'))");
    await web.page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await web.page.setViewportSize({ width: 360, height: 740 });
    const ada = clientOf(web.url, tokenOf(['ADMIN'], { preferred_username: 'ada' }, 'ada'));
    await ada.request('PUT', '/rest/admin/policies/zwei', { body: { policy: PHYSICIANS } });
    await web.open('/administration?tab=access');
    await web.pasteToken(['USER', 'ADMIN'], 'ben');
    const waiting = web.page.locator('li', { hasText: 'Regel zwei' });
    await waiting.getByText('Sie besagt von da an etwas anderes, für alle').waitFor();
    await waiting.getByRole('button', { name: 'Plan zeigen' }).click();
    await waiting.getByText('PHYSICIAN').first().waitFor();
    expect(await beyondEdge(web.page)).toEqual([]);
    await web.expectGood();
  });
});

inBrowser('what policies would hide, in the console', () => {
  const web = useConsole(wardSettings({ accessMode: 'observe', auditReads: true }));

  it('is counted by who asked for what', async () => {
    const { ehrId } = await givenWardPatient(web.url, '3B', 'P-3B-8');
    await storePolicies(web.url, { ward: readyPolicy('ward') });
    const clara = clientOf(
      web.url,
      tokenOf(['PHYSICIAN'], { organisation: '4A', preferred_username: 'clara' }, 'clara'),
    );
    await clara.ehr(ehrId).get();
    await web.open('/administration?tab=access&view=observed');
    await web.pasteToken(['USER', 'ADMIN'], 'root');
    await web.page.getByText('Policies are observed').waitFor();
    await web.page.getByRole('row', { name: /clara 4A opened the record 1/ }).waitFor();
    await web.expectGood();
  });
});

inBrowser('the console of a server without policies', () => {
  const web = useConsole();

  it('tells how one begins, and shows nothing of access at a record', async () => {
    const asked: string[] = [];
    web.page.on('request', (request) => asked.push(request.url()));
    await web.open('/administration?tab=access');
    await web.pasteToken(['ADMIN'], 'root');
    await web.page.getByText('There are no policies').waitFor();
    await web.page.getByText('ACCESS_MODE=dry').first().waitFor();
    await web.page.getByText('Patients see their own record').click();
    await web.page.getByText('resource.ehr_id == principal.ehr').waitFor();
    await web.expectGood();
    await web.page.getByRole('link', { name: 'Patients' }).first().click();
    await web.page.getByRole('link', { name: 'P-0001' }).click();
    await web.page.getByRole('tab', { name: 'Status' }).waitFor();
    expect(await web.page.getByRole('tab', { name: 'Restrictions' }).count()).toBe(0);
    expect(asked.filter((address) => /\/marks|\/policies/.test(address))).toEqual([]);
  });
});
