import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Settings } from '../../../config/settings.js';
import { Cdr } from '../../../packages/client/src/main.js';
import { hasBrowser } from '../browser/browser.js';
import { useConsole } from '../browser/console.js';

const inBrowser = hasBrowser ? describe : describe.skip;

/** The pages of the console on a server of an edition of ITS-REST. */
export function consolePagesSuite(edition: string, settings: Partial<Settings>): void {
  inBrowser(`the console in a browser, ITS_REST=${edition} (skipped where no Chromium is installed)`, () => {
    const web = useConsole(settings);
    const { open, expectGood, forgive, write } = web;

    it('shows the server at a glance, in German and dark too', async () => {
      await open('/');
      await web.page.getByText('18', { exact: true }).waitFor();
      await expectGood();
      await web.page.locator('.user').click();
      await web.page.getByRole('menuitem', { name: 'Dark' }).click();
      await web.page.locator('.user').click();
      await web.page.getByRole('menuitem', { name: 'Deutsch' }).click();
      await web.page.getByRole('heading', { name: 'Neueste Contributions' }).waitFor();
      await web.page.getByRole('menu').waitFor({ state: 'hidden' });
      await expectGood();
    });

    it('shows what clients send and the server ignores, the commonest first', async () => {
      const ask = (parameter: string): Promise<Response> =>
        fetch(`${web.url}/rest/openehr/v1/definition/template/adl1.4?${parameter}=1`);
      for (const parameter of ['verbose', 'pretty', 'verbose', 'verbose'])
        expect((await ask(parameter)).status).toBe(200);
      await open('/');
      await web.page.getByText('What clients send and this server ignores').waitFor();
      const lines = web.page.locator('li', { hasText: /^parameter (verbose|pretty)/ });
      await lines.nth(1).waitFor();
      expect(await lines.allInnerTexts()).toEqual([
        expect.stringMatching(/^parameter verbose\s*3$/),
        expect.stringMatching(/^parameter pretty\s*1$/),
      ]);
      await expectGood();
    });

    it('finds a patient, shows his record, and reads a composition', async () => {
      await open('/patients');
      await web.page.locator('tbody tr').nth(1).waitFor();
      await web.page.getByRole('searchbox').fill('0002');
      await web.page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
      await expectGood();
      await web.page.getByRole('link', { name: 'P-0002' }).click();
      await web.page.getByRole('button', { name: /Systolic/ }).click();
      await web.page.getByRole('img', { name: /Systolic over time/ }).waitFor();
      await web.page.getByRole('button', { name: /Diastolic/ }).click();
      await web.page.getByRole('img', { name: 'Systolic, Diastolic over time' }).waitFor();
      await web.page.getByText('6 of 6 compositions').waitFor();
      await expectGood();
      await web.page.getByRole('combobox', { name: 'Only what holds an archetype' }).click();
      await web.page.getByRole('option', { name: /sample_blood_pressure/ }).click();
      await web.page.getByText(/^[1-5] of 6 compositions$/).waitFor();
      // What is chosen again is chosen no more.
      await web.page.getByRole('combobox', { name: 'Only what holds an archetype' }).click();
      await web.page.getByRole('option', { name: /sample_blood_pressure/ }).click();
      await web.page.getByText('6 of 6 compositions').waitFor();
      await web.page.locator('.composition-list a').first().click();
      await web.page.locator('.document').getByText('Systolic').first().waitFor();
      await web.page.getByText('mmHg').first().waitFor();
      await expectGood();
      await web.page.getByRole('tab', { name: 'FLAT' }).click();
      await web.page.getByText('/systolic|magnitude').first().waitFor();
    });

    it('commits a form, puts findings beside their fields, changes a version, and deletes it', async () => {
      const nobody = await new Cdr({ url: web.url }).ehr.create({});
      await open(`/patients/${nobody.id}`);
      await web.page.getByRole('button', { name: 'New composition' }).click();
      await web.page.getByRole('combobox', { name: 'Template' }).fill('blood_pressure');
      await web.page.getByRole('option', { name: /blood_pressure/ }).click();
      await web.page.getByLabel('Composer').first().fill('Ada Moe');
      await web.page.getByLabel('Systolic').first().fill('5000');
      await web.page.getByRole('button', { name: 'Save', exact: true }).click();
      await web.page.getByRole('alert').first().waitFor();
      await web.page.getByText(/must be .*1000/).waitFor();
      expect(await web.page.getByLabel('Systolic').first().getAttribute('aria-invalid')).toBe('true');
      forgive('422');
      await expectGood();
      await web.page.getByRole('button', { name: 'Fill with example' }).click();
      await web.page.getByRole('button', { name: 'Undo' }).waitFor();
      await web.page.getByLabel('Systolic').first().fill('131');
      await web.page.getByRole('button', { name: 'Save as draft' }).click();
      await web.page.getByText('draft', { exact: true }).waitFor();
      await web.page.getByText('131').first().waitFor();
      await web.page.getByRole('button', { name: 'Edit' }).click();
      await web.page.getByLabel('Systolic').first().fill('142');
      await web.page.getByRole('button', { name: 'Save', exact: true }).click();
      await web.page.getByText('Version 2', { exact: true }).waitFor();
      await web.page.getByText('142').first().waitFor();
      await expectGood();
      await web.page.getByRole('link', { name: 'Version 1' }).click();
      await web.page.getByText('This is an older version.').waitFor();
      await web.page.getByText('131').first().waitFor();
      expect(await web.page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
      await web.page.getByRole('button', { name: 'Restore' }).click();
      await web.page.getByRole('button', { name: 'Cancel' }).click();
      await web.page.getByRole('link', { name: 'Version 2' }).click();
      await web.page.getByText('142').first().waitFor();
      await web.page.getByRole('button', { name: 'Compare with the one shown' }).click();
      await web.page.locator('.differences del', { hasText: '131 mmHg' }).waitFor();
      await web.page.locator('.differences ins', { hasText: '142 mmHg' }).waitFor();
      await expectGood();
      await web.page.getByRole('button', { name: 'Show the document' }).click();
      await web.page.getByRole('button', { name: 'Delete' }).click();
      await web.page.getByText('Every version stays').waitFor();
      await web.page.getByRole('button', { name: 'Delete' }).click();
      await web.page.getByText('This composition was deleted').waitFor();
      await expectGood();
      await web.page.getByRole('button', { name: 'Restore' }).click();
      await web.page.getByText('A new version will hold this content.').waitFor();
      await web.page.getByRole('button', { name: 'Restore' }).click();
      await web.page.getByText('Version 4', { exact: true }).waitFor();
      await web.page.getByText('142').first().waitFor();
      await web.page.getByRole('button', { name: 'Delete' }).click();
      await web.page.getByText('Every version stays').waitFor();
      await web.page.getByRole('button', { name: 'Delete' }).click();
      await web.page.getByText('This composition was deleted').waitFor();
    });

    it('changes who a patient is and whether the record can be written to', async () => {
      await open('/patients');
      await web.page.getByRole('link', { name: 'P-0003' }).click();
      await web.page.getByRole('tab', { name: 'Status' }).click();
      await web.page.getByRole('button', { name: 'Edit' }).click();
      await web.page.getByLabel('Namespace of the subject').fill('');
      await web.page.getByText('Subject and namespace belong together.').waitFor();
      expect(await web.page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
      await web.page.getByLabel('Namespace of the subject').fill('ward');
      await web.page.getByLabel('Modifiable').uncheck();
      await expectGood();
      await web.page.getByRole('button', { name: 'Save' }).click();
      await web.page.getByText('not modifiable').waitFor();
      expect(await web.page.getByRole('button', { name: 'New composition' }).count()).toBe(0);
      await web.page.getByRole('button', { name: 'Edit' }).click();
      await web.page.getByLabel('Modifiable').check();
      await web.page.getByRole('button', { name: 'Save' }).click();
      await web.page.getByText('not modifiable').waitFor({ state: 'detached' });
    });

    it('files a document by mouse and by keyboard, and lists contributions and tags', async () => {
      await open('/patients');
      await web.page.getByRole('link', { name: 'P-0001' }).click();
      await web.page.getByRole('tab', { name: 'Directory' }).click();
      await web.page.getByRole('button', { name: 'Create the directory' }).click();
      // That there was none.
      forgive('404');
      await web.page.getByText('Not filed: 6').waitFor();
      await web.page.getByLabel('New folder in root').fill('Episode');
      await web.page.keyboard.press('Enter');
      const episode = web.page.locator('.folder .folder');
      await web.page.locator('.unfiled li').first().dragTo(episode.locator('summary'));
      await web.page.getByText('Not filed: 5').waitFor();
      await web.page.getByRole('combobox', { name: 'File a document in Episode' }).click();
      await web.page.getByRole('option').first().click();
      await expectGood();
      await web.page.getByRole('tab', { name: 'Contributions' }).click();
      await web.page.locator('.lines li').nth(5).waitFor();
      await expectGood();
      await web.page.getByRole('tab', { name: 'Tags' }).click();
      await web.page.getByText('No tags').waitFor();
    });

    it('runs a query with a parameter, draws it, explains it, and marks a mistake', async () => {
      const q = `SELECT c/context/start_time/value AS time, x/value/magnitude AS systolic
FROM EHR e CONTAINS COMPOSITION c CONTAINS ELEMENT x[at0004]`;
      await open(
        `/query?q=${encodeURIComponent(q.replace('ELEMENT x[at0004]', 'ELEMENT x WHERE x/value/magnitude > $least'))}`,
      );
      await web.page.getByLabel('$least').fill('60');
      await web.page.getByRole('button', { name: 'Run' }).click();
      await web.page.getByText(/\d+ rows/).waitFor();
      expect(await web.page.getByRole('cell').count()).toBeGreaterThan(10);
      await expectGood();
      await web.page.getByText('Chart', { exact: true }).click();
      await web.page.getByRole('img', { name: 'systolic by time' }).waitFor();
      await web.page.getByRole('button', { name: 'Explain' }).click();
      await web.page.locator('.stage').first().waitFor();
      await expectGood();
      await web.page.getByRole('button', { name: 'History' }).click();
      await web.page.getByRole('menuitem', { name: /x\/value\/magnitude AS systolic/ }).click();
      await web.page.getByRole('button', { name: 'Run' }).click();
      await web.page.getByText(/\d+ rows/).waitFor();
      // Six hours ago there was nothing yet.
      await web.page.getByRole('slider').press('ArrowRight');
      await web.page.getByRole('slider').press('ArrowRight');
      await web.page.getByText('No rows').waitFor();
      await write('SELECT e FORM EHR e');
      await web.page.keyboard.press('Control+Enter');
      await web.page.locator('.cm-lintRange-error').waitFor();
      await web.page.getByText(/did you mean FROM/).waitFor();
    });

    it('keeps rows beside their plan, and a text that was not run; cancels what runs', async () => {
      await open('/query');
      await write('SELECT e/ehr_id/value AS id FROM EHR e LIMIT 3');
      await web.page.keyboard.press('Control+Enter');
      await web.page.getByText(/^3 rows/).waitFor();
      await web.page.getByRole('button', { name: 'Explain' }).click();
      await web.page.locator('.stage').first().waitFor();
      // All of it in a line, before the stages.
      await web.page
        .getByRole('status')
        .getByText(/^\d+ documents? read, 3 rows out, in [\d.]+ m?s · (no index|by \S+)/)
        .waitFor();
      await web.page.getByText('Table', { exact: true }).click();
      await web.page.getByText(/^3 rows/).waitFor();
      await expectGood();
      const id = web.page.getByRole('cell').getByRole('link').first();
      await id.waitFor();
      expect(await id.getAttribute('href')).toContain(`/patients/${await id.innerText()}`);
      const edge = web.page.getByRole('separator', { name: 'Width of id' });
      const width = Number(await edge.getAttribute('aria-valuenow'));
      await edge.press('ArrowRight');
      expect(Number(await edge.getAttribute('aria-valuenow'))).toBeGreaterThan(width);
      await write(`SELECT o/data[at0001]/events[at9999]/time/value AS at
FROM OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]`);
      await web.page.keyboard.press('Control+Enter');
      // What nobody could have stored is no empty cell without a word.
      await web.page.getByText(/Line 1, column \d+: no stored template has the node at9999/).waitFor();
      await web.page.getByRole('cell', { name: 'NULL' }).first().waitFor();
      await web.page.getByRole('button', { name: 'Explain' }).click();
      await web.page.locator('.stage').first().waitFor();
      await expectGood();
      await web.page.route('**/query/aql', () => undefined);
      const ended = web.page.waitForEvent('requestfailed');
      await web.page.keyboard.press('Escape');
      await web.page.getByRole('button', { name: 'Run' }).click();
      await web.page.getByRole('button', { name: 'Cancel' }).click();
      expect((await ended).url()).toContain('/query/aql');
      await web.page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
      // What was there before is there again.
      await web.page.locator('.stage').first().waitFor();
      await web.page.unroute('**/query/aql');
      await expectGood();
      await write('SELECT e FROM EHR e LIMIT 77');
      await web.page.getByRole('navigation').getByRole('link', { name: 'Patients' }).click();
      await web.page.getByRole('heading', { name: 'Patients' }).waitFor();
      await web.page.getByRole('navigation').getByRole('link', { name: 'Query' }).click();
      // What was run before is still known.
      await web.page.getByRole('button', { name: 'History' }).click();
      await web.page
        .getByRole('menuitem', { name: /SELECT e\/ehr_id\/value AS id FROM EHR e LIMIT 3/ })
        .waitFor();
      await web.page.keyboard.press('Escape');
      await web.page.getByText('LIMIT 77').waitFor();
    });

    it('completes, checks, explains and lays out AQL as it is typed', async () => {
      await open('/query');
      const editor = web.page.locator('.cm-content');
      const offered = web.page.locator('.cm-tooltip-autocomplete');
      // From a blank page on: what may stand behind a word is offered.
      await write('');
      await editor.pressSequentially('select ');
      await offered.getByRole('option').first().waitFor();
      await web.page.keyboard.press('Escape');
      await write('select c from COMPOSITION c where');
      await editor.press('End');
      await editor.pressSequentially(' ');
      await offered.getByRole('option', { name: /^c\b/ }).first().waitFor();
      await web.page.keyboard.press('Escape');
      await write('');
      await editor.pressSequentially('select o/data[at0001] from EHR e contains COMP');
      await offered.getByText('COMPOSITION', { exact: true }).waitFor();
      await web.page.keyboard.press('Escape');
      await editor.pressSequentially('OSITION c contains OBSERVATION o[');
      await offered.getByText('openEHR-EHR-OBSERVATION.sample_blood_pressure').first().waitFor();
      await expectGood();
      await web.page.keyboard.press('Escape');
      await write('select o/data[at0001]/events[at0006] from EHR e contains COMPOZITION o');
      // No request: the words of the server, before it was asked.
      await web.page.locator('.cm-lintRange-error').hover();
      await web.page.getByText(/did you mean COMPOSITION/).waitFor();
      await write(
        'select o/data[at0001]/events[at0006] from EHR e contains OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]',
      );
      await web.page.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
      await web.page.getByRole('button', { name: 'Format' }).click();
      expect(await editor.innerText()).toContain('\nFROM EHR e CONTAINS OBSERVATION o');
      const path = web.page.getByRole('dialog').locator('.tree-node', { hasText: /^Systolic / });
      await web.page.getByRole('button', { name: 'Paths' }).click();
      await web.page.getByRole('combobox', { name: 'Template' }).click();
      await web.page.getByRole('option', { name: /blood_pressure/ }).click();
      await path.first().click();
      await web.page
        .getByText(/o\/data\[at0001\]\/events\[at0002\].*magnitude$/)
        .first()
        .waitFor();
      expect(await editor.innerText()).toContain('/items[at0004]/value/magnitude');
      await web.page
        .getByRole('dialog')
        .locator('.tree-node', { hasText: /^Diastolic / })
        .first()
        .click();
      await web.page.getByRole('button', { name: 'Add a condition' }).click();
      await web.page.keyboard.type('80');
      const picked = (await editor.innerText()).replaceAll(/\s+/g, ' ');
      // A column each, in their order, and a condition: a query, whatever was clicked first.
      expect(picked).toMatch(
        /^SELECT .*at0004\]\/value\/magnitude, .*at0005\]\/value\/magnitude FROM .* WHERE .*at0005\]\S+ = 80$/,
      );
      await web.page.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
      await expectGood();
      await web.page.getByRole('button', { name: 'Close' }).click();
      await write(
        'select o/ from EHR e contains OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]',
      );
      await editor.press('Control+Home');
      for (let moved = 0; moved < 'select o/'.length; moved += 1) await web.page.keyboard.press('ArrowRight');
      await editor.pressSequentially('sys');
      const systolic = offered.getByRole('option', { name: /^Systolic · magnitude/ });
      await systolic.waitFor();
      // The term is whole, and the whole path beside it.
      expect(await systolic.evaluate((row) => row.scrollWidth <= row.clientWidth)).toBe(true);
      // The editor takes no key for a choice that has only just come to be offered.
      await web.page.waitForTimeout(300);
      await web.page.keyboard.press('Enter');
      expect(await editor.innerText()).toMatch(
        /^select o\/data\[at0001\]\S+\[at0004\]\/value\/magnitude from/,
      );
      await web.page.getByRole('button', { name: 'Save', exact: true }).click();
      await web.page.getByLabel('Name', { exact: false }).fill('org.example::pressure');
      await web.page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
      await editor.press('End');
      await editor.pressSequentially(' LIMIT 5');
      await web.page.getByRole('button', { name: 'Compare' }).click();
      await web.page.locator('.cm-changedLine, .cm-insertedLine').first().waitFor();
      await expectGood();
      await web.page.keyboard.press('Escape');
      await web.page.getByRole('dialog').waitFor({ state: 'hidden' });
      await write('SELECT FROM');
      await web.page.getByRole('button', { name: 'Format' }).click();
      await web.page.getByRole('alert').waitFor();
      await expectGood();
    });

    it('shows a template, its nodes and an example', async () => {
      await open('/templates');
      await web.page.getByRole('link', { name: 'Corona_Anamnese' }).click();
      await web.page.getByText('"bericht/category|code"').waitFor();
      await web.page.getByText(/^\d+ compositions$/).waitFor();
      await web.page.getByRole('combobox', { name: 'Compare with another template' }).click();
      await web.page.getByRole('option', { name: /blood_pressure/ }).click();
      await web.page.locator('.template-differences li').nth(3).waitFor();
      await web.page.getByRole('searchbox').fill('Temperatur');
      await web.page
        .locator('.tree-node', { hasText: /^Temperatur / })
        .first()
        .click();
      await web.page.getByText(/items\[at0004\]/).waitFor();
      await expectGood();
      // A table to take along, without a word of AQL typed.
      await web.page.getByRole('button', { name: 'Query this' }).click();
      await web.page.getByRole('button', { name: 'Run' }).click();
      await web.page.getByText(/^[1-9]\d* rows/).waitFor();
      const file = async (name: string): Promise<string> => {
        const saved = web.page.waitForEvent('download');
        await web.page.getByRole('button', { name, exact: true }).click();
        return readFileSync(await (await saved).path(), 'utf8');
      };
      const csv = await file('CSV');
      expect(csv).toMatch(/^ehr,time,value,unit\r\n[\da-f-]{36},\d{4}-\d\d-\d\dT[^,]+,\d+(\.\d+)?,[^,]+\r\n/);
      const [first = ''] = (await file('NDJSON')).split('\n');
      expect(csv).toContain(String((JSON.parse(first) as unknown[])[0]));
      await web.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      for (const [name, part] of [
        ['curl', `curl -X POST '${web.url}/rest/openehr/v1/query/aql'`],
        ['TypeScript', `new Cdr({ url: "${web.url}" })`],
      ] as const) {
        await web.page.getByRole('button', { name: /^Cop/ }).click();
        await web.page.getByRole('menuitem', { name, exact: true }).click();
        await web.page.getByRole('button', { name: 'Copied' }).waitFor();
        expect(await web.page.evaluate<string>('navigator.clipboard.readText()')).toContain(part);
      }
    });
  });
}
