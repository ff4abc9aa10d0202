import { describe, expect, it } from '@jest/globals';
import type { Settings } from '../../../config/settings.js';
import { Cdr } from '../../../packages/client/src/main.js';
import { hasBrowser } from '../browser/browser.js';
import { useConsole } from '../browser/console.js';
import { fixtureText } from '../fixture.js';
import { bearer } from '../tokens.js';

const inBrowser = hasBrowser ? describe : describe.skip;

/**
 * Counts what a hand does: how often a button of the mouse goes down. What the page makes of keys, or of a label, is no click, nor
 * is `fill()`, which goes to a field as Tab does.
 */
const COUNT = `addEventListener('pointerdown', () => {
  sessionStorage.setItem('clicks', String(Number(sessionStorage.getItem('clicks')) + 1));
}, true)`;

/** The work of five people on a server of an edition of ITS-REST. */
export function consoleWalksSuite(edition: string, settings: Partial<Settings>): void {
  inBrowser(
    `the work of five people, each task alone and with few clicks, ITS_REST=${edition} (skipped where no Chromium is installed)`,
    () => {
      const web = useConsole(settings);
      const client = () => new Cdr({ url: web.url });
      /** Clicks since it was asked last. */
      const clicks = async () => {
        const count = await web.page.evaluate<string | null>("sessionStorage.getItem('clicks')");
        await web.page.evaluate("sessionStorage.removeItem('clicks')");
        return Number(count);
      };
      const begin = async (view: string) => {
        await web.page.addInitScript(COUNT);
        await web.open(view);
        // One that counts nothing would find every task short.
        await web.page.locator('main').waitFor();
        await web.page.mouse.click(1, 1);
        expect(await clicks()).toBe(1);
      };
      const openRecord = async (name = 'P-0001') => {
        await begin('/patients');
        await web.page.getByRole('link', { name }).click();
        await web.page.getByText(/^\d+ of \d+ compositions$/).waitFor();
        await clicks();
      };
      /** A form of a new blood pressure of a patient. */
      const openForm = async (name: string) => {
        await openRecord(name);
        await web.page.getByRole('button', { name: 'New composition' }).click();
        await web.page.getByRole('combobox', { name: 'Template' }).click();
        await web.page.getByRole('option', { name: /blood_pressure/ }).click();
        await web.page.getByLabel(/Syst/).first().waitFor();
      };
      const signIn = async (view: string) => {
        await begin(view);
        await web.pasteToken(['ADMIN'], 'ben');
        await web.page.getByRole('tab', { name: 'Server' }).waitFor();
        await clicks();
      };

      it('a physician finds a patient by keys alone, and sees what documents say', async () => {
        await begin('/');
        await web.page.getByRole('heading', { name: 'Overview' }).waitFor();
        await web.page.keyboard.press('Control+K');
        await web.page.keyboard.type('P-0001');
        await web.page.keyboard.press('Enter');
        await web.page.getByText('6 of 6 compositions').waitFor();
        await web.page.locator('.content-line').first().waitFor();
        expect(await web.page.locator('.content-line').allInnerTexts()).toContainEqual(
          expect.stringMatching(/\d+\/\d+ mmHg/),
        );
        expect(await clicks()).toBe(0);
      });

      it('a physician plots a value (1), reads a document (1), compares two versions (1)', async () => {
        await openRecord();
        await web.page.locator('.trend').first().click();
        await web.page.getByText('The values as a table').waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
        await web.page.locator('.composition-list a').first().click();
        await web.page.getByText('Version 1', { exact: true }).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
        const [, ehrId = '', uid = ''] =
          /patients\/([^/]+)\/compositions\/([^/?]+)/.exec(web.page.url()) ?? [];
        await client()
          .ehr(ehrId)
          .compositions.update(
            decodeURIComponent(uid),
            (now) => JSON.parse(JSON.stringify(now).replace(/"magnitude":[\d.]+/, '"magnitude":41')) as never,
          );
        await web.page.goBack();
        await web.page.reload();
        await web.page.locator('.composition-list a').first().click();
        await web.page.getByText('Version 2', { exact: true }).waitFor();
        await clicks();
        await web.page.getByRole('button', { name: 'Compare with the one shown' }).click();
        await web.page.locator('.differences ins', { hasText: '41' }).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
      });

      it('a physician chooses a code (2), repeats a section (1), and is led to a mistake (1)', async () => {
        await openForm('P-0002');
        await clicks();
        await web.page
          .getByRole('combobox', { name: /^Position/ })
          .first()
          .click();
        await web.page.getByRole('option').first().click();
        expect(await clicks()).toBeLessThanOrEqual(2);
        const systolic = web.page.getByLabel(/^Systolic/);
        const before = await systolic.count();
        await web.page.getByRole('button', { name: /^Add Blood pressure/ }).click();
        await systolic.nth(before).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
        await systolic.first().fill('5000');
        await web.page.getByRole('button', { name: 'Save', exact: true }).click();
        await web.page.locator('form :focus[aria-invalid=true]').waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
      });

      it('a physician writes and drafts (5), corrects (3), deletes (2) and takes it back (1)', async () => {
        await openRecord();
        await web.page.getByRole('button', { name: 'New composition' }).click();
        await web.page.getByRole('combobox', { name: 'Template' }).click();
        await web.page.getByRole('option', { name: /blood_pressure/ }).click();
        await web.page.getByLabel(/Syst/).first().fill('128');
        await web.page.getByRole('button', { name: 'Save as draft' }).click();
        await web.page.getByText('Version 1', { exact: true }).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(5);
        await web.page.getByRole('button', { name: 'Edit' }).click();
        await web.page.getByLabel(/Syst/).first().fill('130');
        await web.page.getByRole('button', { name: 'Save as draft' }).click();
        await web.page.getByText('Version 2', { exact: true }).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(3);
        await web.page.getByRole('button', { name: 'Delete', exact: true }).click();
        await web.page.getByRole('button', { name: 'Delete', exact: true }).click();
        await web.page.getByRole('status').getByRole('button', { name: 'Undo' }).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(2);
        await web.page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
        await web.page.getByText('Version 4', { exact: true }).waitFor();
        // What was a draft is one again.
        await web.page.locator('.flag', { hasText: 'draft' }).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
      });

      it('an analyst runs a query (1), plots it (1), takes it along (1), sees how it is found (1)', async () => {
        await begin('/query');
        await web.write(
          'SELECT o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value/magnitude AS systolic FROM EHR e CONTAINS OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]',
        );
        await web.page.getByRole('button', { name: 'Run' }).click();
        await web.page.getByText(/^[1-9]\d* rows/).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
        await web.page.getByText('Chart', { exact: true }).click();
        await web.page.locator('.below canvas').first().waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
        const saved = web.page.waitForEvent('download');
        await web.page.getByRole('button', { name: 'CSV', exact: true }).click();
        await saved;
        expect(await clicks()).toBeLessThanOrEqual(1);
        const rows = web.page.waitForEvent('download');
        await web.page.getByRole('button', { name: 'NDJSON', exact: true }).click();
        await rows;
        expect(await clicks()).toBeLessThanOrEqual(1);
        await web.page.getByRole('button', { name: 'Explain' }).click();
        await web.page.locator('.stages li').first().waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
      });

      it('an analyst asks by clicks alone (3, 1 for each more), with a value (1), and stores it (3)', async () => {
        await begin('/query');
        await web.write(
          'SELECT e/ehr_id/value AS ehr FROM EHR e CONTAINS OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]',
        );
        await web.page.getByRole('button', { name: 'Paths' }).click();
        const node = (name: string) =>
          web.page.getByRole('dialog').locator('.tree-node', { hasText: new RegExp(`^${name} `) });
        await node('Systolic').first().click();
        await web.page.locator('.cm-content', { hasText: /at0004\]\/value\/magnitude/ }).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(3);
        await node('Diastolic').first().click();
        await web.page.locator('.cm-content', { hasText: /at0005\]\/value\/magnitude/ }).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
        await web.page.locator('.cm-content').press('Control+Enter');
        await web.page.getByText(/^[1-9]\d* rows/).waitFor();
        await web.page.getByRole('button', { name: 'Close' }).click();
        await clicks();
        await web.write(
          'SELECT e/ehr_id/value AS ehr FROM EHR e WHERE e/ehr_status/subject/external_ref/id/value = $who',
        );
        await web.page.getByLabel('$who').fill('P-0001');
        await web.page.keyboard.press('Enter');
        await web.page.getByText(/^1 row/).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
        await web.page.getByRole('button', { name: 'Save', exact: true }).click();
        await web.page.getByLabel('Name', { exact: true }).fill('org.walk::who');
        await web.page.keyboard.press('Enter');
        await web.page.getByText('Stored as org.walk::who/1.0.0').waitFor();
        expect(await clicks()).toBeLessThanOrEqual(3);
      });

      it('a modeller uploads what is broken and what is good (1), compares (3), looks at a node and queries it (3)', async () => {
        await begin('/templates');
        const upload = async (opt: string) => {
          const choosing = web.page.waitForEvent('filechooser');
          await web.page.locator('.drop').getByRole('button', { name: 'Choose a file' }).click();
          const file = { name: 'a.opt', mimeType: 'application/xml', buffer: Buffer.from(opt) };
          await (await choosing).setFiles(file);
        };
        const opt = fixtureText('opt/minimal_admin.en.v1.opt');
        await upload(opt.replace('</concept>', '</concepts>'));
        await web.page
          .getByRole('alert')
          .getByText(/\(line \d+, column \d+\)/)
          .waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
        await upload(opt);
        await web.page.locator('.tree-node').first().waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
        await web.page.getByRole('combobox', { name: 'Compare with another template' }).click();
        await web.page.getByRole('option', { name: /blood_pressure/ }).click();
        await web.page.locator('.template-differences li').first().waitFor();
        expect(await clicks()).toBeLessThanOrEqual(3);
        await web.page.locator('.tree-node').nth(2).click();
        await web.page.getByRole('button', { name: 'Query this' }).click();
        await web.page.getByRole('button', { name: 'Run' }).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(3);
      });

      it('a clerk merges two records (6) and takes that back (3)', async () => {
        for (const namespace of ['walk-a', 'walk-b'])
          await client().ehr.create({ subject: { namespace, id: 'WALK-1' } });
        await signIn('/administration');
        const pair = web.page.getByRole('listitem').filter({ hasText: 'Same subject id WALK-1' });
        await pair.waitFor();
        await clicks();
        await pair.getByRole('button', { name: /^Compare/ }).click();
        await web.page.getByRole('button', { name: 'Show the plan' }).click();
        await web.page.getByLabel('Whose subject stays').getByText('Source').click();
        await web.page.getByLabel('Reason').fill('registered twice');
        await web.page.getByRole('button', { name: 'Merge', exact: true }).click();
        await web.page.getByRole('link', { name: /to take one back/ }).click();
        expect(await clicks()).toBeLessThanOrEqual(6);
        await web.page.getByRole('button', { name: 'What would undo do?' }).first().click();
        await web.page.getByRole('button', { name: 'Take it back' }).click();
        await web.page.getByRole('button', { name: 'Take it back' }).waitFor({ state: 'detached' });
        expect(await clicks()).toBeLessThanOrEqual(3);
      });

      it('a clerk moves a document that is of another patient (4)', async () => {
        const [wrong, right] = await Promise.all(
          ['MOVE-1', 'MOVE-2'].map((id) => client().ehr.create({ subject: { namespace: 'walk', id } })),
        );
        const content = await client().templates.example('ehrbase_blood_pressure_simple.de.v0');
        const { uid } = await wrong!.compositions.commit(content);
        await signIn('/administration');
        await web.page.goto(`${web.url}/console#/patients/${wrong!.id}/compositions/${uid}`);
        await web.page.getByText('Version 1', { exact: true }).waitFor();
        await clicks();
        await web.page.getByRole('button', { name: 'Move to another patient' }).click();
        const dialog = web.page.getByRole('dialog');
        await dialog.getByRole('combobox').fill('MOVE-2');
        await web.page.getByRole('option', { name: /MOVE-2/ }).click();
        await dialog.getByLabel('Reason').fill('taken for another');
        await dialog.getByRole('button', { name: 'Show the plan' }).click();
        await dialog.getByText(/1 version, 1 contribution/).waitFor();
        await dialog.getByRole('button', { name: 'Move it' }).click();
        await web.page.getByLabel('Patient', { exact: true }).getByText('MOVE-2').waitFor();
        expect(await clicks()).toBeLessThanOrEqual(4);
        expect((await client().ehr(right!.id).compositions.get(uid))?.uid).toBe(uid);
      });

      it('a clerk sees who has seen a record (2) and what each role may (1), and erases one (4)', async () => {
        await client().ehr.create({ subject: { namespace: 'walk', id: 'ERASE-1' } });
        await signIn('/administration');
        await web.page.getByRole('tab', { name: 'Permissions' }).click();
        await web.page.getByRole('row', { name: /^AUDITOR/ }).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
        await web.page.getByRole('tab', { name: 'Erase' }).click();
        await web.page.getByRole('combobox').fill('ERASE-1');
        await web.page.getByRole('option', { name: /ERASE-1/ }).click();
        const label = await web.page.getByText(/^Type \w+ to erase it/).textContent();
        await web.page.getByLabel('Reason').fill('a wish');
        await web.page.getByLabel(/^Type/).fill(label?.split(' ')[1] ?? '');
        await web.page.getByRole('button', { name: 'Erase for good' }).click();
        await web.page.getByText(/ is erased\.$/).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(4);
        await web.page.goto(`${web.url}/console#/patients`);
        await web.page.getByRole('link', { name: 'P-0001' }).click();
        await web.page.getByRole('tab', { name: 'Access' }).click();
        await web.page.getByRole('cell', { name: 'made a record' }).waitFor();
        expect(await clicks()).toBeLessThanOrEqual(2);
      });

      it('an operator sees how it is (0), what was slow (1), what goes on (1), and verifies (2)', async () => {
        await signIn('/administration');
        await web.page.goto(`${web.url}/console#/`);
        await web.page.getByText('Healthy').waitFor();
        await web.page.locator('figure.day').waitFor();
        // Ten that were slower stand before a query of this store.
        await web.page.route('**/rest/overview', async (route) => {
          const answer = await route.fetch();
          const slow = {
            time: new Date(),
            aql: 'SELECT e/ehr_id/value AS slow FROM EHR e',
            ms: 900,
            rows: 3,
          };
          await route.fulfill({
            response: answer,
            json: { ...((await answer.json()) as object), slowest_queries: [slow] },
          });
        });
        await web.page.locator('.lines a', { hasText: /^SELECT e\/ehr_id\/value AS slow/ }).click();
        await web.page.locator('.stages li').first().waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
        await web.page.goto(`${web.url}/console#/administration`);
        await web.page.getByRole('tab', { name: 'Server' }).click();
        await web.page.getByText('Nothing is running.').waitFor();
        expect(await clicks()).toBeLessThanOrEqual(1);
        await web.page.getByRole('button', { name: 'Verify what is stored' }).click();
        await web.page.getByText('Everything is as it should be.').first().waitFor();
        expect(await clicks()).toBeLessThanOrEqual(2);
      });
    },
  );

  inBrowser(
    `the work of a second person, ITS_REST=${edition} (skipped where no Chromium is installed)`,
    () => {
      const web = useConsole({ ...settings, fourEyes: ['merge'] });

      it('is to see what waits, as it would be now, and to confirm it (4)', async () => {
        const ada = new Cdr({ url: web.url, token: bearer(['ADMIN'], 'ada').replace('Bearer ', '') });
        const [source, target] = await Promise.all(
          ['a', 'b'].map((namespace) => ada.ehr.create({ subject: { namespace, id: 'SECOND-1' } })),
        );
        await ada.admin.merges.merge({ source_ehr: source!.id, target_ehr: target!.id, reversible: true });
        await web.page.addInitScript(COUNT);
        await web.open('/administration');
        await web.pasteToken(['ADMIN'], 'ben');
        await web.page.getByRole('tab', { name: 'Merges' }).waitFor();
        await web.page.evaluate("sessionStorage.removeItem('clicks')");
        await web.page.getByRole('tab', { name: 'Merges' }).click();
        await web.page.getByRole('button', { name: 'Show the plan' }).click();
        await web.page.getByRole('button', { name: 'Confirm this plan' }).click();
        await web.page.getByText('Waiting for approval').waitFor({ state: 'detached' });
        const clicks = await web.page.evaluate<string | null>("sessionStorage.getItem('clicks')");
        expect(Number(clicks)).toBeLessThanOrEqual(4);
      });
    },
  );
}
