import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { O } from '../../support/merge-http.js';
import { V1 } from '../../support/resources.js';
import { ADMIN, bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, auth: 'jwt', queryOwners: true });
const open = testApp({ ...WITH_ADMIN, auth: 'jwt' });
const ALICE = bearer(['USER'], 'alice');
const BOB = bearer(['USER'], 'bob');

async function store(name: string, who: string, of: RequestListener = app): Promise<number> {
  const sent = request(of).put(`${V1}/definition/query/${name}`).set('Authorization', who);
  return (await sent.set('Content-Type', 'text/plain').send('SELECT e/ehr_id/value FROM EHR e')).status;
}
const give = (nameSpace: string, body: object, who = ADMIN) =>
  request(app).put(`${O}/query_owner/${nameSpace}`).set('Authorization', who).send(body);
const fresh = (): string => `org.n${randomUUID().slice(0, 8)}`;

it('a name space belongs to who stored in it first; others need admin, and may run what is there', async () => {
  const space = fresh();
  expect(await store(`${space}::q`, ALICE)).toBe(200);
  expect([await store(`${space}::q`, BOB), await store(`${space}::other/1.0.0`, BOB)]).toEqual([403, 403]);
  expect([await store(`${space}::q/2.0.0`, ALICE), await store(`${space}::q`, ADMIN)]).toEqual([200, 200]);
  const listed = await request(app).get(`${V1}/definition/query/${space}::`).set('Authorization', BOB);
  expect(listed.body).toHaveLength(3);
  const ran = await request(app).get(`${V1}/query/${space}::q`).set('Authorization', BOB);
  expect(ran.status).toBe(200);
  expect(await store(`${fresh()}::q`, BOB)).toBe(200);
});

it('names are compared without case, so name spaces are', async () => {
  const space = fresh();
  expect([await store(`${space}::q`, ALICE), await store(`${space.toUpperCase()}::z`, BOB)]).toEqual([
    200, 403,
  ]);
  const earlier = fresh();
  expect(await store(`${earlier}::q`, ALICE, open)).toBe(200);
  expect([await store(`${earlier.toUpperCase()}::z`, BOB), await store(`${earlier}::q`, ALICE)]).toEqual([
    200, 200,
  ]);
  expect((await give(`${earlier.toUpperCase()}::`, { sub: 'alice' })).body.name_space).toBe(`${earlier}::`);
  expect(await store(`${earlier}::z`, BOB)).toBe(403);
});

it('a name without one is a name space of its own', async () => {
  const name = fresh();
  expect([await store(name, ALICE), await store(name, BOB), await store(`${name}x`, BOB)]).toEqual([
    200, 403, 200,
  ]);
  expect(await store(`${name}::q`, BOB)).toBe(200);
});

it('the same sub of another issuer is another user', async () => {
  const space = fresh();
  expect(await store(`${space}::q`, ALICE)).toBe(200);
  expect(await store(`${space}::q`, bearer(['USER'], 'alice', 60, 'https://other.example'))).toBe(403);
});

it('what was there before stays open until an administrator gives it to somebody', async () => {
  const space = fresh();
  expect(await store(`${space}::q`, ALICE, open)).toBe(200);
  expect([await store(`${space}::q`, BOB), await store(`${space}::q`, ALICE)]).toEqual([200, 200]);
  expect((await give(`${space}::`, { sub: 'alice' }, BOB)).status).toBe(403);
  expect((await give(`${space}::`, { sub: 'alice' })).body).toMatchObject({
    name_space: `${space}::`,
    sub: 'alice',
  });
  expect([await store(`${space}::q`, BOB), await store(`${space}::q`, ALICE)]).toEqual([403, 200]);
  expect((await give(`${space}::`, { sub: 'bob' })).status).toBe(200);
  expect([await store(`${space}::q`, BOB), await store(`${space}::q`, ALICE)]).toEqual([200, 403]);
  expect((await give(`${space}:`, { sub: 'bob' })).status).toBe(400);
  const { body } = await request(app)
    .get(`${O}/audit?operation=giveQueryNameSpace&status=200&fetch=1`)
    .set('Authorization', ADMIN);
  expect(body).toMatchObject([{ target: `${space}::`, user: 'root-admin' }]);
});

it('two who store in a new one at the same time: one owns it', async () => {
  const space = fresh();
  const stored = await Promise.all([store(`${space}::a`, ALICE), store(`${space}::b`, BOB)]);
  expect(stored.toSorted()).toEqual([200, 403]);
});

it('without QUERY_OWNERS everybody who may define stores everywhere', async () => {
  const space = fresh();
  expect(await store(`${space}::q`, ALICE)).toBe(200);
  expect(await store(`${space}::q`, BOB, open)).toBe(200);
});
