import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the search of everything (skipped where no Chromium is installed)', () => {
  const web = useConsole();
  const blur = () => web.page.evaluate('document.activeElement.blur()');
  const hits = () => web.page.locator('.mantine-Spotlight-action');

  it('loses no letter that is typed before it is there, and takes Enter of then when it has found', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await web.page.route(/Palette/, async (route) => {
      await held;
      await route.continue();
    });
    await web.open('/');
    await web.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await web.page.keyboard.press('Control+K');
    await web.page.keyboard.type('P-00012');
    await web.page.keyboard.press('Backspace');
    await web.page.keyboard.press('Enter');
    release();
    await web.page.getByText('6 of 6 compositions').waitFor();
    await web.page.getByRole('heading', { name: 'P-0001' }).waitFor();
    expect(await hits().count()).toBe(0);
    await web.expectGood();
  });

  it('takes keys as long as the focus is where it was, and closes by Escape before it is there', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await web.page.route(/Palette/, async (route) => {
      await held;
      await route.continue();
    });
    await web.open('/patients');
    const field = web.page.locator('main input').first();
    await field.waitFor();
    await blur();
    await web.page.keyboard.press('Control+K');
    await web.page.keyboard.type('x');
    await field.focus();
    await web.page.keyboard.type('P-0001');
    expect(await field.inputValue()).toBe('P-0001');
    await blur();
    await web.page.keyboard.press('Escape');
    release();
    await web.page.getByRole('link', { name: 'Overview', exact: true }).click();
    await web.page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await web.page.getByRole('textbox', { name: 'Search' }).count()).toBe(0);
    await web.expectGood();
  });

  it('offers four favourites at first, and the pages below them', async () => {
    const ehrs = Array.from({ length: 9 }, (_, index) => ({
      ehr_id: `${index}`,
      subject: { id: `F-${index}` },
    }));
    await web.page.route('**/rest/favourite', (route) => route.fulfill({ json: ehrs }));
    await web.open('/');
    await web.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await web.page.keyboard.press('Control+K');
    await hits().filter({ hasText: 'F-3' }).waitFor();
    expect(await hits().filter({ hasText: 'F-' }).count()).toBe(4);
    await hits().filter({ hasText: 'Patients' }).waitFor();
    await web.expectGood();
  });

  it('tells in words what a favourite cannot become', async () => {
    await web.open('/patients');
    await web.page.getByRole('link', { name: 'P-0002' }).click();
    await web.page.route('**/rest/favourite/*', (route) =>
      route.fulfill({ status: 403, json: { message: 'never' } }),
    );
    await web.page.getByRole('button', { name: 'Make it a favourite' }).click();
    await web.page.getByRole('status').getByText('Not allowed: never').waitFor();
    await web.page.locator('.star[aria-pressed=false]').waitFor();
    web.forgive('403');
    await web.expectGood();
  });

  it('opens what Enter asks for, not what was found for fewer letters', async () => {
    await web.open('/');
    await web.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await web.page.keyboard.press('Control+K');
    await web.page.locator('input[aria-label="Search"]:focus').waitFor();
    await web.page.keyboard.type('P-000');
    await hits().filter({ hasText: 'P-0003' }).waitFor();
    await web.page.keyboard.type('2');
    await web.page.keyboard.press('Enter');
    await web.page.getByRole('heading', { name: 'P-0002' }).waitFor();
    await web.expectGood();
  });

  it('opens a stored query in the editor that is there', async () => {
    const client = new Cdr({ url: web.url });
    await client.queries.store('org.palette::ids', 'SELECT e/ehr_id/value AS palette FROM EHR e');
    await web.open('/query');
    await web.write('SELECT c FROM COMPOSITION c');
    await blur();
    await web.page.keyboard.press('Control+K');
    await web.page.locator('input[aria-label="Search"]:focus').waitFor();
    await web.page.keyboard.type('org.palette');
    await hits().filter({ hasText: 'org.palette::ids' }).waitFor();
    await web.page.keyboard.press('Enter');
    await web.page.locator('.cm-content', { hasText: 'AS palette' }).waitFor();
    await web.expectGood();
  });

  it('offers whom one opened and whom one keeps, without a search', async () => {
    await web.open('/patients');
    await web.page.getByRole('link', { name: 'P-0002' }).click();
    const star = web.page.getByRole('button', { name: 'Make it a favourite' });
    await star.press('Enter');
    await web.page.getByRole('status').getByText('It is a favourite now').waitFor();
    await web.page.locator('.star[aria-pressed=true]:focus').waitFor();
    await web.page.getByRole('link', { name: 'Patients', exact: true }).first().click();
    await web.page.getByRole('navigation', { name: 'Opened lately' }).getByText('P-0002').waitFor();
    await web.expectGood();
    // A new page has forgotten whom one opened, and the server has not forgotten whom one keeps.
    await web.page.reload();
    const kept = web.page.getByRole('navigation', { name: 'Favourites' });
    await kept.getByText('P-0002').waitFor();
    expect(await web.page.getByRole('navigation', { name: 'Opened lately' }).count()).toBe(0);
    await web.page.keyboard.press('Control+K');
    await hits().filter({ hasText: 'P-0002' }).waitFor();
    const group = web.page.locator('.mantine-Spotlight-actionsGroup').first();
    expect(await group.getAttribute('style')).toContain('Favourites');
    await web.page.keyboard.press('ArrowDown');
    await web.page.keyboard.press('Enter');
    await web.page.getByRole('heading', { name: 'P-0002' }).waitFor();
    await star.click();
    await web.page.locator('.star[aria-pressed=false]').waitFor();
    await web.page.getByRole('link', { name: 'Patients', exact: true }).first().click();
    await web.page.getByRole('link', { name: 'P-0002' }).first().waitFor();
    expect(await kept.count()).toBe(0);
    await web.expectGood();
  });

  it('leads back to where one was, and begins a new page at its top', async () => {
    const scrolled = () => web.page.evaluate<number>('scrollY');
    await web.page.setViewportSize({ width: 1000, height: 420 });
    await web.open('/patients');
    await web.page.getByRole('link', { name: 'P-0001' }).click();
    const documents = web.page.locator('.composition-list a');
    await documents.last().scrollIntoViewIfNeeded();
    await web.page.locator('.content-line').first().waitFor();
    await documents.last().scrollIntoViewIfNeeded();
    const before = await scrolled();
    expect(before).toBeGreaterThan(100);
    await documents.last().click();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    expect(await scrolled()).toBe(0);
    await web.page.goBack();
    await documents.last().waitFor();
    for (let tries = 0; tries < 50 && (await scrolled()) !== before; tries += 1)
      await web.page.waitForTimeout(100);
    expect(await scrolled()).toBe(before);
  });
});
