import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('what was wrong once (skipped where no Chromium is installed)', () => {
  const web = useConsole();
  const openRecord = async () => {
    await web.open('/patients?find=P-0001');
    await web.page.getByRole('link', { name: 'P-0001' }).click();
    await web.page.getByText('6 of 6 compositions').waitFor();
  };

  it('draws three trends at once: the third throws out none, and takes no colour', async () => {
    await openRecord();
    const trends = web.page.locator('.trend');
    const colour = (index: number) => trends.nth(index).locator('.sparkline path').first().getAttribute('stroke');
    await trends.nth(0).click();
    const first = await colour(0);
    for (const index of [1, 2]) await trends.nth(index).click();
    for (const index of [0, 1, 2]) expect(await trends.nth(index).getAttribute('aria-pressed')).toBe('true');
    expect(await colour(0)).toBe(first);
    const label = await web.page.getByRole('img', { name: / over time$/ }).getAttribute('aria-label');
    expect(label?.split(', ')).toHaveLength(3);
  });

  it('turns pages at an address that can be read', async () => {
    const client = new Cdr({ url: web.url });
    for (let count = 0; count < 30; count += 1)
      await client.ehr.create({ subject: { namespace: 'pages', id: `page-${count}` } });
    await web.open('/patients');
    await web.page.getByRole('button', { name: 'Next' }).click();
    await web.page.getByText(/^26–/).waitFor();
    expect(new URL(web.page.url()).hash).toBe('#/patients?page=2');
    await web.page.reload();
    await web.page.getByText(/^26–/).waitFor();
    await web.expectGood();
  });

  it('draws commits and queries by one scale', async () => {
    await web.page.route('**/rest/overview', async (route) => {
      const answer = await route.fetch();
      const overview = (await answer.json()) as { activity: { minutes: object[] } };
      const { minutes } = overview.activity;
      minutes.splice(-1, 1, { ...minutes.at(-1), commits: 1456, queries: 4 });
      await route.fulfill({ response: answer, json: overview });
    });
    await web.open('/');
    const chart = web.page.locator('figure.activity').first();
    await web.page.waitForFunction(
      "[...document.querySelectorAll('rect.commits')].some((bar) => Number(bar.getAttribute('height')) > 71)",
    );
    const queries = await chart
      .locator('rect.queries')
      .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute('height'))));
    // Seen, and no taller than what is hardly anything.
    expect(Math.max(...queries)).toBe(2);
  });

  it('tells each document by its time to who hears its link, and moves the timeline by keys', async () => {
    await openRecord();
    const names = await web.page
      .locator('.composition-list a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('aria-label')));
    expect(names).toHaveLength(6);
    expect(new Set(names).size).toBe(6);
    const timeline = web.page.getByRole('group', { name: /Arrow keys move/ }).first();
    await timeline.focus();
    for (let key = 0; key < 8; key += 1) await web.page.keyboard.press('+');
    await web.page.getByText(/^[0-5] of 6 compositions$/).waitFor();
    await web.page.keyboard.press('Home');
    await web.page.getByText('6 of 6 compositions').waitFor();
  });

  it('says aloud that a document is saved, and finds in German what is wrong with it', async () => {
    await web.page.addInitScript("localStorage.setItem('everchart-language', JSON.stringify('de'))");
    const { id } = await new Cdr({ url: web.url }).ehr.create({});
    await web.open(`/patients/${id}/form?template=ehrbase_blood_pressure_simple.de.v0`);
    const systolic = web.page.getByLabel('Systolic').first();
    await systolic.fill('5000');
    await systolic.press('Tab');
    await web.page.getByText('muss 0 … < 1000 sein').waitFor();
    await web.page.getByRole('button', { name: 'Speichern', exact: true }).click();
    await web.page.getByText(/hat einen Wert, den das Template nicht zulässt/).waitFor();
    web.forgive('422');
    await web.expectGood();
    await systolic.fill('120');
    await web.page.getByRole('button', { name: 'Als Entwurf speichern' }).click();
    await web.page.getByRole('status').getByText(/[Ee]ntwurf/).first().waitFor();
    await web.expectGood();
  });
});
