import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureJson, fixtureText } from '../support/fixture.js';
import { bearer } from '../support/tokens.js';

const inBrowser = hasBrowser ? describe : describe.skip;
const PERSISTENT = 'persistent_minimal.en.v1';

inBrowser('a merge that a second person approves (skipped where no Chromium is installed)', () => {
  const web = useConsole({ fourEyes: ['merge'] });
  const client = (name: string) =>
    new Cdr({ url: web.url, token: bearer(['ADMIN'], name).replace('Bearer ', '') });

  /** A patient with a birth date and a persistent document that says this. */
  const patient = async (id: string, born: string, says: string) => {
    const ada = client('ada');
    await ada.templates.upload(fixtureText(`opt/${PERSISTENT}.opt`)).catch(() => undefined);
    const other_details = {
      _type: 'ITEM_TREE',
      archetype_node_id: 'at0001',
      name: { _type: 'DV_TEXT', value: 'Tree' },
      items: [
        {
          _type: 'ELEMENT',
          archetype_node_id: 'at0002',
          name: { _type: 'DV_TEXT', value: 'Birth date' },
          value: { _type: 'DV_DATE', value: born },
        },
      ],
    };
    const ehr = await ada.ehr.create({
      status: {
        _type: 'EHR_STATUS',
        archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
        name: { _type: 'DV_TEXT', value: 'EHR Status' },
        subject: {
          _type: 'PARTY_SELF',
          external_ref: {
            _type: 'PARTY_REF',
            namespace: 'ward',
            type: 'PERSON',
            id: { _type: 'GENERIC_ID', scheme: 'id', value: id },
          },
        },
        is_queryable: true,
        is_modifiable: true,
        other_details,
      },
    } as never);
    const content = JSON.parse(
      JSON.stringify(fixtureJson(`composition/${PERSISTENT}.json`)),
      (_, value: { _type?: string } | null) =>
        value?._type === 'ELEMENT' ? { ...value, value: { _type: 'DV_TEXT', value: says } } : value,
    ) as object;
    await ada.ehr(ehr.id).compositions.commit({ ...content, uid: undefined });
    return ehr.id;
  };

  it('is named, compared in words, and shows what the documents of a pair say', async () => {
    const [source, target] = [
      await patient('LOPEZ-1', '1980-02-03', 'penicillin'),
      await patient('LOPEZ-2', '1981-02-03', 'nothing known'),
    ];
    // Only this merge pairs documents, see docs/spec/merge.md#persistent-compositions
    await client('ada').admin.merges.merge({
      source_ehr: source,
      target_ehr: target,
      composition_merge: 'PERSISTENT',
      reversible: true,
    });
    await web.open('/administration?tab=merges');
    await web.page.getByLabel('Token').fill(bearer(['ADMIN'], 'ben').replace('Bearer ', ''));
    await web.page.locator('main button[type=submit]').click();
    await web.page.getByRole('link', { name: 'LOPEZ-1', exact: true }).waitFor();
    await web.page.getByRole('link', { name: 'LOPEZ-2', exact: true }).waitFor();
    await web.page.getByRole('button', { name: 'Show the plan' }).click();
    // What both are called and when they were born, in words.
    await web.page.getByRole('row', { name: /Birth date.*3 Feb 1980.*3 Feb 1981/ }).waitFor();
    await web.page.getByText(/Birth date: 3 Feb 1980/).waitFor();
    expect(await web.page.getByText('"_type"').count()).toBe(0);
    await web.page.getByRole('button', { name: 'Show what they say' }).click();
    await web.page.getByRole('region', { name: 'Source' }).getByText('penicillin').first().waitFor();
    await web.page.getByRole('region', { name: 'Target' }).getByText('nothing known').first().waitFor();
    await web.expectGood();
  });

  it('is not proposed for two persons, which is kept, and taken back', async () => {
    const ids = await Promise.all(
      ['ward-a', 'ward-b'].map(
        async (namespace) => (await client('ada').ehr.create({ subject: { namespace, id: 'TWIN-7' } })).id,
      ),
    );
    await web.open('/administration');
    await web.pasteToken(['ADMIN'], 'ben');
    const pair = web.page.getByRole('listitem').filter({ hasText: 'Same subject id TWIN-7' });
    await pair.getByRole('button', { name: /^Not the same person/ }).click();
    const dialog = web.page.getByRole('dialog');
    await dialog.getByLabel('How it is known').fill('twins');
    await web.expectGood();
    await dialog.getByRole('button', { name: 'Not the same person' }).click();
    await pair.waitFor({ state: 'detached' });
    await web.page
      .getByRole('status')
      .getByText(/are two persons/)
      .waitFor();
    await web.page.getByText('Two persons that look alike (1)').click();
    await web.page.getByText('twins').waitFor();
    await web.expectGood();
    const kept = await client('ada').request<{ distinct: object[] }>('GET', '/rest/admin/ehr/distinct');
    expect(kept.body.distinct).toEqual([
      expect.objectContaining({ reason: 'twins', said_by: 'ben', ehr_id: [...ids].sort()[0] }),
    ]);
    await web.page.getByRole('button', { name: 'Take it back' }).click();
    await pair.waitFor();
  });

  it('is proposed where it is likeliest first', async () => {
    const shared = ['TRIO-5', 'TRIO-5', 'TRIO-5', 'DUO-5', 'DUO-5'];
    for (const [index, id] of shared.entries())
      await client('ada').ehr.create({ subject: { namespace: `ward-${index}`, id } });
    await web.open('/administration');
    await web.pasteToken(['ADMIN'], 'ben');
    await web.page.getByRole('listitem').filter({ hasText: 'DUO-5' }).first().waitFor();
    const shown = await web.page.locator('.candidates li b.number').allInnerTexts();
    const scores = shown.map((score) => Number.parseInt(score, 10));
    expect(scores).toEqual([...scores].sort((left, right) => right - left));
    expect(scores).toEqual(expect.arrayContaining([60, 30]));
  });

  it('is not needed where one document was written for the wrong patient: it is moved', async () => {
    const [wrong, right] = [
      await patient('WRONG-1', '1980-02-03', 'a'),
      await client('ada').ehr.create({ subject: { namespace: 'ward', id: 'RIGHT-1' } }),
    ];
    const ada = client('ada');
    await ada.templates.upload(fixtureText('opt/minimal_evaluation.en.v1.opt')).catch(() => undefined);
    const content = fixtureJson('composition/minimal_evaluation.en.v1.json') as object;
    const { uid } = await ada.ehr(wrong).compositions.commit({ ...content, uid: undefined });
    await web.open('/administration');
    await web.pasteToken(['ADMIN'], 'ben');
    await web.page.getByRole('tab', { name: 'Audit' }).waitFor();
    await web.open(`/patients/${wrong}/compositions/${uid}`);
    await web.page.getByRole('button', { name: 'Move to another patient' }).click();
    const dialog = web.page.getByRole('dialog');
    await dialog.getByRole('combobox').fill('RIGHT-1');
    await web.page.getByRole('option', { name: /RIGHT-1/ }).click();
    await dialog.getByLabel('Reason').fill('taken for another');
    expect(await dialog.getByRole('button', { name: 'Move it' }).isDisabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Show the plan' }).click();
    await dialog.getByText(/1 version, 1 contribution and 0 tags go along/).waitFor();
    await web.expectGood();
    await dialog.getByRole('button', { name: 'Move it' }).click();
    await web.page.getByLabel('Patient', { exact: true }).getByText('RIGHT-1').waitFor();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    const rows = await ada.query('SELECT c/uid/value AS uid FROM EHR e CONTAINS COMPOSITION c', {
      ehrId: right.id,
    });
    expect(rows.rows).toEqual([{ uid }]);
  });

  it('is told of on the overview, with the way there', async () => {
    const [source, target] = [
      await patient('NEEDS-1', '1980-02-03', 'b'),
      await patient('NEEDS-2', '1980-02-03', 'c'),
    ];
    await client('ada').admin.merges.merge({ source_ehr: source, target_ehr: target, reversible: true });
    await web.open('/administration');
    await web.pasteToken(['ADMIN'], 'ben');
    await web.page.getByRole('tab', { name: 'Audit' }).waitFor();
    await web.page.getByRole('link', { name: 'Overview', exact: true }).click();
    await web.page.getByRole('link', { name: /waits? for a second person/ }).click();
    await web.page.getByRole('link', { name: 'NEEDS-1', exact: true }).waitFor();
  });
});

inBrowser('an erasure that a second person approves (skipped where no Chromium is installed)', () => {
  const web = useConsole({ fourEyes: ['erase'] });
  const client = (name: string) =>
    new Cdr({ url: web.url, token: bearer(['ADMIN'], name).replace('Bearer ', '') });

  it('is named, with why and who wanted it, and done by another person alone', async () => {
    const { id } = await client('ada').ehr.create({ subject: { namespace: 'ward', id: 'GONE-1' } });
    await client('ada').admin.deleteEhr(id, { reason: 'a wish of the patient', requestedBy: 'ward 3' });
    await web.open('/administration?tab=merges');
    await web.pasteToken(['ADMIN'], 'ben');
    await web.page.getByText('Waiting for approval').waitFor();
    await web.page.getByRole('link', { name: 'GONE-1', exact: true }).waitFor();
    await web.page.getByText('Asked for by ada').waitFor();
    await web.page.getByText('a wish of the patient · asked for by ward 3').waitFor();
    await web.page.getByRole('button', { name: 'Show the plan' }).click();
    await web.page.getByRole('button', { name: 'Confirm this plan' }).waitFor();
    // What would go, and none of it as JSON.
    const plan = await web.page.locator('.plan-facts').innerText();
    expect(plan).toMatch(/\d/);
    expect(plan).not.toMatch(/[{}[\]"]/);
    await web.expectGood();
    await web.page.getByRole('button', { name: 'Confirm this plan' }).click();
    await web.page.getByText('Waiting for approval').waitFor({ state: 'detached' });
    const [confirmed] = await client('ada').admin.audit({ operation: 'confirmApproval', ehrId: id });
    expect(confirmed).toMatchObject({
      user: 'ben',
      reason: 'a wish of the patient',
      options: { requester: 'ada', requested_by: 'ward 3' },
    });
  });
});
