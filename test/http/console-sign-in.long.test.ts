import type { Server } from 'node:http';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import request from 'supertest';
import { loadConfig } from '../../src/settings/config.js';
import { testApp, testServer } from '../support/app.js';
import { axeFindings } from '../support/browser/console.js';
import { hasBrowser, startBrowser } from '../support/browser/browser.js';
import { useDatabase } from '../support/database.js';
import { startIdentityProvider, type IdentityProvider } from '../support/browser/provider.js';
import { spawnEverchart } from '../support/process/command.js';
import { testSettings } from '../support/settings.js';
import { WITH_ADMIN } from '../support/tokens.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('signing in with an identity provider (skipped where no Chromium is installed)', () => {
  useDatabase();
  let server: Server;
  let provider: IdentityProvider;
  let browser: Browser;
  let page: Page;
  let url = '';
  const failures: string[] = [];

  beforeAll(async () => {
    provider = await startIdentityProvider(['USER']);
    const oidc = { issuer: provider.url, clientId: 'console' };
    server = await testServer(testSettings({ ...WITH_ADMIN, auth: 'jwt', oidc }));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await startBrowser();
    page = await browser.newPage({ locale: 'en-GB' });
    page.setDefaultTimeout(20_000);
    page.on('pageerror', (error) => failures.push(error.message));
    page.on('console', (message) => message.type() === 'error' && failures.push(message.text()));
  });
  afterAll(async () => {
    await browser.close();
    await provider.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it('goes there, comes back to the view it came from, and keeps the token in memory alone', async () => {
    await page.goto(`${url}/console#/templates`);
    await page.getByRole('button', { name: `Sign in at ${new URL(provider.url).host}` }).click();
    await page.getByText('No templates yet').waitFor();
    expect(page.url()).toBe(`${url}/console#/templates`);
    await page.getByRole('button', { name: 'grace' }).waitFor();
    expect(provider.asked).toEqual(expect.arrayContaining(['/authorize', '/token']));
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])',
    );
    expect(kept).not.toMatch(/eyJ|code_verifier/);
    expect(failures).toEqual([]);
  });

  it('ends the session there too', async () => {
    await page.getByRole('button', { name: 'grace' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(`${url}/console*`);
    await page.getByRole('button', { name: /Sign in at/ }).waitFor();
    expect(provider.asked).toContain('/end');
    expect(await axeFindings(page)).toEqual([]);
  });

  it.each([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'other' }],
    ['several audiences, for another of them', { aud: ['console', 'other'], azp: 'other' }],
    ['another nonce', { nonce: 'of another sign-in' }],
    ['no nonce', { nonce: undefined }],
  ])('takes no ID token of %s', async (_, claims) => {
    provider.claims = claims;
    await page.goto('about:blank');
    await page.goto(`${url}/console#/templates`);
    await page.getByRole('button', { name: `Sign in at ${new URL(provider.url).host}` }).click();
    await page.getByText(/Signing in there failed/).waitFor();
    expect(await page.getByRole('button', { name: 'grace' }).count()).toBe(0);
    provider.claims = {};
  });

  it('takes no answer that it did not ask for', async () => {
    await page.goto('about:blank');
    await page.goto(`${url}/console#code=stolen&state=other`);
    await page.getByText(/Signing in there failed/).waitFor();
    expect(page.url()).not.toContain('stolen');
    expect(await axeFindings(page)).toEqual([]);
  });
});

inBrowser('signing in with a password (skipped where no Chromium is installed)', () => {
  useDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'everchart-console-'));
  const file = join(folder, 'users');
  let server: Server;
  let browser: Browser;

  beforeAll(async () => {
    const added = spawnEverchart(
      ['user', 'add', 'ada', '--role', 'USER', '--password-stdin', '--file', file],
      {},
      { stdio: ['pipe', 'ignore', 'inherit'] },
    );
    added.stdin!.end('right enough 1 2');
    expect(await once(added, 'close')).toEqual([0, null]);
    server = await testServer(testSettings({ ...WITH_ADMIN, auth: 'basic', basicUsersFile: file }));
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  it('says at the field that the password is wrong, and goes on with the right one', async () => {
    const page = await browser.newPage({ locale: 'en-GB', reducedMotion: 'reduce' });
    page.setDefaultTimeout(20_000);
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/console#/templates`);
    await page.getByLabel('User').fill('ada');
    const password = page.getByRole('textbox', { name: 'Password' });
    await password.fill('wrong');
    await page.locator('form button[type=submit]').click();
    await page.locator('form [aria-invalid=true]').waitFor();
    await page.getByRole('alert').getByText('the user name or the password is wrong').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await password.fill('right enough 1 2');
    await page.locator('form button[type=submit]').click();
    await page.getByText('No templates yet').waitFor();
    await page.getByRole('button', { name: 'ada', exact: true }).waitFor();
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])',
    );
    expect(kept).not.toMatch(/right enough|ada/);
    await page.close();
  });
});

describe('the settings of an identity provider', () => {
  const SECRET = { JWT_SECRET: 'a-secret-of-at-least-thirty-two-bytes!' };

  it('are told to the console, whose policy allows the origin of the issuer and no other', async () => {
    const oidc = { issuer: 'https://id.example.org/realms/clinic', clientId: 'console' };
    const app = testApp({ ...WITH_ADMIN, auth: 'jwt', oidc });
    const { body } = await request(app).get('/console/settings.json').expect(200);
    expect(body.oidc).toEqual({ issuer: oidc.issuer, client_id: 'console' });
    const { headers } = await request(app).get('/console');
    expect(headers['content-security-policy']).toContain("connect-src 'self' https://id.example.org;");
  });

  it.each([
    [{ OIDC_ISSUER: 'https://id.example.org' }, /set together/],
    [{ OIDC_CLIENT_ID: 'console' }, /set together/],
    [{ OIDC_ISSUER: 'http://id.example.org', OIDC_CLIENT_ID: 'console' }, /must begin with https/],
    [{ OIDC_ISSUER: 'id.example.org', OIDC_CLIENT_ID: 'console' }, /OIDC_ISSUER must be a valid uri/],
  ])('%j is refused', (env, message) => {
    expect(() => loadConfig({ ...SECRET, ...env })).toThrow(message);
  });

  it('need the keys of its tokens', () => {
    const env = { OIDC_ISSUER: 'https://id.example.org', OIDC_CLIENT_ID: 'console' };
    expect(() => loadConfig(env)).toThrow(/OIDC_ISSUER needs the keys/);
    expect(loadConfig({ ...SECRET, ...env }).oidc).toEqual({
      issuer: 'https://id.example.org',
      clientId: 'console',
    });
  });
});
