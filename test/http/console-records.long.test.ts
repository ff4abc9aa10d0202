import { describe, expect, it } from '@jest/globals';
import { Cdr, type EHR_STATUS } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureJson, fixtureText, templateNames } from '../support/fixture.js';
import { ADMIN } from '../support/tokens.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('records and templates in the console (skipped where no Chromium is installed)', () => {
  const web = useConsole();
  const { open, expectGood, forgive, forgiveAll } = web;
  const client = () => new Cdr({ url: web.url });

  /** Gives the template id; the server may have it already. */
  const upload = (name: string) =>
    client()
      .templates.upload(fixtureText(`opt/${name}.opt`))
      .catch(() => name);

  it('offers an auditor who has seen and done what, and nothing that needs an administrator', async () => {
    await open('/administration');
    await web.pasteToken(['AUDITOR']);
    await web.page.getByRole('tab', { name: 'Audit' }).waitFor();
    expect(await web.page.getByRole('tab').allTextContents()).toEqual(['Permissions', 'Audit']);
    await web.page.getByRole('tab', { name: 'Audit' }).click();
    await web.page
      .getByRole('cell', { name: /getPermissions|made a record/ })
      .first()
      .waitFor();
    await expectGood();
    await web.page.getByRole('link', { name: 'Patients', exact: true }).click();
    await web.page.getByRole('link', { name: 'P-0001', exact: true }).click();
    await web.page.getByRole('tab', { name: 'Access' }).click();
    await web.page.getByRole('cell', { name: 'made a record' }).waitFor();
    await expectGood();
  });

  it('leads from a record that was merged to the one that holds its data', async () => {
    const subject = { namespace: 'ward', id: 'P-merged' };
    const [source, target] = [await client().ehr.create({}), await client().ehr.create({ subject })];
    const admin = new Cdr({ url: web.url, token: ADMIN.replace('Bearer ', '') });
    await admin.admin.merges.merge({ source_ehr: source.id, target_ehr: target.id, reversible: true });
    await open(`/patients/${source.id}`);
    await web.page.getByRole('link', { name: 'Open the record that it was merged into' }).first().click();
    await web.page.getByText('P-merged').first().waitFor();
    expect(new URL(web.page.url()).hash).toBe(`#/patients/${target.id}`);
    forgive('404');
    await expectGood();
  });

  it('says to whoever may do neither what is missing', async () => {
    await open('/administration');
    await web.pasteToken(['USER']);
    await web.page.getByText('this needs the permission admin').waitFor();
    forgive('403');
    await expectGood();
  });

  it('finds a patient by an identifier and by an AQL filter, and lists all of them to an administrator', async () => {
    const name = { _type: 'DV_TEXT', value: 'insurance' };
    const value = { _type: 'DV_IDENTIFIER', id: 'INS-4711', issuer: 'AOK' };
    const items = [{ _type: 'ELEMENT', archetype_node_id: 'at0002', name, value }];
    const status = {
      _type: 'EHR_STATUS',
      archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
      name,
      subject: {
        _type: 'PARTY_SELF',
        external_ref: {
          _type: 'PARTY_REF',
          namespace: 'ward',
          type: 'PERSON',
          id: { _type: 'GENERIC_ID', value: 'P-hidden', scheme: 'x' },
        },
      },
      other_details: { _type: 'ITEM_TREE', archetype_node_id: 'at0001', name, items },
      is_queryable: false,
      is_modifiable: true,
    };
    await client().ehr.create({ status: status as unknown as EHR_STATUS });
    await open('/patients');
    const search = web.page.getByRole('searchbox');
    const hidden = web.page.getByRole('link', { name: 'P-hidden' });
    await web.page.getByRole('link', { name: 'P-0001' }).waitFor();
    expect([await hidden.count(), await web.page.getByLabel('All records').count()]).toEqual([0, 0]);
    await search.fill('INS-471');
    await web.page.getByText('No patient fits').waitFor();
    await search.fill('INS-4711');
    await hidden.waitFor();
    await web.page.getByText('not queryable').waitFor();
    await expectGood();
    await search.fill('');
    await web.page.getByRole('button', { name: 'Filter by AQL' }).click();
    await web.page.getByLabel('AQL condition').fill("CONTAINS COMPOSITION c WHERE c/name/value = 'no such'");
    await web.page.getByRole('button', { name: 'Apply' }).click();
    await web.page.getByText('No patient fits').waitFor();
    await web.page.getByRole('button', { name: 'Filter by AQL' }).click();
    await web.page.getByLabel('AQL condition').fill('CONTAINS COMPOSITION c');
    await web.page.getByRole('button', { name: 'Apply' }).click();
    await web.page.getByRole('link', { name: 'P-0001' }).waitFor();
    await open('/administration');
    await web.pasteToken(['ADMIN']);
    await web.page.getByRole('tab', { name: 'Erase' }).waitFor();
    await web.page.getByRole('link', { name: 'Patients', exact: true }).click();
    await web.page.getByLabel('All records').check();
    expect(web.page.url()).toContain('all=yes');
    await hidden.waitFor();
    await web.page.getByRole('link', { name: 'P-0001' }).waitFor();
    await expectGood();
  });

  it('lists the tags of a record with what they are on', async () => {
    const { id: ehrId } = await client().ehr.create({});
    const template = await upload('minimal_evaluation.en.v1');
    const content = await client().templates.example(template);
    await client()
      .ehr(ehrId)
      .compositions.commit(content, { tags: [{ key: 'ward', value: '3 east' }] });
    await open(`/patients/${ehrId}?tab=tags`);
    await web.page.getByRole('cell', { name: '3 east' }).waitFor();
    await expectGood();
    await web.page
      .getByRole('row', { name: /3 east/ })
      .getByRole('link')
      .click();
    await web.page.getByRole('tab', { name: 'FLAT' }).waitFor();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    await expectGood();
  });

  it('keeps the rail where a page cannot be drawn, and goes on when it can', async () => {
    await web.page.route('**/tags', (route) => route.fulfill({ json: [{ key: 'no target' }] }));
    await open('/patients');
    await web.page.getByRole('link', { name: 'P-0001' }).click();
    await web.page.getByRole('tab', { name: 'Tags' }).click();
    await web.page.getByText('This page could not be shown').waitFor();
    await web.page.unroute('**/tags');
    await web.page.getByRole('link', { name: 'Patients', exact: true }).click();
    await web.page.getByRole('link', { name: 'P-0002' }).waitFor();
    // What broke is named on the console of the browser.
    forgive('reading');
    await expectGood();
  });

  it('gives a composition in every format to copy', async () => {
    await open('/patients');
    await web.page.getByRole('link', { name: 'P-0001' }).click();
    await web.page.locator('.composition-list a').first().click();
    await web.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    for (const [format, part] of [
      ['JSON', '"_type": "COMPOSITION"'],
      ['XML', '\n  <name>\n    <value>'],
      ['STRUCTURED', '"category"'],
    ] as const) {
      await web.page.getByRole('tab', { name: format }).click();
      const shown = web.page.getByLabel(format, { exact: true }).and(web.page.locator('pre'));
      await shown.waitFor();
      expect(await shown.textContent()).toContain(part);
      await web.page.getByRole('button', { name: 'Copy', exact: true }).click();
      await web.page.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await web.page.evaluate('navigator.clipboard.readText()')).toBe(await shown.textContent());
    }
    await expectGood();
  });

  it('takes a template from a file, and says in words why it takes one not', async () => {
    const file = (name: string, text: string) => ({
      name,
      mimeType: 'text/xml',
      buffer: Buffer.from(text),
    });
    await open('/templates');
    const input = web.page.locator('input[type=file]');
    await input.setInputFiles(
      file('no.opt', '<template xmlns="http://schemas.openehr.org/v1"><language/></template>'),
    );
    await web.page.getByRole('alert').getByText('Supplied template has nil or empty concept').waitFor();
    forgive('40');
    forgive('422');
    await expectGood();
    await input.setInputFiles(file('all.opt', fixtureText('opt/test_all_types.en.v1.opt')));
    await web.page.getByRole('heading', { name: 'test_all_types.en.v1' }).waitFor();
    await expectGood();
    await open('/templates');
    await web.page.getByRole('link', { name: 'test_all_types.en.v1' }).waitFor();
  });

  it('shows every kind of value of a document', async () => {
    await upload('test_all_types.en.v1');
    const ehr = await client().ehr.create({ subject: { namespace: 'ward', id: 'every-kind' } });
    const pixel =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const content = JSON.parse(
      JSON.stringify(fixtureJson('composition/test_all_types.en.v1.json'))
        .replace(
          '"uri":{"_type":"DV_URI","value":"www.iana.org"},"media_type"',
          `"data":"${pixel}","media_type"`,
        )
        .replace('image/jpeg', 'image/png'),
    ) as Record<string, unknown>;
    // The server gives its own.
    delete content['uid'];
    const { uid } = await ehr.compositions.commit(content);
    await open(`/patients/${ehr.id}/compositions/${encodeURIComponent(uid)}`);
    const picture = web.page.locator('.document img.picture');
    await picture.waitFor();
    expect(await picture.evaluate((image) => (image as { naturalWidth?: number }).naturalWidth)).toBe(1);
    await expectGood();
  });

  it('says what is not there: an unknown record, an unknown address', async () => {
    await open('/patients/7d44b88c-4199-4bad-97dc-d78268e01398');
    await web.page.getByText(/does not exist/).waitFor();
    // Several requests are about the record, and the last may be refused when the page has said it.
    forgiveAll('404');
    await expectGood();
    await open('/nothing/here');
    await web.page.getByText('Nothing is at this address.').waitFor();
    await expectGood();
    await open('/patients?find=nobody');
    await web.page.getByText('No patient fits').waitFor();
    await expectGood();
  });

  it('fills the form of every public template with its example and commits it', async () => {
    const { id: ehrId } = await client().ehr.create({});
    const refused: string[] = [];
    for (const name of templateNames()) {
      const templateId = await upload(name);
      await open(`/patients/${ehrId}/form?template=${encodeURIComponent(templateId)}`);
      // The form of one that was refused stays until its draft is kept.
      await web.page.getByRole('alert').first().waitFor({ state: 'detached' });
      await web.page.getByRole('button', { name: 'Fill with example' }).click();
      await web.page.getByRole('button', { name: 'Undo' }).waitFor();
      await web.page.getByRole('button', { name: 'Save', exact: true }).click();
      // Not what the message says, which comes before the page.
      const version = web.page.getByText(/^Version 1/);
      await version.or(web.page.getByRole('alert')).first().waitFor();
      if ((await version.count()) === 0) refused.push(name);
    }
    // Its content must be one of eight things and holds all of them: nothing is valid.
    expect(refused).toEqual(['cardinality_of_section']);
    // Of many templates one is found by a piece of its name.
    await open('/templates');
    const known = (name: string) => web.page.getByRole('link', { name, exact: true });
    await known('Corona_Anamnese').waitFor();
    await web.page.getByLabel('Find templates').fill('MAL_ADM');
    await known('Corona_Anamnese').waitFor({ state: 'detached' });
    await known('minimal_admin.en.v1').waitFor();
  });
});
