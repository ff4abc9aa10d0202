import { describe, expect, it } from '@jest/globals';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('saving a form (skipped where no Chromium is installed)', () => {
  const web = useConsole();
  const openForm = async () => {
    await web.open('/patients');
    await web.page.getByRole('link', { name: 'P-0001' }).click();
    await web.page.locator('.composition-list li', { hasText: 'mmHg' }).first().getByRole('link').click();
    await web.page.getByRole('button', { name: 'Edit' }).click();
    await web.page.getByLabel(/Syst/).first().fill('131');
  };

  it('is done at once where it changes what was typed alone', async () => {
    await openForm();
    const asked = web.page.waitForResponse(/\/rest\/preview\//);
    await web.page.getByRole('button', { name: 'Save', exact: true }).click();
    expect((await asked).status()).toBe(200);
    await web.page.getByText('Version 2', { exact: true }).waitFor();
    expect(await web.page.getByText('131').first().isVisible()).toBe(true);
    await web.expectGood();
  });

  it('shows first what else it would change, and changes nothing until that is wanted', async () => {
    // As a server would answer that reads a form otherwise than it wrote it.
    await web.page.route(/\/rest\/preview\//, async (route) => {
      const answer = await route.fetch();
      const document = (await answer.json()) as { territory: { code_string: string } };
      document.territory.code_string = 'AQ';
      await route.fulfill({ response: answer, json: document });
    });
    const saved: string[] = [];
    web.page.on('request', (request) => request.method() === 'PUT' && saved.push(request.url()));
    const documents = () => saved.filter((url) => url.includes('/composition/')).length;
    await openForm();
    await web.page.getByRole('button', { name: 'Save', exact: true }).click();
    const warning = web.page.getByRole('alert');
    await warning.getByText('Saving would also change what you did not type').waitFor();
    expect(await warning.locator('ins').allInnerTexts()).toEqual([expect.stringContaining('AQ')]);
    expect(documents()).toBe(0);
    await web.expectGood();
    await warning.getByRole('button', { name: 'Go on writing' }).click();
    await warning.waitFor({ state: 'detached' });
    expect(await web.page.getByLabel(/Syst/).first().inputValue()).toContain('131');
    await web.page.getByRole('button', { name: 'Save', exact: true }).click();
    await warning.getByRole('button', { name: 'Save it all the same' }).click();
    await web.page
      .getByText(/Version \d/)
      .first()
      .waitFor();
    expect(documents()).toBe(1);
    await web.expectGood();
  });
});
