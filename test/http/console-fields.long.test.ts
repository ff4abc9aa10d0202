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
    await web.page.getByRole('button', { name: 'Pick datetime', exact: true }).first().click();
    const calendar = web.page.locator('.picker input[type=datetime-local]').first();
    expect(await calendar.inputValue()).toBe('2026-11-23T14:30');
    await web.page.keyboard.press('Escape');
    await calendar.fill('2026-07-01T08:05');
    expect(await moment.inputValue()).toBe('2026-07-01T08:05:00+02:00');
    await web.expectGood();
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
    await web.page.getByText('Version 2').waitFor();
    const picture = web.page.locator('.document img.picture').first();
    await picture.waitFor();
    expect(await picture.evaluate((image) => (image as { naturalWidth?: number }).naturalWidth)).toBe(1);
    const { rows } = await new Cdr({ url: web.url }).query<{ c: object }>(
      'SELECT c FROM EHR e CONTAINS COMPOSITION c',
      { ehrId: ehr.id },
    );
    const text = JSON.stringify(rows[0]?.c);
    expect(text).toContain(`"data":"${PIXEL}"`);
    expect(text).toContain('"size":70');
    expect(text).toContain('"alternate_text":"wound.png"');
  });
});
