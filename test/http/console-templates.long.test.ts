import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureText } from '../support/fixture.js';
import { ADMIN, bearer } from '../support/tokens.js';

const inBrowser = hasBrowser ? describe : describe.skip;
const NAME = 'minimal_evaluation.en.v1';
const OPT = fixtureText(`opt/${NAME}.opt`);

inBrowser('the templates of a modeller (skipped where no Chromium is installed)', () => {
  const web = useConsole({ auth: 'jwt' });
  const admin = () => new Cdr({ url: web.url, token: ADMIN.replace('Bearer ', '') });
  const drop = async (text: string) => {
    await web.page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.opt', mimeType: 'application/xml', buffer: Buffer.from(text) });
  };
  const upload = (text = OPT) =>
    admin()
      .templates.upload(text)
      .catch(() => NAME);

  it('are refused with the place of what is wrong', async () => {
    await web.open('/templates');
    await web.pasteToken(['USER']);
    const at = OPT.lastIndexOf('<rm_type_name>ELEMENT');
    await drop(`${OPT.slice(0, at)}<rm_type_name>ELEMENTS${OPT.slice(at + '<rm_type_name>ELEMENT'.length)}`);
    const alert = web.page.getByRole('alert');
    await alert.getByText('Invalid template: unknown RM type ELEMENTS').first().waitFor();
    await alert.getByText(/^\/content\[openEHR-EHR-EVALUATION/).waitFor();
    await drop(OPT.replace('</concept>', '</concepts>'));
    await alert.getByText(/<\/concepts> where <concept> is open \(line 41, column \d+\)/).waitFor();
    web.forgive('400');
    await web.expectGood();
  });

  it('are replaced and deleted by an administrator where nothing uses them, and go out as they came in', async () => {
    await upload();
    await web.open('/templates');
    await web.pasteToken(['ADMIN']);
    // One node may be repeated less often.
    const changed = OPT.replace(
      '<upper_unbounded>true</upper_unbounded>',
      '<upper_unbounded>false</upper_unbounded><upper>7</upper>',
    );
    await drop(changed);
    // What it does is seen before it is done.
    await web.page.getByRole('heading', { name: 'What would change' }).waitFor();
    const [was, is] = [
      await web.page.locator('.template-differences del').first().innerText(),
      await web.page.locator('.template-differences ins').first().innerText(),
    ];
    expect([was, is].join(' → ')).toMatch(/\*.* → .*7/);
    expect(await admin().templates.get(NAME)).toBe(OPT);
    await web.page.getByRole('button', { name: 'Replace the stored one' }).click();
    await web.page.getByRole('heading', { name: NAME }).waitFor();
    expect(await admin().templates.get(NAME)).toBe(changed);
    const saved = web.page.waitForEvent('download');
    await web.page.getByRole('button', { name: 'Download OPT' }).click();
    const file = await saved;
    expect([file.suggestedFilename(), readFileSync(await file.path(), 'utf8')]).toEqual([
      `${NAME}.opt`,
      changed,
    ]);
    web.page.once('dialog', (question) => void question.accept());
    await web.page.getByRole('button', { name: 'Delete' }).click();
    await web.page.getByText('No templates yet').waitFor();
    web.forgive('409');
    await web.expectGood();
  });

  it('are compared at an address that can be sent to somebody', async () => {
    await upload();
    const other = await admin()
      .templates.upload(fixtureText('opt/minimal_admin.en.v1.opt'))
      .catch(() => 'minimal_admin.en.v1');
    await web.open(`/templates/${NAME}`);
    await web.page.getByLabel('Token').fill(bearer(['USER']).replace('Bearer ', ''));
    await web.page.locator('main button[type=submit]').click();
    await web.page.getByRole('combobox', { name: 'Compare with another template' }).click();
    await web.page.getByRole('option', { name: other }).click();
    await web.page.locator('.template-differences li').first().waitFor();
    expect(new URL(web.page.url()).hash).toBe(`#/templates/${NAME}?with=${other}`);
    await web.expectGood();
  });

  it('have the words of archetypes that are stored, in languages which they lack', async () => {
    await upload();
    const archetype = readFileSync('routes/http/openapi/data/pulse_of_house.adl', 'utf8').replace(
      'openEHR-EHR-OBSERVATION.pulse_of_house.v1',
      'openEHR-EHR-EVALUATION.minimal.v1',
    );
    await admin()
      .request('POST', '/rest/openehr/v1/definition/archetype/adl1.4', {
        body: archetype,
        type: 'text/plain',
      })
      .catch(() => undefined);
    await web.open(`/templates/${NAME}`);
    await web.page.getByLabel('Token').fill(bearer(['USER']).replace('Bearer ', ''));
    await web.page.locator('main button[type=submit]').click();
    await web.page.getByRole('heading', { name: 'Example' }).waitFor();
    const german = web.page.locator('.node-facts dt', { hasText: 'German' });
    expect(await german.count()).toBe(0);
    await web.page.getByRole('treeitem').nth(1).click();
    await german.waitFor();
    await web.page.getByText('Puls — Der Schlag eines Herzens.').waitFor();
    await web.expectGood();
  });

  it('are replaced by nobody else', async () => {
    await upload();
    await web.open('/templates');
    await web.pasteToken(['USER']);
    await drop(OPT.replace(/<concept>[^<]*</, '<concept>Other<'));
    await web.page.getByText('An administrator can replace one that no document uses.').waitFor();
    expect(await web.page.getByRole('button', { name: 'Replace the stored one' }).count()).toBe(0);
    web.forgive('409');
    await web.expectGood();
  });

  it('are a tree of one stop, walked by arrows, folded, and chosen by Enter', async () => {
    await upload();
    await web.open(`/templates/${NAME}`);
    await web.page.getByLabel('Token').fill(bearer(['USER']).replace('Bearer ', ''));
    await web.page.locator('main button[type=submit]').click();
    const items = web.page.getByRole('treeitem');
    await items.first().waitFor();
    const count = await items.count();
    expect(await web.page.locator('[role=treeitem][tabindex="0"]').count()).toBe(1);
    await items.first().focus();
    const focused = () => web.page.evaluate<string>('document.activeElement.textContent');
    const root = await focused();
    await web.page.keyboard.press('ArrowDown');
    await web.page.keyboard.press('ArrowDown');
    const second = await focused();
    expect(second).not.toBe(root);
    await web.page.keyboard.press('Enter');
    expect(await web.page.locator('[role=treeitem][aria-selected=true]').textContent()).toBe(second);
    await web.page.keyboard.press('Home');
    await web.page.keyboard.press('ArrowLeft');
    expect(await items.count()).toBe(1);
    await web.page.keyboard.press('ArrowRight');
    expect(await items.count()).toBe(count);
    await web.expectGood();
  });
});
