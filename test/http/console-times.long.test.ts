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

  /** A document of the template whose times are all this one, as it is written. */
  const commit = async (ehrId: string, time: string) => {
    const example = JSON.stringify(await client().templates.example(TEMPLATE));
    const content = JSON.parse(example, (_, value: unknown) =>
      isTime(value) ? { ...value, value: time } : value,
    ) as never;
    return client().ehr(ehrId).compositions.commit(content);
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
    const zones = await web.page.locator('main time').allInnerTexts();
    expect(zones.filter((each) => /\d\d:\d\d/.test(each) && !/CEST|CET|GMT\+[12]|UTC/.test(each))).toEqual(
      [],
    );
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
    await commit(ehr.id, '2026-03-01T08:00:34,314+02:00');
    await commit(ehr.id, '20260302T080034,314+0200');
    await commit(ehr.id, '2026-03-03T08:00:34.314+02:00');
    await web.open(`/patients/${ehr.id}`);
    await web.page.getByText('3 of 3 compositions').waitFor();
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

function isTime(value: unknown): value is { readonly value: string } {
  return (
    typeof value === 'object' && value !== null && (value as { _type?: unknown })._type === 'DV_DATE_TIME'
  );
}
