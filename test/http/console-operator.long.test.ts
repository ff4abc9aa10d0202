import { describe, expect, it } from '@jest/globals';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the day of an operator (skipped where no Chromium is installed)', () => {
  const web = useConsole();

  it('is a line of requests, errors, refused sign-ins and times, with its numbers', async () => {
    // Nobody is let in with this; the overview counts it.
    const refused = await fetch(`${web.url}/rest/admin/status`, { headers: { Authorization: 'Bearer x' } });
    expect(refused.status).toBe(401);
    await web.open('/');
    const day = web.page.locator('figure.day');
    await day.getByText(/^Refused sign-ins [1-9]/).waitFor();
    await day.getByRole('img', { name: /requests, 0 errors and \d+ refused sign-ins/ }).waitFor();
    await day.getByText('The numbers as a table').click();
    await day.getByRole('row').nth(1).waitFor();
    await web.expectGood();
  });

  it('leads from a slow query to what makes it slow', async () => {
    await web.open('/query');
    await web.write('SELECT c/uid/value AS uid FROM EHR e CONTAINS COMPOSITION c');
    await web.page.getByRole('button', { name: 'Run' }).click();
    await web.page.getByText('18 rows').waitFor();
    await web.page.getByRole('link', { name: 'Overview' }).click();
    await web.page
      .locator('.lines a', { hasText: /^SELECT c\/uid\/value AS uid/ })
      .first()
      .click();
    await web.page.locator('.stages li').first().waitFor();
    await web.expectGood();
    await web.write("SELECT c/uid/value AS id FROM COMPOSITION c WHERE c/name/value = 'x'");
    await web.page.getByRole('button', { name: 'Run' }).click();
    await web.page.getByText('No rows').waitFor();
    await web.page.getByRole('link', { name: 'Overview' }).click();
    await web.page
      .locator('.lines a', { hasText: /^SELECT c\/uid\/value AS id/ })
      .first()
      .click();
    // What it compared with is not kept: whoever knows it goes on.
    await web.page.getByLabel('$value1').fill('y');
    await web.page.keyboard.press('Enter');
    await web.page.locator('.stages li').first().waitFor();
    await web.expectGood();
  });
});
