import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { hashPassword } from '../../../src/identity/password.js';
import { changeUsers } from '../../../src/identity/users-file.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { O } from '../../support/merge-http.js';
import { givenEhr } from '../../support/resources.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const PASSWORD = 'a password for tests only';
const folder = mkdtempSync(join(tmpdir(), 'everchart-two-persons-'));
const file = join(folder, 'users');
let app: RequestListener;

beforeAll(async () => {
  const scrypt = await hashPassword(PASSWORD);
  const roles = ['ADMIN'];
  changeUsers(
    file,
    () =>
      new Map([
        ['anna', { name: 'anna', roles, scrypt }],
        ['bea', { name: 'bea', roles, scrypt }],
        ['anna.adm', { name: 'anna.adm', roles, scrypt, person: 'anna-17' }],
        ['carl', { name: 'carl', roles, scrypt, person: 'carl-3' }],
      ]),
  );
  app = testApp({ ...WITH_ADMIN, auth: 'jwt,basic', basicUsersFile: file, fourEyes: ['erase'] });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const basic = (name: string) => `Basic ${Buffer.from(`${name}:${PASSWORD}`).toString('base64')}`;
const token = (sub: string) => bearer(['ADMIN'], sub, 60, 'https://id.example');

async function confirmed(asks: string, confirms: string): Promise<{ status: number; message: unknown }> {
  const ehrId = await givenEhr(testApp());
  const asked = await request(app).delete(`${O}/ehr/${ehrId}`).set('Authorization', asks);
  expect(asked.status).toBe(202);
  const path = `${O}/approval/${String(asked.body.approval_id)}`;
  const { status, body } = await request(app).post(`${path}/confirm`).set('Authorization', confirms);
  if (status !== 200) await request(app).post(`${path}/withdraw`).set('Authorization', asks).expect(200);
  return { status, message: body.message };
}

describe('two ways to sign in', () => {
  it.each([
    ['a token and the user with a password of its name', token('anna'), basic('anna')],
    ['the same in capitals', token('ANNA'), basic('anna')],
    [
      'a user with a password and the token of the person that he is said to be',
      basic('anna.adm'),
      token('anna-17'),
    ],
    ['that token and that user', token('anna-17'), basic('anna.adm')],
    ['one sub of two issuers', token('anna-17'), bearer(['ADMIN'], 'anna-17', 60, 'https://other.example')],
    ['one user with a password', basic('bea'), basic('bea')],
  ])('are one person: %s', async (_, asks, confirms) => {
    expect(await confirmed(asks, confirms)).toMatchObject({ status: 403 });
  });

  it('are no two persons as long as nobody said whose password it is', async () => {
    const hint = expect.stringContaining('everchart user add --replace --person');
    expect(await confirmed(token('anna-17'), basic('bea'))).toEqual({ status: 403, message: hint });
    expect(await confirmed(basic('bea'), token('anna-17'))).toEqual({ status: 403, message: hint });
  });

  it.each([
    ['two tokens', token('anna-17'), token('carl-3')],
    ['two users with passwords', basic('anna'), basic('bea')],
    ['a token and a user with a password who is said to be another', token('anna-17'), basic('carl')],
    ['two users with passwords who are said to be two', basic('anna.adm'), basic('carl')],
  ])('may be two persons: %s', async (_, asks, confirms) => {
    expect(await confirmed(asks, confirms)).toMatchObject({ status: 200 });
  });
});
