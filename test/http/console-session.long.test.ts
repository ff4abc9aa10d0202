import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { axeFindings, useConsole, type ConsoleInBrowser } from '../support/browser/console.js';
import { startIdentityProvider, type IdentityProvider } from '../support/browser/provider.js';
import { fixtureText } from '../support/fixture.js';
import { spawnEverchart } from '../support/process/command.js';
import { bearer } from '../support/tokens.js';

const POSTED = /\/composition(\?|$)/;
const PASSWORD = 'right enough 1 2';

const inBrowser = hasBrowser ? describe : describe.skip;

/** A patient, and the address of a form of him. */
async function formOf(web: ConsoleInBrowser, admin: Partial<ConstructorParameters<typeof Cdr>[0]> = {}) {
  const token = bearer(['USER', 'ADMIN']).replace('Bearer ', '');
  const client = new Cdr({ url: web.url, ...('basic' in admin ? admin : { token }) });
  const templateId = await client.templates
    .upload(fixtureText('opt/minimal_evaluation.en.v1.opt'))
    .catch(() => 'minimal_evaluation.en.v1');
  const subject = `who-${Math.random()}`;
  const ehr = await client.ehr.create({ subject: { namespace: 'ward', id: subject } });
  return { subject, view: `/patients/${ehr.id}/form?template=${templateId}` };
}

/** The session is over from the next request that writes on, until somebody signs in. */
async function sessionEnds(page: Page): Promise<void> {
  await page.route(POSTED, (route) => route.fulfill({ status: 401, json: { message: 'too old' } }));
  await page.getByLabel('quantity').first().press('Control+Enter');
  await page.getByRole('dialog').getByText('Your session is over').waitFor();
  await page.unroute(POSTED);
}

/** What can be seen, and what is read out. */
async function isSeen(page: Page, text: string): Promise<boolean> {
  return (await page.evaluate<string>('document.body.innerText + document.title')).includes(text);
}

inBrowser('a session at an identity provider (skipped where no Chromium is installed)', () => {
  let provider: IdentityProvider;
  const oidc = { issuer: '', clientId: 'console' };
  beforeAll(async () => {
    provider = await startIdentityProvider(['USER']);
    oidc.issuer = provider.url;
  });
  afterAll(() => provider.close());
  const web = useConsole({ auth: 'jwt', oidc });
  const button = () => web.page.getByRole('button', { name: /Sign in at/ });

  const openForm = async () => {
    const form = await formOf(web);
    await web.page.clock.install();
    await web.open(form.view);
    await button().click();
    await web.page.getByLabel('quantity').first().fill('12');
    return form;
  };
  const quantity = () => web.page.getByLabel('quantity').first().inputValue();

  it('that is over is renewed in a window of its own, over what is typed', async () => {
    await openForm();
    await sessionEnds(web.page);
    const before = provider.prompts.length;
    await button().click();
    await web.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await quantity()).toBe('12');
    expect(provider.prompts.slice(before)).toEqual(['']);
    expect(web.page.context().pages()).toHaveLength(1);
    await web.page.getByLabel('quantity').first().press('Control+Enter');
    await web.page.getByRole('alert').waitFor();
    expect(await web.page.getByRole('alert').innerText()).not.toMatch(/session|token/);
  });

  it('is locked after a quarter of an hour without a touch, shows nothing, and is proved anew', async () => {
    const { subject } = await openForm();
    await web.page.clock.fastForward('14:00');
    await web.page.mouse.move(300, 300);
    await web.page.mouse.move(310, 310);
    await web.page.clock.fastForward('14:00');
    expect(await isSeen(web.page, subject)).toBe(true);
    await web.page.clock.fastForward('02:00');
    const dialog = web.page.getByRole('dialog');
    await dialog.getByText('Locked').waitFor();
    expect(await isSeen(web.page, subject)).toBe(false);
    expect(await web.page.title()).toBe('everchart');
    expect(await web.page.getByLabel('Patient', { exact: true }).isVisible()).toBe(false);
    await web.page.keyboard.press('Control+k');
    expect(await web.page.getByRole('textbox', { name: 'Search' }).count()).toBe(0);
    await web.page.emulateMedia({ media: 'print' });
    expect(await web.page.getByLabel('Patient', { exact: true }).isVisible()).toBe(false);
    await web.page.emulateMedia({ media: 'screen' });
    expect(await axeFindings(web.page)).toEqual([]);
    const before = provider.prompts.length;
    await button().click();
    await dialog.waitFor({ state: 'detached' });
    expect(provider.prompts.slice(before)).toEqual(['login']);
    expect(await quantity()).toBe('12');
    expect(await isSeen(web.page, subject)).toBe(true);
  });

  it('that is refused leads back to the view that was asked for', async () => {
    provider.refusal = 'access_denied';
    await web.open('/templates');
    await button().click();
    await web.page.getByText(/Signing in there failed/).waitFor();
    expect(web.page.url()).toBe(`${web.url}/console#/templates`);
    provider.refusal = undefined;
    await button().click();
    await web.page.getByRole('button', { name: 'grace' }).waitFor();
    expect(web.page.url()).toBe(`${web.url}/console#/templates`);
  });
});

inBrowser('a session with a password (skipped where no Chromium is installed)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'everchart-session-'));
  const file = join(folder, 'users');
  beforeAll(async () => {
    for (const name of ['ada', 'bob']) {
      const added = spawnEverchart(
        ['user', 'add', name, '--role', 'USER', '--password-stdin', '--file', file],
        {},
        { stdio: ['pipe', 'ignore', 'inherit'] },
      );
      added.stdin!.end(PASSWORD);
      expect(await once(added, 'close')).toEqual([0, null]);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const web = useConsole({ auth: 'basic', basicUsersFile: file });

  const signIn = async (user: string) => {
    const form = web.page.locator('form', { has: web.page.getByLabel('User') });
    await form.getByLabel('User').fill(user);
    await form.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await form.locator('button[type=submit]').click();
  };

  it.each([
    ['that is over', sessionEnds],
    ['of whoever is away', (page: Page) => page.clock.fastForward('15:30')],
  ])('%s asks for it over what is typed, which nobody else sees', async (_, end) => {
    const { subject, view } = await formOf(web, { basic: { user: 'ada', password: PASSWORD } });
    await web.page.clock.install();
    await web.open(view);
    await signIn('ada');
    const quantity = web.page.getByLabel('quantity').first();
    await quantity.fill('12');
    await end(web.page);
    const dialog = web.page.getByRole('dialog');
    await dialog.waitFor();
    await signIn('ada');
    await dialog.waitFor({ state: 'detached' });
    expect(await quantity.inputValue()).toBe('12');
    await end(web.page);
    await signIn('bob');
    await dialog.waitFor({ state: 'detached' });
    await web.page.getByLabel('Patient', { exact: true }).getByText(subject).waitFor();
    await quantity.waitFor();
    expect(await quantity.inputValue()).toBe('');
  });

  it('that is locked takes the password for itself, with the search of everything open too', async () => {
    const { view } = await formOf(web, { basic: { user: 'ada', password: PASSWORD } });
    await web.page.clock.install();
    await web.open(view);
    await signIn('ada');
    await web.page.getByLabel('quantity').first().waitFor();
    const asked: string[] = [];
    web.page.on('request', (request) =>
      asked.push(`${decodeURIComponent(request.url())} ${request.postData() ?? ''}`),
    );
    await web.page.keyboard.press('Control+K');
    await web.page.locator('input[aria-label="Search"]:focus').waitFor();
    await web.page.clock.fastForward('15:30');
    const dialog = web.page.getByRole('dialog');
    await dialog.getByText('Locked').waitFor();
    const password = dialog.getByRole('textbox', { name: 'Password' });
    await password.focus();
    await web.page.keyboard.type(PASSWORD);
    expect(await password.inputValue()).toBe(PASSWORD);
    await web.page.clock.runFor(1000);
    expect(await web.page.getByRole('textbox', { name: 'Search' }).count()).toBe(0);
    expect(asked.filter((request) => request.includes(PASSWORD.slice(0, 5)))).toEqual([]);
    await dialog.getByLabel('User').fill('ada');
    await password.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await web.page.getByRole('textbox', { name: 'Search' }).count()).toBe(0);
  });
});

inBrowser.each([
  [1, true],
  [null, false],
])(
  'a session of whoever is away, with %j idle minutes (skipped where no Chromium is installed)',
  (minutes, locks) => {
    const web = useConsole({ auth: 'jwt', consoleIdleMinutes: minutes });

    it(locks ? 'is locked after one' : 'is never locked', async () => {
      const { view } = await formOf(web);
      await web.page.clock.install();
      await web.open(view);
      await web.pasteToken(['USER']);
      await web.page.getByLabel('quantity').first().fill('12');
      const dialog = web.page.getByRole('dialog');
      await web.page.clock.fastForward('00:50');
      expect(await dialog.count()).toBe(0);
      await web.page.clock.fastForward(locks ? '00:15' : '24:00:00');
      if (locks) await dialog.getByText('Locked').waitFor();
      else {
        await web.page.clock.runFor(1000);
        expect(await dialog.count()).toBe(0);
        expect(await web.page.getByLabel('quantity').first().inputValue()).toBe('12');
      }
    });
  },
);
