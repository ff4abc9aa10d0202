import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { axeFindings, beyondEdge, useConsole } from '../support/browser/console.js';

/** Words of the way around that stand on two lines, out of the page, or over another one. */
const CUT = `(() => {
  const labels = [...document.querySelectorAll('.rail .place span, .rail-search span')].map((each) => {
    const range = document.createRange();
    range.selectNodeContents(each);
    const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    const { left, right } = range.getBoundingClientRect();
    return { text: each.textContent, lines, left, right };
  });
  return labels
    .filter(({ text, lines, left, right }, index) =>
      (lines > 1 && !/[ -]/.test(text)) || left < 0 || right > innerWidth || left < (labels[index - 1]?.right ?? 0))
    .map(({ text }) => text);
})()`;

const SCREENS = [
  ['a phone', 390, 844],
  ['a desk', 1440, 900],
] as const;

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the console on a phone (skipped where no Chromium is installed)', () => {
  const web = useConsole();

  it('shows each patient whole, as a card, and cuts no word of the way around', async () => {
    await new Cdr({ url: web.url }).ehr.create({
      subject: { namespace: 'hospital', id: 'LOPEZ-3/radiology' },
    });
    await web.page.setViewportSize({ width: 390, height: 844 });
    await web.open('/patients');
    const link = web.page.getByRole('link', { name: 'LOPEZ-3/radiology' });
    await link.waitFor();
    // One line.
    expect((await link.boundingBox())?.height).toBeLessThan(40);
    // A table still, to who hears it.
    expect(await web.page.getByRole('columnheader').allTextContents()).toContain('Last document');
    const cells = web.page.getByRole('cell');
    for (let index = 0; index < (await cells.count()); index += 1) {
      const box = await cells.nth(index).boundingBox();
      expect(box === null || (box.x >= 0 && box.x + box.width <= 390)).toBe(true);
    }
    expect(await web.page.locator('.rail .place span').count()).toBe(5);
    for (const language of ['en', 'de']) {
      await web.page.addInitScript(`localStorage.setItem('everchart-language', '"${language}"')`);
      for (const phone of [360, 390]) {
        await web.page.setViewportSize({ width: phone, height: 844 });
        await web.page.reload();
        await web.page.locator('.rail .place span').first().waitFor();
        expect([language, phone, ...(await web.page.evaluate<string[]>(CUT))]).toEqual([language, phone]);
      }
    }
    await web.expectGood();
  });

  it('has the buttons of a form right above the way around', async () => {
    const { id } = await new Cdr({ url: web.url }).ehr.create({});
    await web.page.setViewportSize({ width: 390, height: 844 });
    await web.open(`/patients/${id}/form?template=ehrbase_blood_pressure_simple.de.v0`);
    await web.page.getByRole('button', { name: 'Save', exact: true }).waitFor();
    const [bar, rail] = await Promise.all(
      ['.form-bar', '.rail'].map((place) => web.page.locator(place).boundingBox()),
    );
    expect(Math.abs(bar!.y + bar!.height - rail!.y)).toBeLessThanOrEqual(1);
  });

  it.each(SCREENS)(
    'shows a comparison, the plan of a merge and all of an answer on %s, readable in light and dark',
    async (_, width, height) => {
      const client = new Cdr({ url: web.url });
      const newEhr = () => client.ehr.create({ subject: { namespace: `n-${Math.random()}`, id: 'TWIN-1' } });
      const [ehr, other] = [await newEhr(), await newEhr()];
      const content = await client.templates.example('ehrbase_blood_pressure_simple.de.v0');
      await other.compositions.commit(content);
      const { uid: first } = await ehr.compositions.commit(content);
      const { uid } = await ehr.compositions.update(
        first,
        (now) => JSON.parse(JSON.stringify(now).replace(/"magnitude":[\d.]+/, '"magnitude":41')) as never,
      );
      await web.page.setViewportSize({ width, height });
      const expectReadable = async (view: string) => {
        expect([view, ...(await beyondEdge(web.page)), ...(await axeFindings(web.page))]).toEqual([view]);
      };
      await web.open(`/patients/${ehr.id}/compositions/${uid}?compare=${encodeURIComponent(first)}`);
      await web.page.locator('.differences ins', { hasText: '41' }).waitFor();
      await expectReadable('comparison');
      await web.open(`/administration?tab=merge&source=${other.id}&target=${ehr.id}`);
      await web.pasteToken(['ADMIN'], 'ben');
      await web.page.getByRole('button', { name: 'Show the plan' }).click();
      await web.page.getByRole('button', { name: 'Merge', exact: true }).waitFor();
      await expectReadable('plan');
      await web.open('/query');
      await web.write(
        'SELECT e/ehr_id/value AS ehr, c/uid/value AS uid, c/context/start_time/value AS time, o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value AS systolic FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]',
      );
      await web.page.locator('.cm-content').press('Control+Enter');
      await web.page.locator('.rows .body [role=row]').first().waitFor();
      await expectReadable('table');
      await web.page.getByText('Chart', { exact: true }).click();
      await web.page.locator('.below canvas').first().waitFor();
      await expectReadable('chart');
      await web.page.locator('.result-head').getByText('JSON', { exact: true }).click();
      await web.page.locator('.below pre, .below code').first().waitFor();
      await expectReadable('JSON');
      await web.page.getByRole('button', { name: 'Explain' }).click();
      await web.page.locator('.stages li').first().waitFor();
      await expectReadable('explain');
    },
  );

  it.each(SCREENS)(
    'shows every tab of a record and of administration on %s, readable in light and dark',
    async (_, width, height) => {
      await web.page.setViewportSize({ width, height });
      await web.open('/administration');
      await web.pasteToken(['ADMIN'], 'ben');
      await web.page.getByRole('tab', { name: 'Audit' }).waitFor();
      await web.open('/patients?find=P-0001');
      await web.page.getByRole('link', { name: 'P-0001' }).click();
      await web.page.getByText('6 of 6 compositions').waitFor();
      const patient = new URL(web.page.url()).hash.slice(1);
      const views = [
        ...['directory', 'contributions', 'tags', 'status', 'access'].map((tab) => `${patient}?tab=${tab}`),
        ...['merge', 'merges', 'erase', 'server', 'permissions', 'audit'].map(
          (tab) => `/administration?tab=${tab}`,
        ),
      ];
      const loading = web.page.getByRole('status', { name: 'Loading' });
      for (const view of views) {
        await web.open(view);
        await web.page.getByRole('tabpanel').first().waitFor();
        for (let tries = 0; tries < 100 && (await loading.count()) > 0; tries += 1)
          await web.page.waitForTimeout(50);
        expect([view, ...(await beyondEdge(web.page)), ...(await axeFindings(web.page))]).toEqual([view]);
      }
    },
  );
});
