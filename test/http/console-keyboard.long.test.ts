import { describe, expect, it } from '@jest/globals';
import { hasBrowser } from '../support/browser/browser.js';
import { axeFindings, beyondEdge, useConsole } from '../support/browser/console.js';

const inBrowser = hasBrowser ? describe : describe.skip;

/** What has the focus: its text or label, and whether it looks other than without. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  const look = () => {
    const { outline, outlineStyle, boxShadow, borderColor, backgroundColor } = getComputedStyle(element);
    return [outlineStyle === 'none' ? '' : outline, boxShadow, borderColor, backgroundColor].join();
  };
  const before = look();
  const name = element.getAttribute('aria-label') ?? element.textContent.trim().slice(0, 40);
  element.blur();
  const after = look();
  element.focus();
  return { tag: element.tagName, name, isSeen: before !== after };
})()`;

interface Focused {
  readonly tag: string;
  readonly name: string;
  readonly isSeen: boolean;
}

inBrowser(
  'the console without a mouse, and on small screens (skipped where no Chromium is installed)',
  () => {
    const web = useConsole();
    const { open } = web;
    const press = (key: string): Promise<void> => web.page.keyboard.press(key);
    const focused = (): Promise<Focused> => web.page.evaluate<Focused>(FOCUSED);

    it.each([
      ['/', 'heading', 'Overview'],
      ['/patients', 'link', 'P-0001'],
      ['/templates', 'link', 'Corona_Anamnese'],
      ['/query', 'button', 'Run'],
      ['/administration', 'heading', 'Administration'],
    ] as const)('shows where the focus is, at every stop of %s', async (view, role, name) => {
      await open(view);
      await web.page.getByRole(role, { name, exact: true }).first().waitFor();
      await web.page.evaluate('document.activeElement.blur()');
      const stops: Focused[] = [];
      for (let stop = 0; stop < 14; stop += 1) {
        await press('Tab');
        const at = await focused();
        if (at.tag !== 'BODY') stops.push(at);
      }
      expect(stops.length).toBeGreaterThan(8);
      expect(stops.filter(({ isSeen }) => !isSeen)).toEqual([]);
    });

    it('skips the rail, lists its keys, and gives the focus back', async () => {
      await open('/');
      await web.page.getByRole('heading', { name: 'Overview' }).waitFor();
      await press('Tab');
      await press('Enter');
      expect(await web.page.evaluate('document.activeElement.id')).toBe('main');
      await press('?');
      await web.page.getByRole('dialog').getByText('Ctrl K').waitFor();
      await press('Escape');
      await web.page.getByRole('dialog').waitFor({ state: 'hidden' });
      expect(await web.page.evaluate('document.activeElement.id')).toBe('main');
    });

    it('finds a patient, a template and a page from anywhere', async () => {
      await open('/');
      await web.page.getByRole('heading', { name: 'Overview' }).waitFor();
      for (const [typed, title] of [
        ['P-0002', 'P-0002'],
        ['Corona', 'Corona_Anamnese'],
        ['Administ', 'Administration'],
      ] as const) {
        await press('Control+K');
        await web.page.getByRole('textbox', { name: /Search|Find/ }).fill(typed);
        await web.page.locator('.mantine-Spotlight-action', { hasText: title }).first().waitFor();
        await press('ArrowDown');
        await press('Enter');
        await web.page.getByRole('heading', { name: title }).first().waitFor();
      }
    });

    it('goes through tabs by arrow keys, and leaves the editor', async () => {
      await open('/patients');
      await web.page.getByRole('link', { name: 'P-0001' }).click();
      const tabs = web.page.getByRole('tab');
      await tabs.first().focus();
      await press('ArrowRight');
      expect(await tabs.nth(1).getAttribute('aria-selected')).toBe('true');
      await open('/query');
      await web.page.locator('.cm-content').focus();
      await press('Escape');
      await press('Tab');
      expect(await web.page.evaluate(`document.activeElement.closest('.cm-content') === null`)).toBe(true);
    });

    it('goes to the last of a hundred thousand rows, of which only those in sight are made', async () => {
      const rows = Array.from({ length: 100_000 }, (_, index) => [index, `row ${index}`]);
      const columns = ['number', 'text'].map((name) => ({ name, path: '' }));
      await web.page.route('**/query/aql', (route) => route.fulfill({ json: { q: '', columns, rows } }));
      await open('/query');
      await web.page.getByRole('button', { name: 'Run' }).click();
      const table = web.page.getByRole('table', { name: 'Table' });
      await web.page.getByRole('cell', { name: 'row 7', exact: true }).waitFor();
      expect(await table.getAttribute('aria-rowcount')).toBe('100001');
      await table.focus();
      await press('End');
      await web.page.getByRole('cell', { name: 'row 99999', exact: true }).waitFor();
      expect(await web.page.locator('[aria-rowindex="100001"]').textContent()).toContain('row 99999');
      expect(await web.page.getByRole('row').count()).toBeLessThan(100);
      await web.page.getByText('These are the first 100,000 rows').waitFor();
      await web.page.getByRole('columnheader', { name: 'number' }).getByRole('button').click();
      await web.page.getByRole('columnheader', { name: 'number ↑' }).getByRole('button').click();
      await press('Home');
      await web.page.getByText('JSON', { exact: true }).click();
      await web.page.getByText('The first 1,000 rows; NDJSON has them all.').waitFor();
      await web.expectGood();
    });

    it('narrows a record by the wheel over its timeline', async () => {
      await open('/patients');
      await web.page.getByRole('link', { name: 'P-0002' }).click();
      const timeline = web.page.getByRole('img', { name: /compositions/ }).first();
      await web.page.getByText('6 of 6 compositions').waitFor();
      await timeline.hover();
      for (let turn = 0; turn < 6; turn += 1) await web.page.mouse.wheel(0, -400);
      await web.page.getByText(/^[0-5] of 6 compositions$/).waitFor();
      await timeline.hover();
      for (let turn = 0; turn < 20; turn += 1) await web.page.mouse.wheel(0, 400);
      await web.page.getByText('6 of 6 compositions').waitFor();
    });

    it.each([
      ['twice as large', 720, 450],
      ['on a phone', 390, 844],
    ])(
      'scrolls no page sideways, and keeps each readable in light and dark, %s',
      async (_, width, height) => {
        await web.page.setViewportSize({ width, height });
        await open('/patients');
        await web.page.getByRole('link', { name: 'P-0001' }).click();
        await web.page.getByText('6 of 6 compositions').waitFor();
        const patient = new URL(web.page.url()).hash.slice(1);
        await web.page.locator('.composition-list a').first().click();
        await web.page.getByRole('tab', { name: 'FLAT' }).waitFor();
        const composition = new URL(web.page.url()).hash.slice(1);
        const views = [
          '/',
          '/patients',
          patient,
          composition,
          `${patient}/form?template=ehrbase_blood_pressure_simple.de.v0`,
          `${patient}/form?template=Corona_Anamnese`,
          '/templates',
          '/templates/Corona_Anamnese',
          '/query',
          '/dashboards',
        ];
        for (const view of [...views, '/administration', '/nowhere']) {
          await open(view);
          await web.page.locator('#main h1, #main h2').first().waitFor();
          await web.page.waitForLoadState('networkidle');
          expect([view, ...(await beyondEdge(web.page)), ...(await axeFindings(web.page))]).toEqual([view]);
        }
      },
    );

    it('says that the server is away, and goes on by itself when it is back', async () => {
      await open('/');
      await web.page.getByRole('heading', { name: 'Overview' }).waitFor();
      await web.page.waitForLoadState('networkidle');
      await web.page.route(/\/(rest|console\/settings)/, (route) => route.abort());
      await web.page.getByRole('link', { name: 'Patients', exact: true }).click();
      await web.page.locator('.away').waitFor({ timeout: 5_000 });
      await web.page.unroute(/\/(rest|console\/settings)/);
      await web.page.getByRole('link', { name: 'P-0001' }).waitFor();
      await web.page.locator('.away').waitFor({ state: 'detached' });
    });
  },
);
