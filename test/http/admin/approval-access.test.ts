import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { O } from '../../support/merge-http.js';
import { putPolicy } from '../../support/policy/put.js';
import { dump, givenEhr, V1, type Json } from '../../support/resources.js';
import { ADMIN, bearer, USER, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const ENFORCED = { ...WITH_ADMIN, auth: 'jwt', accessMode: 'enforce' } as const;
const app = testApp({ ...ENFORCED, fourEyes: ['policy'] });
const alone = testApp(ENFORCED);
const OTHER = bearer(['ADMIN'], 'other-admin');
const PERMIT = 'permit (principal, action, resource);';
const NOBODY = 'permit (principal, action, resource) when { principal.sub == "nobody" };';

const of = (id: string, server = app) => ({
  put: (text: string) => putPolicy(server, id, text),
  remove: () => request(server).delete(`${O}/policies/${id}`).set('Authorization', ADMIN),
  get: () => request(server).get(`${O}/policies/${id}`).set('Authorization', ADMIN),
});
const confirm = (id: unknown, body: object = {}, who = OTHER, server = app) =>
  request(server)
    .post(`${O}/approval/${String(id)}/confirm`)
    .set('Authorization', who)
    .send(body);
const audit = async (query: string): Promise<Json[]> =>
  (await request(app).get(`${O}/audit?${query}`).set('Authorization', ADMIN)).body as Json[];
const waiting = async (): Promise<Json[]> =>
  (await request(app).get(`${O}/approval`).set('Authorization', ADMIN)).body as Json[];
const fresh = (): string => `p-${randomUUID().slice(0, 8)}`;

afterEach(async () => {
  for (const { approval_id: id } of await waiting())
    await request(app)
      .post(`${O}/approval/${String(id)}/withdraw`)
      .set('Authorization', ADMIN)
      .expect(200);
  const { body } = await request(alone).get(`${O}/policies`).set('Authorization', ADMIN);
  for (const { id } of (body as Json).policies as Json[]) await of(String(id), alone).remove().expect(204);
});

describe('a change of a policy of access, which takes two persons,', () => {
  it('waits: 202 with both texts, listed, and nothing else is written', async () => {
    const id = fresh();
    await of(id, alone).put(PERMIT).expect(200);
    const ehrId = await givenEhr(testApp());
    const asked = await of(id).put(NOBODY);
    expect([asked.status, asked.headers['etag'], asked.body]).toMatchObject([
      202,
      undefined,
      {
        kind: 'policy',
        operation: 'putPolicy',
        state: 'pending',
        policy_id: id,
        summary: `the policy ${id} gets another text`,
        requested: { administrator: 'root-admin' },
        plan: { version: 2, before: PERMIT, after: NOBODY, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ]);
    expect(await waiting()).toEqual([asked.body]);
    expect((await of(id).get()).body).toMatchObject({ policy: PERMIT, version: 1 });
    await request(app).get(`${V1}/ehr/${ehrId}`).set('Authorization', USER).expect(200);
    expect(await audit('operation=putPolicy&status=202&fetch=1')).toEqual([
      expect.objectContaining({
        target: id,
        outcome: 'pending',
        user: 'root-admin',
        options: { approval: asked.body.approval_id },
      }),
    ]);
    for (const again of [await of(id).put(PERMIT), await of(id).remove()])
      expect([again.status, again.body.message]).toEqual([
        409,
        expect.stringContaining(String(asked.body.approval_id)),
      ]);
  });

  it('is not for who asked; another one lets it hold, and versions and audit name both', async () => {
    const id = fresh();
    const { approval_id: approval } = (await of(id).put(PERMIT).expect(202)).body as Json;
    await of(id).get().expect(404);
    await confirm(approval, {}, bearer(['ADMIN'], 'root-admin', 60)).expect(403);
    await confirm(approval, {}, bearer(['USER'], 'other-admin')).expect(403);
    const before = await dump();
    expect((await confirm(approval, { dry_run: true }).expect(200)).body.state).toBe('pending');
    expect(await dump()).toBe(before);
    const done = await confirm(approval).expect(200);
    expect(done.body).toMatchObject({ state: 'done', result: { id, policy: PERMIT, version: 1 } });
    expect((await of(id).get().expect(200)).body).toMatchObject({ policy: PERMIT, by: 'root-admin' });
    await confirm(approval).expect(404);

    const removal = (await of(id).remove().expect(202)).body as Json;
    expect(removal).toMatchObject({
      operation: 'removePolicy',
      summary: `the policy ${id} is removed; it is the last one, and without any nothing is restricted`,
    });
    await of(id).get().expect(200);
    const gone = await confirm(removal.approval_id).expect(200);
    expect(gone.body.result).toEqual({ id, removed: true });
    await of(id).get().expect(404);
    const versions = await request(app).get(`${O}/policies/${id}/versions`).set('Authorization', ADMIN);
    expect(versions.body.versions).toMatchObject([
      { version: 1, policy: PERMIT, by: 'root-admin', confirmed_by: 'other-admin' },
      { version: 2, policy: null, by: 'root-admin', confirmed_by: 'other-admin' },
    ]);
    expect(await audit('operation=confirmApproval&status=200&fetch=1')).toEqual([
      expect.objectContaining({
        user: 'other-admin',
        target: id,
        options: { approval: removal.approval_id, requester: 'root-admin', version: 2 },
      }),
    ]);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('holds from the confirmation on, and not before', async () => {
    const ehrId = await givenEhr(testApp());
    const read = async (): Promise<number> =>
      (await request(app).get(`${V1}/ehr/${ehrId}`).set('Authorization', USER)).status;
    const { approval_id: approval } = (await of(fresh()).put(NOBODY).expect(202)).body as Json;
    expect(await read()).toBe(200);
    await confirm(approval).expect(200);
    expect(await read()).toBe(404);
  });

  it.each([
    ['another text', async (id: string) => of(id, alone).put(NOBODY).expect(200)],
    [
      'the same text again',
      async (id: string) => {
        await of(id, alone).put(NOBODY).expect(200);
        await of(id, alone).put(PERMIT).expect(200);
      },
    ],
    [
      'a removal and the same text again',
      async (id: string) => {
        await of(id, alone).remove().expect(204);
        await of(id, alone).put(PERMIT).expect(200);
      },
    ],
  ])('is 409 with the new plan after %s, and done by its digest', async (_, meanwhile) => {
    const id = fresh();
    await of(id, alone).put(PERMIT).expect(200);
    const { approval_id: approval, plan } = (await of(id).remove().expect(202)).body as Json & { plan: Json };
    await meanwhile(id);
    const stale = await confirm(approval).expect(409);
    expect(stale.body.plan.version).toBeGreaterThan(Number(plan.version));
    await of(id).get().expect(200);
    const { digest } = stale.body.plan as { digest: string };
    await confirm(approval, { digest }).expect(200);
    await of(id).get().expect(404);
  });

  it('is another plan where it comes to be the last policy, without which nothing is restricted', async () => {
    const [id, other] = [fresh(), fresh()];
    for (const one of [id, other]) await of(one, alone).put(NOBODY).expect(200);
    const { approval_id: approval } = (await of(id).remove().expect(202)).body as Json;
    await of(other, alone).remove().expect(204);
    const stale = await confirm(approval).expect(409);
    expect(stale.body.plan.summary).toContain('it is the last one');
    await of(id).get().expect(200);
  });

  it('is refused as if one person did it, when it is asked for and when it is confirmed', async () => {
    const id = fresh();
    await of(id).put('permit').expect(400);
    await of(id).remove().expect(404);
    const lock = 'forbid (principal, action, resource);';
    expect((await of(id).put(lock).expect(409)).body.violations[0].rule).toBe('locks_out_administrators');
    expect(await waiting()).toEqual([]);

    // It locks out who confirms it, whom nobody knew when it was asked for.
    const own = 'forbid (principal, action, resource) unless { principal.sub == "u-root-admin" };';
    const asks = bearer(['ADMIN'], 'u-root-admin');
    const { approval_id: locking } = (await putPolicy(app, id, own, asks).expect(202)).body as Json;
    const refused = await confirm(locking).expect(409);
    expect(refused.body.violations[0].rule).toBe('locks_out_administrators');
    await of(id).get().expect(404);

    const removed = fresh();
    await of(removed, alone).put(PERMIT).expect(200);
    const { approval_id: removal } = (await of(removed).remove().expect(202)).body as Json;
    await of(removed, alone).remove().expect(204);
    await confirm(removal).expect(404);

    const full = testApp({ ...ENFORCED, fourEyes: ['policy'], policiesMax: 1 });
    const { approval_id: one } = (await of(fresh(), full).put(PERMIT).expect(202)).body as Json;
    await of(fresh(), alone).put(PERMIT).expect(200);
    await confirm(one, {}, OTHER, full).expect(422);
  });

  it('lapses after FOUR_EYES_DAYS, and makes way', async () => {
    const id = fresh();
    const { approval_id: approval } = (await of(id).put(PERMIT).expect(202)).body as Json;
    await mongoose.connection
      .collection<{ _id: string }>('waiting_requests')
      .updateOne({ _id: String(approval) }, { $set: { expires_at: new Date(Date.now() - 1) } });
    await confirm(approval).expect(404);
    await of(id).put(NOBODY).expect(202);
  });

  it('is not carried out where ACCESS_MODE came to be off', async () => {
    const { approval_id: approval } = (await of(fresh()).put(PERMIT).expect(202)).body as Json;
    const off = testApp({ ...WITH_ADMIN, auth: 'jwt', fourEyes: ['policy'] });
    expect((await confirm(approval, {}, OTHER, off).expect(409)).body.message).toContain('ACCESS_MODE');
  });

  it('is no way around by a restore', async () => {
    const document = { _id: 'r::1', policy_id: 'r', version: 1, policy: PERMIT, by: 'x' };
    const time = { $date: '2026-11-01T00:00:00.000Z' };
    const line = JSON.stringify({
      kind: 'document',
      collection: 'policy_versions',
      document: { ...document, time },
    });
    const send = (server: typeof app) =>
      request(server)
        .put(`${O}/restore/${randomUUID()}`)
        .set({
          Authorization: bearer(['ADMIN', 'RESTORER'], 'root-admin'),
          'Content-Type': 'application/x-ndjson',
        })
        .send(`${line}\n`)
        .expect(200);
    const rolePermissions = { ADMIN: ['read', 'admin', 'audit'], RESTORER: ['restore'] } as const;
    const two = testApp({ ...ENFORCED, fourEyes: ['policy'], rolePermissions });
    const { body } = await send(two);
    expect(body).toMatchObject({
      imported: 0,
      failed: [{ status: 422, message: expect.stringContaining('FOUR_EYES') }],
    });
    expect((await send(testApp({ ...ENFORCED, rolePermissions }))).body).toMatchObject({ imported: 1 });
  });
});
