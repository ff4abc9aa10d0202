import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { axeFindings, beyondEdge, useConsole } from '../support/browser/console.js';

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
    const cut = await web.page.evaluate<string[]>(
      `[...document.querySelectorAll('.rail .place span')].filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent)`,
    );
    expect(cut).toEqual([]);
    await web.expectGood();
  });

  it.each([
    ['a phone', 390, 844],
    ['a desk', 1440, 900],
  ])(
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
