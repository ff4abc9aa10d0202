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

  it('says nothing of the most there was in a minute in which nothing was', async () => {
    await web.page.route('**/rest/overview', async (route) => {
      const answer = await route.fetch();
      const overview = (await answer.json()) as { activity: { minutes: object[] } };
      const minutes = overview.activity.minutes.map((each) => ({ ...each, commits: 0, queries: 0 }));
      overview.activity = { ...overview.activity, minutes };
      await route.fulfill({ response: answer, json: overview });
    });
    await web.open('/');
    await web.page.getByRole('img', { name: /in the last hour$/ }).waitFor();
    expect(await web.page.locator('figure.activity').first().innerText()).not.toContain('a minute');
    await web.expectGood();
  });

  it('says how full the disk is, what waits, and what the last check found, which is told on the overview too', async () => {
    await web.open('/administration?tab=server');
    await web.pasteToken(['ADMIN'], 'ben');
    const fact = (name: string) => web.page.locator('dl div', { hasText: name }).locator('dd');
    await fact('Its disk')
      .getByText(/^[\d.,]+ [GT]B of [\d.,]+ [GT]B used \(\d+ %\)$/)
      .waitFor();
    await fact('Database')
      .getByText(/^MongoDB \S+ · [\d.,]+ [kM]B$/)
      .waitFor();
    expect(await fact('Queries that wait').innerText()).toBe('0');
    await fact('Last check of all').getByText('None has ended yet').waitFor();
    await web.page.getByRole('link', { name: 'Overview', exact: true }).click();
    await web.page
      .getByRole('list', { name: 'Needs you' })
      .getByRole('link', { name: 'What is stored was never checked' })
      .click();
    await web.page.getByRole('button', { name: 'Verify what is stored' }).click();
    await fact('Last check of all').getByText('Everything is as it should be.').waitFor();
    // In counts; the report itself is folded.
    const found = web.page.getByRole('list', { name: 'What the check found' });
    await found.getByText(/^templates: [1-9]/).waitFor();
    expect(await web.page.locator('main pre').isVisible()).toBe(false);
    await web.page.getByText('As JSON').click();
    await web.page.locator('main pre', { hasText: '"violations": []' }).waitFor();
    await web.expectGood();
    // As a store would answer in which something is wrong, on a disk that fills up.
    await web.page.route('**/rest/overview', async (route) => {
      const answer = await route.fetch();
      const overview = (await answer.json()) as { database: object; verified: object };
      overview.database = { ...overview.database, disk: { used: 95e9, bytes: 1e11 } };
      const time = new Date(Date.now() - 10 * 86_400_000).toISOString();
      overview.verified = { ...overview.verified, violations: 2, time };
      await route.fulfill({ response: answer, json: overview });
    });
    await web.page.getByRole('link', { name: 'Overview', exact: true }).click();
    const needs = web.page.getByRole('list', { name: 'Needs you' });
    await needs.getByRole('link', { name: /^[1-9]\d* refused sign-ins? in the last day$/ }).waitFor();
    await needs.getByRole('link', { name: 'What is stored was last checked 10 days ago' }).waitFor();
    await needs.getByRole('link', { name: 'The disk of the database is 95 % full' }).waitFor();
    await needs.getByRole('link', { name: 'The last check of what is stored found 2 violations' }).click();
    await fact('Last check of all').getByText('2 things are wrong.').waitFor();
    await web.expectGood();
  });

  it('leads from a slow query to what makes it slow', async () => {
    await web.open('/query');
    await web.write('SELECT c/uid/value AS uid FROM EHR e CONTAINS COMPOSITION c');
    await web.page.getByRole('button', { name: 'Run' }).click();
    await web.page.getByText('18 rows').waitFor();
    await web.page.getByRole('link', { name: 'Overview', exact: true }).click();
    await web.page
      .locator('.lines a', { hasText: /^SELECT c\/uid\/value AS uid/ })
      .first()
      .click();
    await web.page.locator('.stages li').first().waitFor();
    await web.expectGood();
    await web.write("SELECT c/uid/value AS id FROM COMPOSITION c WHERE c/name/value = 'x'");
    await web.page.getByRole('button', { name: 'Run' }).click();
    await web.page.getByText('No rows').waitFor();
    await web.page.getByRole('link', { name: 'Overview', exact: true }).click();
    await web.page
      .locator('.lines a', { hasText: /^SELECT c\/uid\/value AS id/ })
      .first()
      .click();
    // What it compared with is not kept: whoever knows it goes on.
    await web.page.getByLabel('$value1').fill('y');
    await web.page.keyboard.press('Enter');
    await web.page.locator('.stages li').first().waitFor();
    await web.expectGood();
    // With what would make it quicker, in words.
    await web.write('SELECT DISTINCT o FROM OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]');
    await web.page.getByRole('button', { name: 'Explain' }).click();
    await web.page.locator('.hints li', { hasText: 'select primitive values to avoid it' }).waitFor();
    // As the server would say it where thousands are read for a few.
    const said =
      'reads 9604 documents for 12 rows because no index serves o/data/origin/value > 5: its path has no at-code at data';
    await web.page.route('**/aql/explain', async (route) => {
      const answer = await route.fetch();
      const explained = (await answer.json()) as { advice: object[] };
      explained.advice = [{ code: 'waste_at_code', message: said, values: {} }, ...explained.advice];
      await route.fulfill({ response: answer, json: explained });
    });
    await web.page.getByRole('button', { name: 'Explain' }).click();
    await web.page.locator('.hints li', { hasText: said }).waitFor();
    await web.expectGood();
  });
});
