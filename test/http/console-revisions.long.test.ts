import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureText } from '../support/fixture.js';
import { secondOpt } from '../support/openehr/revisions.js';
import { aComposition } from '../support/resources.js';
import { ADMIN } from '../support/tokens.js';

const inBrowser = hasBrowser ? describe : describe.skip;
const NAME = 'minimal_evaluation.en.v1';
const VALUE = '/content[openEHR-EHR-EVALUATION.minimal.v1]/data[at0001]/items[at0002]/value';

inBrowser('revisions of a template (skipped where no Chromium is installed)', () => {
  const web = useConsole({ auth: 'jwt', templateRevisions: true });

  /** Number and documents of each revision, as the table has them. */
  async function uses(): Promise<string[]> {
    const rows = await web.page.locator('tbody tr:has(td.number)').all();
    return Promise.all(
      rows.map(async (row) => {
        const cells = await row.locator('td').allInnerTexts();
        return `${cells[0]} ${cells[2]}`;
      }),
    );
  }

  const server = () => new Cdr({ url: web.url, token: ADMIN.replace('Bearer ', '') });

  it('are compared, and data move from one to the next and back', async () => {
    const cdr = server();
    await cdr.templates.upload(fixtureText(`opt/${NAME}.opt`));
    const { id } = await cdr.ehr.create();
    const inGrams = JSON.stringify(aComposition(NAME)).replace('"units":"kg"', '"units":"gm"');
    const body: unknown = JSON.parse(inGrams);
    await cdr.request('POST', `/rest/openehr/v1/ehr/${id}/composition`, { body });
    await cdr.templates.upload(secondOpt('a unit is replaced by another'));
    expect((await cdr.templates.revisions(NAME)).map(({ revision }) => revision)).toEqual(['2', '1']);
    await web.open(`/templates/${NAME}`);
    await web.pasteToken(['ADMIN']);
    await web.page.getByRole('button', { name: 'Compare with the one before' }).click();
    await web.page.getByText('Some data would not be valid any more').first().waitFor();
    await web.page.getByRole('button', { name: 'Judge some stored documents by it' }).click();
    await web.page.getByText('0 valid (0 of them unproven), 1 not, 0 of other revisions').waitFor();
    await web.page.getByText(/^1 × The value "gm" must be one of/).waitFor();
    const rules = { rules: [{ unit: VALUE, from: 'gm', to: 'g', factor: 1 }] };
    await web.page.getByLabel('Rules (JSON)').fill(JSON.stringify(rules));
    await web.page.getByRole('button', { name: 'Show what it would do' }).click();
    await web.page.getByText('From 1 to 2: 0 valid as they are, 1 by the rules, 0 not').waitFor();
    const examples = web.page.locator('.upgrade-examples');
    await examples.locator('summary').click();
    await examples.locator('del').getByText('gm').waitFor();
    await examples.locator('ins').getByText('g').waitFor();
    expect(await uses()).toEqual(['2 0', '1 1']);
    await web.page.getByRole('button', { name: 'Begin' }).click();
    await web.page.getByText('1 upgraded, 0 taken back, 0 left as they are').waitFor();
    await web.page.reload();
    await web.pasteToken(['ADMIN']);
    await web.page.getByRole('button', { name: 'Take back' }).waitFor();
    expect(await uses()).toEqual(['2 1', '1 1']);
    await web.page.getByRole('button', { name: 'Take back' }).click();
    await web.page.getByText('1 upgraded, 1 taken back, 0 left as they are').waitFor();
    await web.expectGood();
  });

  it('show an upgrade that goes on, which is paused and goes on again', async () => {
    const jobs = mongoose.connection.collection('template_upgrades');
    // As if its server had been killed before the first COMPOSITION, which was taken back.
    await jobs.updateOne({}, { $set: { state: 'running' }, $unset: { finished_at: 1 } });
    await web.open('/administration?tab=server');
    await web.pasteToken(['ADMIN']);
    await web.page.getByText(/Upgrade of the data of a template · \d+ of \d+ records/).waitFor();
    await web.open(`/templates/${NAME}`);
    await web.page.getByText('under way').waitFor();
    await web.page.getByRole('button', { name: 'Pause' }).click();
    await web.page.getByText('paused').waitFor();
    expect(await jobs.findOne({})).toMatchObject({ state: 'paused' });
    await web.page.getByRole('button', { name: 'Go on' }).click();
    await web.page.locator('.jobs b').getByText('done', { exact: true }).waitFor();
    await web.page.getByText('2 upgraded, 1 taken back, 0 left as they are').waitFor();
    expect(await jobs.findOne({})).toMatchObject({ state: 'done' });
    await web.expectGood();
  });

  it('are removed when somebody is sure, of which none judged anything', async () => {
    const names = async () => (await server().templates.revisions(NAME)).map(({ revision }) => revision);
    await server().templates.upload(secondOpt('a node is added'));
    await web.open(`/templates/${NAME}`);
    await web.pasteToken(['ADMIN']);
    // Only one of the three can be.
    const remove = web.page.getByRole('button', { name: 'Remove' });
    await remove.waitFor();
    web.page.once('dialog', (dialog) => void dialog.dismiss());
    await remove.click();
    expect(await names()).toEqual(['3', '2', '1']);
    web.page.once('dialog', (dialog) => void dialog.accept());
    await remove.click();
    await remove.waitFor({ state: 'detached' });
    expect(await names()).toEqual(['2', '1']);
    await web.expectGood();
  });

  it('differ in German where it is read', async () => {
    await web.page.addInitScript("localStorage.setItem('everchart-language', JSON.stringify('de'))");
    await web.open(`/templates/${NAME}`);
    await web.pasteToken(['ADMIN']);
    await web.page.getByRole('button', { name: 'Mit der vorigen vergleichen' }).click();
    const differences = web.page.locator('.template-differences');
    await differences.getByText('Einheiten geändert').waitFor();
    await differences.getByText('Manche Daten wären nicht mehr gültig').waitFor();
    await web.page.getByText('Es kann Daten geben, die nicht mehr gültig wären').waitFor();
    expect(await differences.innerText()).not.toMatch(/Units|changed|Some data|would/);
    await web.page.getByLabel('Regeln (JSON)').fill('{"rules": []}');
    await web.page.getByRole('button', { name: 'Zeigen, was das täte' }).click();
    await web.page.getByText(/^Von 1 (zu|nach|auf) 2/).waitFor();
    await web.expectGood();
  });
});
