import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureJson, fixtureText } from '../support/fixture.js';

const inBrowser = hasBrowser ? describe : describe.skip;
const NAME = 'test_all_types.en.v1';
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

inBrowser('fields of a form (skipped where no Chromium is installed)', () => {
  const web = useConsole({}, { timezoneId: 'Europe/Berlin' });

  /** The form of a document that has every kind of value. */
  const openForm = async () => {
    const client = new Cdr({ url: web.url });
    await client.templates.upload(fixtureText(`opt/${NAME}.opt`)).catch(() => NAME);
    const ehr = await client.ehr.create({ subject: { namespace: 'ward', id: `fields-${Math.random()}` } });
    const content = { ...fixtureJson(`composition/${NAME}.json`), uid: undefined };
    const { uid } = await ehr.compositions.commit(content);
    await web.open(`/patients/${ehr.id}/form?uid=${encodeURIComponent(uid)}`);
    await web.page.getByRole('button', { name: 'Save', exact: true }).waitFor();
    return ehr;
  };
  const field = (name: string) =>
    web.page.getByRole('textbox', { name: new RegExp(`^${name}( \\*)?$`) }).first();

  it('of dates and times take what people write, and what they pick', async () => {
    await openForm();
    const moment = field('datetime');
    await moment.fill('23.11.2026, 14:30');
    await moment.press('Enter');
    expect(await moment.inputValue()).toBe('2026-11-23T14:30:00+01:00');
    await field('date').fill('1 March 2026');
    await field('date').press('Tab');
    expect(await field('date').inputValue()).toBe('2026-03-01');
    // Whoever writes a space behind it has written the same.
    await field('date').fill('2026-03-02 ');
    await field('date').press('Tab');
    expect(await field('date').inputValue()).toBe('2026-03-02');
    // What nobody knows stays as it is written, for the server to judge.
    await field('date').fill('soon');
    await field('date').press('Tab');
    expect(await field('date').inputValue()).toBe('soon');
    // What is said of the field that is left moves nothing from under the mouse.
    await web.page.getByRole('button', { name: 'Pick datetime', exact: true }).first().click();
    await web.page.getByText('no date or time as it is asked for here').waitFor();
    const calendar = web.page
      .locator('.picker', { has: web.page.getByRole('button', { name: 'Pick datetime', exact: true }) })
      .locator('input');
    expect(await calendar.inputValue()).toBe('2026-11-23T14:30');
    await web.page.keyboard.press('Escape');
    await calendar.fill('2026-07-01T08:05');
    expect(await moment.inputValue()).toBe('2026-07-01T08:05:00+02:00');
    await web.expectGood();
  });

  it('hold the keys in their order, however slowly the page follows', async () => {
    const client = new Cdr({ url: web.url });
    const ehr = await client.ehr.create({ subject: { namespace: 'ward', id: `fields-${Math.random()}` } });
    const session = await web.page.context().newCDPSession(web.page);
    for (let times = 0; times < 3; times += 1) {
      await web.page.goto('about:blank');
      await web.open(`/patients/${ehr.id}/form?template=ehrbase_blood_pressure_simple.de.v0`);
      const systolic = web.page.getByLabel('Systolic').first();
      await systolic.click();
      // Its unit fills in with the first key.
      await session.send('Emulation.setCPUThrottlingRate', { rate: 20 });
      for (const key of '140') await web.page.keyboard.press(key);
      await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
      await web.page.locator('.form-part', { has: systolic }).getByText('mmHg', { exact: true }).waitFor();
      expect(await systolic.inputValue()).toBe('140');
    }
  });

  it('of multimedia take a file, which the document then shows', async () => {
    const ehr = await openForm();
    const multimedia = web.page.locator('.form-field', { hasText: 'multimedia any' }).first();
    await multimedia.locator('input[type=file]').setInputFiles({
      name: 'wound.png',
      mimeType: 'image/png',
      buffer: Buffer.from(PIXEL, 'base64'),
    });
    await multimedia.getByText('1 KiB in the document').waitFor();
    await web.expectGood();
    await web.page.getByRole('button', { name: 'Save', exact: true }).click();
    await web.page.getByText('Version 2', { exact: true }).waitFor();
    const picture = web.page.locator('.document img.picture').first();
    await picture.waitFor();
    expect(await picture.evaluate((image) => (image as { naturalWidth?: number }).naturalWidth)).toBe(1);
    const { rows } = await new Cdr({ url: web.url }).query('SELECT c FROM EHR e CONTAINS COMPOSITION c', {
      ehrId: ehr.id,
    });
    const text = JSON.stringify(rows);
    expect(text).toContain(`"data":"${PIXEL}"`);
    expect(text).toContain('"size":70');
    expect(text).toContain('"alternate_text":"wound.png"');
  });

  it('begin with what was found, say what is wrong when they are left, and lead to each part', async () => {
    const client = new Cdr({ url: web.url });
    const ehr = await client.ehr.create({ subject: { namespace: 'ward', id: `fields-${Math.random()}` } });
    await web.open(`/patients/${ehr.id}/form?template=ehrbase_blood_pressure_simple.de.v0`);
    const systolic = web.page.getByLabel('Systolic').first();
    await systolic.waitFor();
    // Nobody is signed in, so who writes it is asked for, above; of devices and cuffs nothing is.
    await web.page.getByLabel('Composer').first().waitFor();
    const further = web.page.locator('summary', { hasText: /^Further: .*Cuff size/ });
    expect(await web.page.getByLabel('Cuff size').count()).toBe(0);
    expect(await web.page.getByLabel('Serial number').count()).toBe(0);
    // A number is as wide as one, with its unit in it.
    expect((await systolic.boundingBox())?.width).toBeLessThan(250);
    await web.page.locator('.form-part', { has: systolic }).getByText('mmHg', { exact: true }).waitFor();
    await systolic.fill('5000');
    expect(await systolic.getAttribute('aria-invalid')).not.toBe('true');
    await systolic.press('Tab');
    await web.page.getByText(/must be 0 … < 1000/).waitFor();
    await web.expectGood();
    await systolic.fill('120');
    await systolic.press('Tab');
    await web.page.getByText(/must be 0 … < 1000/).waitFor({ state: 'detached' });
    await further.click();
    await web.page.getByLabel('Cuff size').first().waitFor();
    await further.press('Enter');
    await web.page.getByLabel('Cuff size').first().waitFor({ state: 'detached' });
    // What can be done is at hand wherever one is.
    const save = web.page.getByRole('button', { name: 'Save', exact: true });
    await web.page.setViewportSize({ width: 1000, height: 420 });
    await web.page.evaluate('scrollTo(0, 0)');
    const box = await save.boundingBox();
    expect((box?.y ?? 999) + (box?.height ?? 0)).toBeLessThanOrEqual(420);
    await web.page.setViewportSize({ width: 390, height: 844 });
    await web.expectGood();
    // With a composer and nothing particular the context is a line.
    await web.page.getByLabel('Composer').first().fill('Ada Moe');
    await web.page.getByRole('button', { name: 'Save as draft' }).click();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    await web.page.getByRole('button', { name: 'Edit' }).click();
    const context = web.page.locator('summary', { hasText: /^When, where, who/ });
    await context.getByText(/ CET · other care · Ada Moe$/).waitFor();
    expect(await web.page.getByLabel('Composer').count()).toBe(0);
    await web.page.setViewportSize({ width: 1000, height: 420 });
    await web.open(`/patients/${ehr.id}/form?template=Corona_Anamnese`);
    const parts = web.page.getByRole('navigation', { name: 'Parts of the document' }).getByRole('button');
    await parts.last().click();
    await web.page.locator('summary:focus').waitFor();
    expect(await web.page.evaluate<number>('scrollY')).toBeGreaterThan(100);
    await web.expectGood();
  });

  it('lead to what is wrong with a part that is no field', async () => {
    const { id } = await new Cdr({ url: web.url }).ehr.create({});
    await web.page.setViewportSize({ width: 1000, height: 420 });
    await web.page.route(/\/composition(\?|$)/, (route) =>
      route.fulfill({
        status: 422,
        json: {
          message: 'refused',
          violations: [
            {
              path: '/content[openEHR-EHR-OBSERVATION.body_temperature.v2]',
              flatPath: 'encounter/body_temperature:0',
              message: 'there is one too many',
              code: 'occurrences',
            },
          ],
        },
      }),
    );
    // Of the demo.
    await web.open(`/patients/${id}/form?template=ehrbase_multi_occurrence.de.v1`);
    const save = web.page.getByRole('button', { name: 'Save', exact: true });
    await save.click();
    const found = web.page.locator('form .flag', { hasText: 'there is one too many' });
    await found.waitFor();
    await web.page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await web.page.getByRole('button', { name: '1 finding', exact: true }).click();
    const box = await found.boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect(box?.y).toBeLessThan((await save.boundingBox())?.y ?? 0);
    web.forgive('422');
    await web.expectGood();
  });
});
