import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { bearer } from '../support/tokens.js';

const inBrowser = hasBrowser ? describe : describe.skip;

const TO_PAPER = "window.dispatchEvent(new Event('beforeprint'))";
const FROM_PAPER = "window.dispatchEvent(new Event('afterprint'))";

inBrowser('what goes on paper (skipped where no Chromium is installed)', () => {
  const web = useConsole();
  const admin = () => new Cdr({ url: web.url, token: bearer(['ADMIN'], 'ben').replace('Bearer ', '') }).admin;
  /** What the audit knows of prints, newest first, as soon as it knows one more than before. */
  const prints = async (count: number) => {
    for (let tries = 0; tries < 100; tries += 1) {
      const found = await admin().audit({ operation: 'print_note' });
      if (found.length >= count) return found;
      await web.page.waitForTimeout(100);
    }
    throw new Error(`no ${count} prints are recorded`);
  };

  it('is all of an answer with its question, and the audit knows whose record, which document and which query', async () => {
    await web.open('/query');
    await web.write(
      "SELECT c/uid/value AS uid, c/name/value AS name FROM COMPOSITION c WHERE c/name/value != 'Anna' AND c/name/value != $other",
    );
    await web.page.getByLabel('$other').fill('Bo');
    await web.page.getByRole('button', { name: 'Run' }).click();
    await web.page.getByText('18 rows').waitFor();
    await web.page.evaluate(TO_PAPER);
    await web.page.emulateMedia({ media: 'print' });
    expect(await web.page.locator('.printed tbody tr').count()).toBe(18);
    expect(await web.page.locator('.printed pre').innerText()).toContain('SELECT c/uid/value');
    expect(await web.page.locator('.printed').innerText()).toContain('$other = "Bo"');
    expect(await web.page.locator('.rail').isVisible()).toBe(false);
    expect(await web.page.locator('.toolbar').isVisible()).toBe(false);
    await web.page.emulateMedia({ media: 'screen' });
    await web.page.evaluate(FROM_PAPER);
    await web.page.locator('.rows[role=table]').waitFor();
    const [query] = await prints(1);
    expect(query).toMatchObject({ options: { of: 'result' }, aql: expect.stringContaining('!= ?') });
    // An answer of yesterday says so on paper too.
    await web.page.getByRole('slider').press('ArrowRight');
    await web.page.getByRole('slider').press('ArrowRight');
    await web.page.getByText('No rows').waitFor();
    await web.page.evaluate(TO_PAPER);
    expect(await web.page.locator('.printed').innerText()).toMatch(/As of .*\n[^]* 0 rows/);
    await web.page.evaluate(FROM_PAPER);
    // Of the editor, which prepares itself for paper, and is not on it.
    web.forgive('Applying inline style');
    await web.expectGood();
  });

  it('is said of a record and of a document by the browser itself, whatever began it', async () => {
    const before = (await admin().audit({ operation: 'print_note' })).length;
    await web.open('/patients');
    await web.page.getByRole('link', { name: 'P-0001' }).click();
    await web.page.getByText('6 of 6 compositions').waitFor();
    await web.page.pdf();
    const [record] = await prints(before + 1);
    const ehrId = /patients\/([^/?]+)/.exec(web.page.url())?.[1];
    expect(record).toMatchObject({ options: { of: 'record' }, ehr_id: ehrId });
    await web.page.locator('.composition-list a').first().click();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    await web.page.pdf();
    const [document] = await prints(before + 2);
    const uid = decodeURIComponent(/compositions\/([^/?]+)/.exec(web.page.url())?.[1] ?? '');
    expect(document).toMatchObject({ options: { of: 'document' }, ehr_id: ehrId, objects: [uid] });
    await web.expectGood();
  });

  /** What can be pressed, and is on paper. */
  const pressed = () =>
    web.page.evaluate<string[]>(
      `[...document.querySelectorAll('button:not(.id, .trend), input, .rail')].filter((each) => each.checkVisibility({ visibilityProperty: true }) && each.getClientRects().length > 0).map((each) => each.outerHTML.slice(0, 120))`,
    );

  it('is every document of a record, and a document, below whose it is, with nothing to press', async () => {
    const client = new Cdr({ url: web.url });
    const ehr = await client.ehr.create({ subject: { namespace: 'ward', id: 'MANY-1' } });
    const content = await client.templates.example('ehrbase_blood_pressure_simple.de.v0');
    for (let count = 0; count < 40; count += 1) await ehr.compositions.commit(content);
    await web.open(`/patients/${ehr.id}`);
    await web.page.getByText('40 of 40 compositions').waitFor();
    const items = web.page.locator('.composition-list li');
    expect(await items.count()).toBeLessThan(40);
    const banner = web.page.getByLabel('Patient', { exact: true });
    const toPaper = async () => {
      await web.page.emulateMedia({ media: 'print' });
      await web.page.evaluate(TO_PAPER);
      expect(await banner.getByText('MANY-1').isVisible()).toBe(true);
      expect(await pressed()).toEqual([]);
    };
    const fromPaper = async () => {
      await web.page.evaluate(FROM_PAPER);
      await web.page.emulateMedia({ media: 'screen' });
    };
    await toPaper();
    expect(await items.count()).toBe(40);
    // One below the other, and none of them cut.
    const places = await items.evaluateAll((all) => all.map((each) => each.getBoundingClientRect()));
    expect(places.every(({ top }, index) => index === 0 || top >= places[index - 1]!.bottom - 1)).toBe(true);
    const list = await web.page
      .locator('.composition-list')
      .evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
    expect(list).toBeLessThanOrEqual(1);
    await fromPaper();
    await items.nth(39).waitFor({ state: 'detached' });
    await items.first().getByRole('link').click();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    await toPaper();
    expect(await web.page.locator('.document').getByText('Systolic').first().isVisible()).toBe(true);
    await fromPaper();
    await web.expectGood();
  });

  it('is every field of a large form, also those that nobody has come near to', async () => {
    const { id } = await new Cdr({ url: web.url }).ehr.create({});
    await web.open(`/patients/${id}/form?template=Corona_Anamnese`);
    await web.page.getByRole('button', { name: 'Save', exact: true }).waitFor();
    const unmade = web.page.locator('div[data-place]');
    expect(await unmade.count()).toBeGreaterThan(0);
    await web.page.evaluate(TO_PAPER);
    expect(await unmade.count()).toBe(0);
    await web.page.evaluate(FROM_PAPER);
    await web.expectGood();
  });

  it('has of who looked at a record whose record it is, and nothing that cannot be clicked on paper', async () => {
    const before = (await admin().audit({ operation: 'print_note' })).length;
    await web.open('/administration');
    await web.pasteToken(['ADMIN'], 'ben');
    await web.page.getByRole('tab', { name: 'Audit' }).waitFor();
    await web.open('/patients?find=P-0001');
    await web.page.getByRole('link', { name: 'P-0001' }).click();
    await web.page.getByRole('tab', { name: 'Access' }).click();
    await web.page.getByRole('cell', { name: 'made a record' }).waitFor();
    await web.page.pdf();
    const found = await prints(before + 1);
    // One note, not another one of the record around it.
    expect(found).toHaveLength(before + 1);
    const [access] = found;
    const ehrId = /patients\/([^/?]+)/.exec(web.page.url())?.[1];
    expect(access).toMatchObject({ options: { of: 'access' }, ehr_id: ehrId });
    await web.page.evaluate(TO_PAPER);
    // On paper it is each access in words, as the patient is given it.
    await web.page.getByText('Who has seen and changed this record').waitFor();
    await web.page.getByRole('columnheader', { name: 'From where' }).waitFor();
    await web.page.getByRole('cell', { name: 'made a record' }).first().waitFor();
    await web.page.evaluate(FROM_PAPER);
    await web.page.emulateMedia({ media: 'print' });
    const banner = web.page.getByLabel('Patient', { exact: true });
    const tabs = web.page.locator('.mantine-Tabs-list').first();
    expect([await banner.isVisible(), await tabs.isVisible()]).toEqual([true, false]);
    expect(await web.page.locator('.rail').isVisible()).toBe(false);
    await web.page.emulateMedia({ media: 'screen' });
    await web.expectGood();
  });
});
