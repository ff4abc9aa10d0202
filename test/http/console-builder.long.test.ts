import { describe, expect, it } from '@jest/globals';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the builder of queries (skipped where no Chromium is installed)', () => {
  const web = useConsole();
  const text = () => web.page.locator('.cm-content').innerText();
  const choose = async (label: string, option: RegExp) => {
    await web.page.getByRole('combobox', { name: label, exact: true }).click();
    await web.page.getByRole('option', { name: option }).first().click();
  };

  it('writes a query by terms, runs it, and reads back what is typed', async () => {
    await web.open('/query');
    await web.write('SELECT e/ehr_id/value AS ehr FROM EHR e');
    await web.page.getByRole('button', { name: 'Builder' }).click();
    await choose('Add an archetype', /blood pressure.*OBSERVATION/i);
    await web.page.locator('.cm-content', { hasText: 'CONTAINS OBSERVATION o[' }).waitFor();
    await choose('Add a column', /^Systolic/);
    await web.page.locator('.cm-content', { hasText: 'AS systolic' }).waitFor();
    await choose('Add a condition', /^Systolic/);
    await web.page.getByRole('combobox', { name: /^What is asked of Systolic/ }).click();
    await web.page.getByRole('option', { name: '>', exact: true }).click();
    await web.page.getByRole('textbox', { name: /^Value of Systolic/ }).fill('100');
    await web.page.keyboard.press('Enter');
    await web.page.locator('.cm-content', { hasText: /magnitude\s*> 100/ }).waitFor();
    await choose('Sorted by', /^systolic$/);
    await web.page.getByRole('button', { name: 'ascending' }).click();
    await web.page.getByLabel('At most, rows').fill('5');
    expect(await text()).toMatch(/ORDER BY systolic DESC\s*LIMIT 5/);
    // What it is sorted by goes on by its new name.
    const name = web.page.getByRole('textbox', { name: /^Name of Systolic/ });
    await name.fill('high');
    await name.press('Enter');
    await web.page.locator('.cm-content', { hasText: /ORDER BY high DESC/ }).waitFor();
    // A word of AQL is no name.
    await name.fill('order');
    await name.press('Enter');
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    expect(await text()).toContain('AS high');
    await name.fill('high');
    await web.expectGood();
    await web.page.setViewportSize({ width: 390, height: 844 });
    await web.expectGood();
    await web.page.setViewportSize({ width: 1440, height: 900 });
    await web.page.getByRole('button', { name: 'Run' }).click();
    await web.page.getByText(/^5 rows/).waitFor();
    // The text is the query: what is typed there stands in the builder.
    await web.write(
      "SELECT c/name/value AS what FROM COMPOSITION c WHERE c/name/value LIKE 'A*' OR EXISTS c/uid",
    );
    await web.page.getByText("(c/name/value LIKE 'A*' OR EXISTS c/uid)").waitFor();
    expect(await web.page.getByRole('textbox', { name: /^Name of/ }).inputValue()).toBe('what');
    // A field that shows what stood there before writes nothing back when it is left.
    const asked = web.page.getByRole('textbox', { name: /^Value of/ });
    for (const name of ['Anna', 'Bert']) {
      await web.write(`SELECT c/name/value AS what FROM COMPOSITION c WHERE c/name/value = '${name}'`);
      await web.page.locator(`input[value="${name}"]`).waitFor();
    }
    await asked.focus();
    await asked.blur();
    expect(await text()).toContain("'Bert'");
    // What would be no query is said, and changes nothing.
    await web.write('SELECT TOP 5 c/name/value FROM COMPOSITION c');
    await web.page.getByLabel('At most, rows').fill('7');
    await web.page.getByText('TOP and LIMIT cannot stand in one query').waitFor();
    expect(await text()).not.toContain('LIMIT');
    // What has no one place in this FROM is not offered.
    await web.write('SELECT o FROM EHR e CONTAINS OBSERVATION o');
    await web.page.getByText('What is grey has no one place in this FROM').waitFor();
    await web.write('SELECT c FROM');
    await web.page.getByText('The builder shows a query as soon as it can be read').waitFor();
    await web.expectGood();
  });
});
