import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { hashPassword } from '../../../src/identity/password.js';
import { changeUsers } from '../../../src/identity/users-file.js';
import { runHere } from '../../support/process/command-line.js';

const folder = mkdtempSync(join(tmpdir(), 'everchart-users-'));
const file = join(folder, 'users');

beforeAll(async () => {
  const scrypt = await hashPassword('a password of some length');
  const ada = { name: 'ada', roles: ['USER', 'READER'], scrypt };
  const bo = { name: 'bo', roles: ['ADMIN'], scrypt, person: 'sub-of-bo' };
  changeUsers(file, () => new Map([ada, bo].map((user) => [user.name, user])));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('users are listed as text and as JSON, with nothing of their passwords', async () => {
  const asText = await runHere('user', 'list', '--file', file);
  expect([asText.code, asText.stdout]).toEqual([
    0,
    expect.stringMatching(/ada +USER, READER[^]*bo +ADMIN +sub-of-bo/),
  ]);
  const asJson = await runHere('user', 'list', '--json', '--file', file);
  expect(JSON.parse(asJson.stdout)).toEqual([
    { name: 'ada', roles: ['USER', 'READER'] },
    { name: 'bo', roles: ['ADMIN'], person: 'sub-of-bo' },
  ]);
});
