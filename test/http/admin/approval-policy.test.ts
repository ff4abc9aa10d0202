import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { admin, O } from '../../support/merge-http.js';
import { V1, type Json } from '../../support/resources.js';
import { ADMIN, bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, auth: 'jwt', queryOwners: true, fourEyes: ['policy'] });
const OTHER = bearer(['ADMIN'], 'other-admin');

const fresh = (): string => `org.n${randomUUID().slice(0, 8)}::`;
const give = (nameSpace: string, body: object) => admin(app, 'put', `/query_owner/${nameSpace}`).send(body);
const confirm = (id: string, body: object = {}, who = OTHER) =>
  request(app).post(`${O}/approval/${id}/confirm`).set('Authorization', who).send(body);

/** Whether this user may store in the name space, which is what its owner decides. */
async function mayStore(nameSpace: string, sub: string): Promise<boolean> {
  const sent = request(app).put(`${V1}/definition/query/${nameSpace}q`);
  const { status } = await sent
    .set({ Authorization: bearer(['USER'], sub), 'Content-Type': 'text/plain' })
    .send('SELECT e/ehr_id/value FROM EHR e');
  expect([200, 403]).toContain(status);
  return status === 200;
}

it('a name space changes hands when a second person confirms it, and what both saw is what happens', async () => {
  const nameSpace = fresh();
  expect([await mayStore(nameSpace, 'alice'), await mayStore(nameSpace, 'bob')]).toEqual([true, false]);

  const asked = await give(nameSpace.toUpperCase(), { sub: 'bob' });
  expect([asked.status, asked.body]).toEqual([
    202,
    expect.objectContaining({
      kind: 'policy',
      operation: 'giveQueryNameSpace',
      state: 'pending',
      ehr_ids: [],
    }),
  ]);
  expect(asked.body.summary).toMatch(new RegExp(`^the stored queries ${nameSpace} go from alice.* to bob$`));
  const { approval_id: id } = asked.body as Json;
  expect(await mayStore(nameSpace, 'bob')).toBe(false);
  expect((await give(nameSpace, { sub: 'carl' })).status).toBe(409);
  expect((await verifyStorage()).violations.filter((found) => found.id === id)).toEqual([]);

  const own = await confirm(id, {}, ADMIN);
  expect(own.status).toBe(403);
  const done = await confirm(id);
  expect([done.status, done.body]).toEqual([
    200,
    expect.objectContaining({
      state: 'done',
      result: expect.objectContaining({ name_space: nameSpace, sub: 'bob' }),
    }),
  ]);
  expect([await mayStore(nameSpace, 'alice'), await mayStore(nameSpace, 'bob')]).toEqual([false, true]);
  expect((await confirm(id)).status).toBe(404);
});

it('a name space that somebody took meanwhile is not what was asked for: 409 with the new plan', async () => {
  const nameSpace = fresh();
  const { body } = await give(nameSpace, { sub: 'bob' });
  expect(await mayStore(nameSpace, 'alice')).toBe(true);
  const stale = await confirm(body.approval_id);
  expect([stale.status, stale.body.plan?.summary]).toEqual([409, expect.stringContaining('go from alice')]);
  expect(await mayStore(nameSpace, 'bob')).toBe(false);
  expect((await confirm(body.approval_id, { digest: stale.body.plan.digest })).status).toBe(200);
  expect(await mayStore(nameSpace, 'bob')).toBe(true);
});

it('what waits is listed, withdrawn, and in the audit', async () => {
  const nameSpace = fresh();
  const { body } = await give(nameSpace, { sub: 'bob' });
  const listed = (await admin(app, 'get', '/approval')).body as Json[];
  expect(listed.map(({ approval_id: id }) => id)).toContain(body.approval_id);
  const withdrawn = await admin(app, 'post', `/approval/${body.approval_id}/withdraw`).send({ reason: 'no' });
  expect([withdrawn.status, withdrawn.body.state]).toEqual([200, 'withdrawn']);
  const audit = await admin(app, 'get', '/audit?operation=giveQueryNameSpace&status=202&fetch=1');
  expect(audit.body).toMatchObject([{ outcome: 'pending', options: { approval: body.approval_id } }]);
});
