import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureText } from '../support/fixture.js';
import { bearer } from '../support/tokens.js';

const token = (user: string) => bearer(['USER', 'ADMIN'], user).replace('Bearer ', '');

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('what is typed and not saved (skipped where no Chromium is installed)', () => {
  const web = useConsole({ auth: 'jwt' });
  const client = () => new Cdr({ url: web.url, token: token('ada') });
  const quantity = () => web.page.getByLabel('quantity').first();
  const drafts = async (user = 'ada') =>
    (await new Cdr({ url: web.url, token: token(user) }).request<{ ehr_id: string }[]>('GET', '/rest/draft'))
      .body;

  const openForm = async () => {
    const templateId = await client()
      .templates.upload(fixtureText('opt/minimal_evaluation.en.v1.opt'))
      .catch(() => 'minimal_evaluation.en.v1');
    const ehr = await client().ehr.create({ subject: { namespace: 'ward', id: `d-${Math.random()}` } });
    await web.page.clock.install();
    await web.open(`/patients/${ehr.id}/form?template=${templateId}`);
    await web.pasteToken(['USER']);
    await quantity().fill('12');
    return { ehr, templateId };
  };
  const mine = async (ehrId: string, user?: string) =>
    (await drafts(user)).filter(({ ehr_id: of }) => of === ehrId);
  /** Another tab, or the same machine after it was switched off. */
  const startAgain = async (view: string, user?: string) => {
    await web.page.goto('about:blank');
    await web.open(view);
    await web.pasteToken(['USER'], user);
  };

  it('is on the server within half a minute, nowhere in the browser, and there again after a loss', async () => {
    const { ehr, templateId } = await openForm();
    await web.page.clock.fastForward(30_000);
    await web.page.getByText('What you typed is kept').waitFor();
    await web.expectGood();
    expect(await mine(ehr.id)).toHaveLength(1);
    const kept = await web.page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(kept).not.toMatch(/quantity|magnitude/);

    await startAgain(`/patients/${ehr.id}`);
    await web.page.getByText('Begun and not saved').waitFor();
    await web.expectGood();
    await web.page.getByRole('link', { name: `New: ${templateId}` }).click();
    await quantity().waitFor();
    expect(await quantity().inputValue()).toBe('12');

    await startAgain(`/patients/${ehr.id}/form?template=${templateId}`, 'bob');
    await quantity().waitFor();
    expect(await quantity().inputValue()).toBe('');
    expect(await web.page.getByText('Begun and not saved').count()).toBe(0);
    expect(await mine(ehr.id, 'bob')).toEqual([]);
  });

  it('is kept when the form is left, offered where it would be begun anew, and gone once it is saved', async () => {
    const { ehr, templateId } = await openForm();
    web.page.on('dialog', (question) => {
      throw new Error(question.message());
    });
    await web.page.getByRole('link', { name: 'Patients', exact: true }).first().click();
    await web.page.getByRole('heading', { name: 'Patients' }).waitFor();
    expect(await mine(ehr.id)).toHaveLength(1);
    await web.open(`/patients/${ehr.id}/form?template=${templateId}`);
    await web.page.getByText('Begun and not saved').waitFor();
    await web.page.getByRole('link', { name: `New: ${templateId}` }).click();
    await web.page.getByText('Begun and not saved').waitFor({ state: 'detached' });
    expect(await quantity().inputValue()).toBe('12');
    const unit = web.page.getByRole('combobox', { name: 'Unit' }).first();
    await unit.fill('m');
    await unit.press('Enter');
    await web.page.getByRole('button', { name: 'Save', exact: true }).click();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    expect(await mine(ehr.id)).toEqual([]);
  });

  it('of a document that is there goes on from its version, and is discarded after a question', async () => {
    const { ehr, templateId } = await openForm();
    const content = await client().templates.example(templateId, { format: 'FLAT' });
    const { uid } = await client().ehr(ehr.id).compositions.commit(content, { template: templateId });
    await startAgain(`/patients/${ehr.id}/form?uid=${uid}`);
    await quantity().fill('77');
    await web.page.clock.fastForward(30_000);
    await web.page.getByText('What you typed is kept').waitFor();
    await startAgain(`/patients/${ehr.id}`);
    await web.page.getByRole('link', { name: `Change: ${templateId}` }).click();
    await quantity().waitFor();
    expect(await quantity().inputValue()).toBe('77');
    web.page.once('dialog', (question) => void question.accept());
    await web.page.getByRole('button', { name: 'Discard' }).click();
    await web.page.getByText('1 of 1 compositions').waitFor();
    // That of the new document, which was left before, is another one.
    expect(await mine(ehr.id)).toEqual([expect.objectContaining({ version_uid: null })]);
    const { content: stored } = (await client().ehr(ehr.id).compositions.get(uid, { format: 'FLAT' }))!;
    // Ids and fractions of a second may hold any digits: only whole values tell.
    expect(Object.values(stored).map(String)).not.toContain('77');
  });

  it('is kept at once when the page is put away, and when it is locked', async () => {
    const { ehr } = await openForm();
    const kept = web.page.waitForResponse((answer) => answer.url().includes('/rest/draft/') && answer.ok());
    await web.page
      .evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`);
    // No time passes by this clock: nothing else can have kept it.
    await kept;
    expect(await mine(ehr.id)).toHaveLength(1);
    await web.page.evaluate('delete document.visibilityState');
    const sent: string[] = [];
    await web.page.route(/\/rest\/draft\//, async (route) => {
      sent.push(route.request().postData() ?? '');
      await route.continue();
    });
    await quantity().fill('13');
    await web.page.clock.fastForward('15:30');
    await web.page.getByRole('dialog').getByText('Locked').waitFor();
    while (!sent.some((content) => content.includes('13'))) await web.page.waitForRequest(/\/rest\/draft\//);
  });

  it('says so when the server does not take it, and is taken when it does again', async () => {
    const { ehr } = await openForm();
    await web.page.route(/\/rest\/draft\//, (route) => route.abort());
    await web.page.clock.fastForward(30_000);
    await web.page.getByText('What you typed is in this window only').waitFor();
    await web.page.unroute(/\/rest\/draft\//);
    await web.page.clock.fastForward(30_000);
    await web.page.getByText('What you typed is kept').waitFor();
    expect(await mine(ehr.id)).toHaveLength(1);
  });
});
