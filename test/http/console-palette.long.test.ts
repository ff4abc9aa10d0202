import { describe, expect, it } from '@jest/globals';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the search of everything (skipped where no Chromium is installed)', () => {
  const web = useConsole();
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
});
