import { describe, expect, it } from '@jest/globals';
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

  it('are compared, and data move from one to the next and back', async () => {
    const cdr = new Cdr({ url: web.url, token: ADMIN.replace('Bearer ', '') });
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
    await web.page.getByRole('button', { name: 'Begin' }).click();
    await web.page.getByText('1 upgraded, 0 taken back, 0 left as they are').waitFor();
    await web.page.getByRole('button', { name: 'Take back' }).click();
    await web.page.getByText('1 upgraded, 1 taken back, 0 left as they are').waitFor();
    await web.expectGood();
  });
});
