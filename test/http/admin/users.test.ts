import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { hashPassword, type PasswordHash } from '../../../src/identity/password.js';
import { changeUsers, readUsers } from '../../../src/identity/users-file.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const folder = mkdtempSync(join(tmpdir(), 'everchart-users-'));
const basicUsersFile = join(folder, 'users');
const PASSWORD = 'seven horses on a hill';
const basic = (name: string, password = PASSWORD) =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
const settings = { ...WITH_ADMIN, auth: 'jwt,basic', basicUsersFile } as const;
let app: ReturnType<typeof testApp>;
let scrypt: PasswordHash;

beforeAll(async () => {
  scrypt = await hashPassword(PASSWORD);
});
beforeEach(() => {
  changeUsers(
    basicUsersFile,
    () =>
      new Map([
        ['ada', { name: 'ada', roles: ['ADMIN'], scrypt, person: 'ada-at-work' }],
        ['bob', { name: 'bob', roles: ['USER'], scrypt }],
      ]),
  );
  app = testApp(settings);
});
afterAll(() => rmSync(folder, { recursive: true }));

const save = (name: string, body: object, who = basic('ada')) =>
  request(app).put(`/rest/admin/user/${name}`).set('Authorization', who).send(body);
const remove = (name: string, who = basic('ada')) =>
  request(app).delete(`/rest/admin/user/${name}`).set('Authorization', who);
const mayRead = async (who: string) =>
  (await request(app).get('/rest/openehr/v1/definition/query').set('Authorization', who)).status;

describe('users with passwords', () => {
  it('are made, changed and removed, and may sign in at once', async () => {
    const made = await save('clara', { roles: ['reader', 'READER'], password: PASSWORD }).expect(200);
    expect(made.body).toEqual({ name: 'clara', roles: ['READER'] });
    expect(await mayRead(basic('clara'))).toBe(200);
    await save('clara', { roles: ['AUDITOR'] }).expect(200);
    expect(await mayRead(basic('clara'))).toBe(403);
    await save('clara', { roles: ['READER'], password: 'another password, longer' }).expect(200);
    expect(await mayRead(basic('clara'))).toBe(401);
    expect(await mayRead(basic('clara', 'another password, longer'))).toBe(200);
    await remove('clara').expect(204);
    expect(await mayRead(basic('clara', 'another password, longer'))).toBe(401);
    await remove('clara').expect(404);
    // What a change does not name stays.
    await save('ada', { roles: ['ADMIN', 'USER'] }).expect(200);
    expect(readUsers(basicUsersFile).get('ada')).toMatchObject({ person: 'ada-at-work', scrypt });
  });

  it('are refused as the command refuses them', async () => {
    for (const [name, body] of [
      ['clara', { roles: ['READER'] }],
      ['clara', { roles: ['READER'], password: 'short' }],
      ['clara', { roles: ['READER'], password: 'Password1234' }],
      ['clara', { roles: ['CHIEF'], password: PASSWORD }],
      ['clara', { roles: [], password: PASSWORD }],
      ['a:b', { roles: ['READER'], password: PASSWORD }],
      ['clara', { roles: ['READER'], password: PASSWORD, more: 1 }],
    ] as const)
      expect([name, body, (await save(encodeURIComponent(name), body)).status]).toEqual([name, body, 400]);
    expect([...readUsers(basicUsersFile).keys()]).toEqual(['ada', 'bob']);
    const refused = await mongoose.connection
      .collection('audit')
      .find({ operation: 'saveUser', status: 400, pending: { $exists: false } })
      .toArray();
    expect(refused.length).toBeGreaterThanOrEqual(3);
    await save('bob', { roles: ['ADMIN'] }, basic('bob')).expect(403);
  });

  it('leave somebody who can change them, and nobody takes the permission from himself', async () => {
    expect((await save('ada', { roles: ['USER'] }).expect(409)).body.message).toMatch(/himself/);
    await remove('ada').expect(409);
    // An administrator who is no user of the file.
    expect((await remove('ada', ADMIN).expect(409)).body.message).toMatch(/last user/);
    await save('bob', { roles: ['ADMIN'] }).expect(200);
    await remove('ada', basic('bob')).expect(204);
  });

  it('are audited without their passwords, and are made by nobody who needs a second person', async () => {
    await save('clara', { roles: ['READER'], password: PASSWORD }).expect(200);
    const audit = await request(app)
      .get('/rest/admin/audit?operation=saveUser')
      .set({ Authorization: basic('ada'), Accept: 'application/json' });
    const made = { target: 'clara', options: { roles: ['READER'], password: true }, status: 200 };
    expect(audit.body[0]).toMatchObject(made);
    expect(audit.body[0]).not.toHaveProperty('pending');
    expect(JSON.stringify(audit.body)).not.toContain(PASSWORD);
    app = testApp({ ...settings, fourEyes: ['erase'] });
    await save('clara', { roles: ['USER'] }).expect(409);
    await remove('clara').expect(409);
  });

  it('stay as they are where that cannot be recorded', async () => {
    const audit = mongoose.connection.collection<{ _id: string }>('audit');
    // No second record can be pending.
    const name = await audit.createIndex({ pending: 1 }, { unique: true, sparse: true }, undefined);
    await audit.insertOne({ _id: 'under way', pending: true } as never);
    try {
      await save('clara', { roles: ['READER'], password: PASSWORD }).expect(500);
      await remove('bob').expect(500);
    } finally {
      await audit.dropIndex(name);
      await audit.deleteOne({ _id: 'under way' });
    }
    expect([...readUsers(basicUsersFile).keys()]).toEqual(['ada', 'bob']);
  });

  it('are changed by one at a time, and none are kept where Basic is off', async () => {
    writeFileSync(`${basicUsersFile}.new`, '');
    await save('bob', { roles: ['READER'] }).expect(409);
    rmSync(`${basicUsersFile}.new`);
    await save('bob', { roles: ['READER'] }).expect(200);
    expect(readFileSync(basicUsersFile, 'utf8').split('\n')).toHaveLength(3);
    app = testApp({ ...WITH_ADMIN, auth: 'jwt' });
    await save('bob', { roles: ['READER'] }, ADMIN).expect(404);
    await remove('bob', ADMIN).expect(404);
  });
});
