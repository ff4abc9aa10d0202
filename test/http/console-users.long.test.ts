import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hashPassword } from '../../src/identity/password.js';
import { changeUsers, readUsers } from '../../src/identity/users-file.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';

const inBrowser = hasBrowser ? describe : describe.skip;
const PASSWORD = 'seven horses on a hill';

inBrowser('users and their roles (skipped where no Chromium is installed)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'everchart-users-'));
  const file = join(folder, 'users');
  beforeAll(async () => {
    const scrypt = await hashPassword(PASSWORD);
    changeUsers(file, () => new Map([['ada', { name: 'ada', roles: ['ADMIN'], scrypt }]]));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  // Prepared before the server reads the file.
  const web = useConsole({ auth: 'basic', basicUsersFile: file });

  it('are made, changed and removed by an administrator, who cannot lock everybody out', async () => {
    await web.open('/administration?tab=permissions');
    await web.page.getByLabel('User').fill('ada');
    await web.page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await web.page.locator('main button[type=submit]').click();
    await web.page.getByRole('button', { name: 'New user' }).click();
    const dialog = web.page.getByRole('dialog');
    await dialog.getByLabel('User').fill('clara');
    await dialog.locator('.mantine-MultiSelect-input').click();
    await web.page.getByRole('option', { name: 'READER' }).click();
    await dialog.getByRole('textbox', { name: 'Password' }).fill('short');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('a password has at least 12 characters').waitFor();
    web.forgive('400');
    await web.expectGood();
    await dialog.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await web.page.getByText('clara is saved').waitFor();
    expect(readUsers(file).get('clara')?.roles).toEqual(['READER']);
    await web.page.getByRole('button', { name: 'Change ada' }).click();
    await dialog.getByRole('button', { name: 'Remove ada' }).click();
    await dialog.getByRole('button', { name: 'Yes, remove ada' }).click();
    await dialog.getByText(/nobody takes the permission admin from himself/).waitFor();
    web.forgive('409');
    await web.page.keyboard.press('Escape');
    await web.page.getByRole('button', { name: 'Change clara' }).click();
    await dialog.getByRole('button', { name: 'Remove clara' }).click();
    await dialog.getByRole('button', { name: 'Yes, remove clara' }).click();
    await web.page.getByText('clara is removed').waitFor();
    expect([...readUsers(file).keys()]).toEqual(['ada']);
    await web.expectGood();
  });
});
