import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';

const inBrowser = hasBrowser ? describe : describe.skip;

/** Of the demo. */
const TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';

inBrowser('times for a reader in Berlin (skipped where no Chromium is installed)', () => {
  const web = useConsole({}, { timezoneId: 'Europe/Berlin' });
  const client = () => new Cdr({ url: web.url });

  /** A document of the template whose times are all this one, as it is written, and whose quantities have this flag. */
  const commit = async (
    ehrId: string,
    time: string,
    { flag, detail = 'required' }: { readonly flag?: string; readonly detail?: 'required' | 'medium' } = {},
  ) => {
    const example = JSON.stringify(await client().templates.example(TEMPLATE, { detail }));
    const content = JSON.parse(example, (_, value: unknown) => {
      if (isOf('DV_QUANTITY', value) && flag !== undefined) return { ...value, normal_status: flagged(flag) };
      return isOf('DV_DATE_TIME', value) ? { ...value, value: time } : value;
    }) as never;
    return client().ehr(ehrId).compositions.commit(content);
  };
  /** Times of the page that name no zone. */
  const withoutZone = async () => {
    const times = await web.page.locator('main time').allInnerTexts();
    return times.filter((each) => /\d\d:\d\d/.test(each) && !/CEST|CET|GMT\+[12]|UTC/.test(each));
  };
  const newEhr = () => client().ehr.create({ subject: { namespace: 'ward', id: `t-${Math.random()}` } });

  it('are one minute where they are one, in one zone that is named, and as stored beside it', async () => {
    const ehr = await newEhr();
    const { uid } = await commit(ehr.id, '2026-03-01T16:11:00Z');
    await web.open(`/patients/${ehr.id}/compositions/${uid}`);
    const letter = web.page.locator('.document');
    await letter.getByText('1 Mar 2026, 17:11 CET').first().waitFor();
    const text = await letter.innerText();
    // What is stored stands beside, and never alone.
    const both = /17:11 CET\s*\(2026-03-01T16:11:00Z\)\s*stored 16:11 UTC/g;
    expect(text).toMatch(both);
    expect(text.replaceAll(both, '')).not.toMatch(/1[67]:11/);
    // Also of the commit, which the server made.
    expect(await withoutZone()).toEqual([]);
    await web.expectGood();
  });

  it('have a zone on the overview, in the audit, and where one sees who has seen a record', async () => {
    const ehr = await newEhr();
    await commit(ehr.id, '2026-03-01T16:11:00Z');
    await web.open('/administration?tab=audit');
    await web.pasteToken(['ADMIN'], 'ben');
    for (const view of ['/administration?tab=audit', `/patients/${ehr.id}?tab=access`, '/']) {
      await web.open(view);
      await web.page
        .locator('main time:visible', { hasText: /\d\d:\d\d/ })
        .first()
        .waitFor();
      expect([view, ...(await withoutZone())]).toEqual([view]);
      expect(await web.page.locator('main').innerText()).not.toMatch(/\d{4}-\d\d-\d\dT\d\d/);
    }
    await web.expectGood();
  });

  it('of answers are his too, in the table and on paper, as are the flags of values', async () => {
    const ehr = await newEhr();
    await commit(ehr.id, '2026-03-01T16:11:00Z', { flag: 'HH', detail: 'medium' });
    await web.open('/query');
    await web.write(
      `SELECT c/context/start_time/value AS plain, c/context/start_time AS stored, o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value AS systolic FROM EHR e[ehr_id/value='${ehr.id}'] CONTAINS COMPOSITION c CONTAINS OBSERVATION o`,
    );
    await web.page.locator('.cm-content').press('Control+Enter');
    await web.page
      .getByText(/^[1-9]\d* rows?\b/)
      .first()
      .waitFor();
    const cells = web.page.locator('.rows .body [role=row]').first().getByRole('cell');
    const [plain = '', stored = '', systolic = ''] = await cells.allInnerTexts();
    expect(plain).toBe('1 Mar 2026, 17:11 CET');
    // As it is stored, where one points at it.
    expect(await cells.first().getAttribute('title')).toBe('2026-03-01T16:11:00Z');
    expect(stored).toBe('1 Mar 2026, 17:11 CET (stored 16:11 UTC)');
    expect(systolic).toMatch(/ HH( |$)/);
    await web.page.emulateMedia({ media: 'print' });
    await web.page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    const printed = await web.page.locator('.printed tbody tr').first().locator('td').allInnerTexts();
    expect(printed.slice(0, 2)).toEqual([stored, stored]);
    expect(printed[2]).toBe(systolic);
    await web.page.evaluate("window.dispatchEvent(new Event('afterprint'))");
    await web.page.emulateMedia({ media: 'screen' });
    const file = web.page.waitForEvent('download');
    await web.page.getByRole('button', { name: 'CSV', exact: true }).click();
    // A file is of what is stored.
    expect(readFileSync(await (await file).path(), 'utf8')).toContain('\r\n2026-03-01T16:11:00Z,');
    web.forgive('Applying inline style');
    await web.expectGood();
  });

  it('that a form leaves empty are those of its context', async () => {
    const ehr = await newEhr();
    // Whoever writes takes ten minutes.
    await web.page.clock.setFixedTime(new Date('2026-03-01T16:11:00Z'));
    await web.open(`/patients/${ehr.id}/form?template=${TEMPLATE}`);
    const systolic = web.page.getByLabel(/Syst/).first();
    await systolic.fill('120');
    await web.page.getByRole('button', { name: 'Save as draft' }).click();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    const clocks = new Set((await web.page.locator('.document').innerText()).match(/\d\d:\d\d.* CET/g));
    expect([...clocks]).toEqual(['17:11 CET']);
    await web.expectGood();
  });

  it('with a decimal comma are dots, lines and ages as any other', async () => {
    const ehr = await newEhr();
    await commit(ehr.id, '2026-03-01T08:00:34,314+02:00', { detail: 'medium' });
    await commit(ehr.id, '20260302T080034,314+0200', { detail: 'medium' });
    await commit(ehr.id, '2026-03-03T08:00:34.314+02:00', { detail: 'medium' });
    await web.open(`/patients/${ehr.id}`);
    await web.page.getByText('3 of 3 compositions').waitFor();
    // Counted by its dots.
    await web.page
      .getByRole('img', { name: 'Timeline of 3 compositions of 1 templates', exact: true })
      .waitFor();
    const paths = web.page.locator('.sparkline path');
    await paths.first().waitFor({ state: 'attached' });
    for (const path of await paths.all()) {
      const drawn = (await path.getAttribute('d')) ?? '';
      expect(drawn).not.toContain('NaN');
      expect(drawn.split('L')).toHaveLength(3);
    }
    expect(await web.page.locator('.composition-list').innerText()).not.toMatch(/NaN|Invalid/);
    expect(await web.page.locator('.composition-list .ago').count()).toBe(3);
    await web.expectGood();
    // Also where documents are filed.
    await web.page.getByRole('tab', { name: 'Directory' }).click();
    await web.page.getByRole('button', { name: 'Create the directory' }).click();
    await web.page.getByText('Not filed: 3').waitFor();
    for (const line of await web.page.locator('.unfiled li').allInnerTexts())
      expect(line).toMatch(/[1-3] Mar 2026, 07:00 CET/);
    // That there was none.
    web.forgive('404');
    await web.expectGood();
  });
});

function isOf(type: string, value: unknown): value is object {
  return typeof value === 'object' && value !== null && (value as { _type?: unknown })._type === type;
}

function flagged(code: string) {
  const terminology = { _type: 'TERMINOLOGY_ID', value: 'openehr_normal_statuses' };
  return { _type: 'CODE_PHRASE', terminology_id: terminology, code_string: code };
}
