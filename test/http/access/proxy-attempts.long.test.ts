import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { ATTEMPTS_PER_ADDRESS } from '../../../src/identity/password-verifier.js';
import { hashPassword } from '../../../src/identity/password.js';
import { changeUsers } from '../../../src/identity/users-file.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { V1 } from '../../support/resources.js';

useDatabase();

const folder = mkdtempSync(join(tmpdir(), 'everchart-proxy-'));
const basicUsersFile = join(folder, 'users');
beforeAll(async () => {
  const scrypt = await hashPassword('the right one');
  changeUsers(basicUsersFile, () => new Map([['ada', { name: 'ada', roles: ['USER'], scrypt }]]));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

// Behind a proxy that TRUSTED_PROXIES does not name all clients have one address; each attempt takes a third of a second of the processor.
it('does not let the wrong passwords of one client for anybody lock out who is signed in', async () => {
  const app = testApp({ auth: 'basic', basicUsersFile });
  const signIn = (name: string, password: string) => request(app).options(V1).auth(name, password);
  expect((await signIn('ada', 'the right one')).status).toBe(200);
  for (let i = 0; i < ATTEMPTS_PER_ADDRESS; i++)
    expect((await signIn(`nobody ${i}`, 'wrong')).status).toBe(401);
  expect((await signIn('nobody else', 'wrong')).status).toBe(429);
  expect((await signIn('ada', 'wrong')).status).toBe(429);
  expect((await signIn('ada', 'the right one')).status).toBe(200);
});
