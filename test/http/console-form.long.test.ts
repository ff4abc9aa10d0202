import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureText } from '../support/fixture.js';
import { bearer } from '../support/tokens.js';

const DRAFT = /\/rest\/draft\//;
const POSTED = /\/composition(\?|$)/;

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('what is typed into a form (skipped where no Chromium is installed)', () => {
  const web = useConsole({ auth: 'jwt' });
  const client = () => new Cdr({ url: web.url, token: bearer(['USER', 'ADMIN']).replace('Bearer ', '') });

  /** A new form of the template, signed in as ada. */
  const openForm = async () => {
    const templateId = await client()
      .templates.upload(fixtureText('opt/minimal_evaluation.en.v1.opt'))
      .catch(() => 'minimal_evaluation.en.v1');
    const ehr = await client().ehr.create({ subject: { namespace: 'ward', id: `form-${Math.random()}` } });
    await web.open(`/patients/${ehr.id}/form?template=${templateId}`);
    await web.pasteToken(['USER']);
    const quantity = web.page.getByLabel('quantity').first();
    await quantity.fill('12');
    // Enter takes the first that fits what was typed.
    const unit = web.page.getByRole('combobox', { name: 'Unit' }).first();
    await unit.fill('m');
    await unit.press('Enter');
    await unit.press('Enter');
    await unit.press('Enter');
    expect(await unit.inputValue()).toBe('mg');
    return { ehr, quantity };
  };
  const documents = async (ehrId: string) =>
    (await client().query('SELECT c/uid/value AS uid FROM EHR e CONTAINS COMPOSITION c', { ehrId })).rows
      .length;

  it('is sent by no Enter, outlives the session, and makes one document though answers are lost', async () => {
    const { ehr, quantity } = await openForm();
    const sent: string[] = [];
    web.page.on('request', (request) => {
      if (request.method() === 'POST' && POSTED.test(request.url()))
        sent.push(request.headers()['idempotency-key'] ?? '');
    });
    await quantity.press('Enter');
    await web.page.waitForFunction("document.activeElement.value !== '12'");
    expect(sent).toEqual([]);

    await web.page.route(POSTED, (route) => route.fulfill({ status: 401, json: { message: 'too old' } }));
    await quantity.press('Control+Enter');
    const dialog = web.page.getByRole('dialog');
    await dialog.getByText('Your session is over').waitFor();
    web.forgive('401');
    await web.expectGood();
    await web.page.unroute(POSTED);
    await dialog.getByLabel('Token').fill(bearer(['USER']).replace('Bearer ', ''));
    await dialog.locator('button[type=submit]').click();
    await dialog.waitFor({ state: 'detached' });
    expect(await quantity.inputValue()).toBe('12');

    const answers: string[] = [];
    await web.page.route(POSTED, async (route) => {
      const answer = await route.fetch();
      answers.push(`${answer.status()} ${answer.status() < 300 ? '' : await answer.text()}`);
      await route.abort();
    });
    await web.page.getByRole('button', { name: 'Save', exact: true }).click();
    await web.page.getByRole('alert').getByText('What you typed is kept here').waitFor();
    await web.page.unroute(POSTED);
    expect(new Set(answers)).toEqual(new Set(['201 ']));
    expect(await documents(ehr.id)).toBe(1);
    await web.page.getByRole('button', { name: 'Save', exact: true }).click();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    expect(await documents(ehr.id)).toBe(1);
    expect(new Set(sent).size).toBe(1);
    web.forgive('ERR_FAILED');
    await web.expectGood();
  });

  it('is kept when somebody signs out, without a question', async () => {
    const { ehr } = await openForm();
    web.page.on('dialog', (question) => {
      throw new Error(question.message());
    });
    await web.page.getByRole('button', { name: 'ada', exact: true }).click();
    await web.page.getByRole('menuitem', { name: 'Sign out' }).click();
    await web.page.getByLabel('Token').waitFor();
    const drafts = await client().request<{ ehr_id: string }[]>('GET', '/rest/draft');
    expect(drafts.body.filter(({ ehr_id: of }) => of === ehr.id)).toHaveLength(1);
  });

  it('is saved once when the server is back, which is asked for by itself', async () => {
    const { ehr } = await openForm();
    await web.page.route('**/*', (route) => route.abort());
    await web.page.getByRole('button', { name: 'Save', exact: true }).click();
    const kept = web.page.getByRole('alert').getByText('What you typed is kept here');
    await kept.waitFor();
    const away = web.page.getByRole('status').getByText('asked again every few seconds');
    await away.waitFor();
    await web.page.unroute('**/*');
    await away.waitFor({ state: 'detached' });
    // Nobody sends a document by himself.
    expect(await kept.isVisible()).toBe(true);
    expect(await documents(ehr.id)).toBe(0);
    await web.page.getByRole('button', { name: 'Save', exact: true }).click();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    expect(await documents(ehr.id)).toBe(1);
    web.forgive('ERR_FAILED');
    await web.expectGood();
  });

  it('is shown to nobody else, and signing out keeps it or asks', async () => {
    const { ehr, quantity } = await openForm();
    const questions: string[] = [];
    web.page.once('dialog', (question) => {
      questions.push(question.message());
      void question.dismiss();
    });
    // Nothing is kept by a server that may not.
    await web.page.route(DRAFT, (route) => route.fulfill({ status: 403, json: { message: 'no' } }));
    await web.page.getByRole('button', { name: 'ada', exact: true }).click();
    await web.page.getByRole('menuitem', { name: 'Sign out' }).click();
    await web.page.getByRole('menu').waitFor({ state: 'detached' });
    expect(questions).toHaveLength(1);
    expect(await quantity.inputValue()).toBe('12');

    await web.page.route(POSTED, (route) => route.fulfill({ status: 401, json: { message: 'too old' } }));
    await quantity.press('Control+Enter');
    const dialog = web.page.getByRole('dialog');
    await dialog.getByLabel('Token').fill(bearer(['USER'], 'bob').replace('Bearer ', ''));
    await dialog.locator('button[type=submit]').click();
    await dialog.waitFor({ state: 'detached' });
    const shown = () =>
      web.page
        .locator('input')
        .evaluateAll((fields) => fields.map((field) => (field as unknown as { value: string }).value));
    while ((await shown()).includes('12')) await pause(50);
    await web.open(`/patients/${ehr.id}`);
    await web.page.getByText('This record is empty').waitFor();
    expect(await web.page.getByText('Begun and not saved').count()).toBe(0);
  });

  it('stands below whose record it is, on paper too, and a patient that the palette finds is opened by Enter', async () => {
    const { ehr } = await openForm();
    const banner = web.page.getByLabel('Patient', { exact: true });
    await banner.getByText(/^form-/).waitFor();
    await banner.getByText('ward').waitFor();
    await banner.getByText(ehr.id).waitFor();
    await web.page.emulateMedia({ media: 'print' });
    expect([await banner.isVisible(), await web.page.locator('.rail').isVisible()]).toEqual([true, false]);
    await web.page.emulateMedia({ media: 'screen' });
    await web.expectGood();
    const subject = await banner.getByText(/^form-/).textContent();
    web.page.on('dialog', (question) => void question.accept());
    await web.page.locator('.rail-search').click();
    await web.page.getByRole('textbox', { name: 'Search' }).fill(subject!);
    await web.page.locator('.mantine-Spotlight-action', { hasText: ehr.id }).waitFor();
    await web.page.keyboard.press('Enter');
    await web.page.getByRole('heading', { name: subject! }).waitFor();
  });
});
