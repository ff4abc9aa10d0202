import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { admin, givenMergeTemplates, merge, O } from '../../support/merge-http.js';
import { aComposition, dump, givenComposition, givenEhr, V1, type Json } from '../../support/resources.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, fourEyes: ['merge'] });
beforeAll(() => givenMergeTemplates(app));

const OTHER = bearer(['ADMIN'], 'other-admin');

let source = '';
let target = '';
beforeEach(async () => {
  source = await givenEhr(app);
  target = await givenEhr(app);
  await givenComposition(app, source);
});

function confirm(mergeId: unknown, body?: object, token = OTHER): request.Test {
  return request(app)
    .post(`${O}/ehr/merge/${String(mergeId)}/confirm`)
    .set('Authorization', token)
    .send(body);
}

function withdraw(mergeId: unknown, body?: object): request.Test {
  return admin(app, 'post', `/ehr/merge/${String(mergeId)}/withdraw`).send(body);
}

async function pending(query = ''): Promise<Json[]> {
  return (await admin(app, 'get', `/ehr/merge_status?pending=true${query}`)).body as Json[];
}

async function asked(further: object = {}): Promise<string> {
  const { status, body } = await merge(app, source, target, further);
  expect(status).toBe(202);
  return String(body.merge_id);
}

const isThere = async (ehrId: string): Promise<number> =>
  (await request(app).get(`${V1}/ehr/${ehrId}`)).status;

describe('a merge that needs approval', () => {
  it('waits, listed with who asked for it and why; nothing else is written', async () => {
    const { status, body } = await merge(app, source, target, {
      reason: 'same person',
      requested_by: 'ward 3',
    });
    expect([status, body]).toEqual([
      202,
      {
        outcome: { level: 'BASIC', summary: expect.stringMatching(/^PENDING: 1 compositions moved/) },
        source_ehr: source,
        target_ehr: target,
        merge_id: expect.any(String),
        state: 'pending',
        way: 'transaction',
        reason: 'same person',
        requested_by: 'ward 3',
        plan: expect.objectContaining({ digest: expect.any(String) }),
      },
    ]);
    expect([await isThere(source), await isThere(target)]).toEqual([200, 200]);
    expect(await pending(`&source=${source}`)).toEqual([
      {
        outcome: body.outcome,
        source_ehr: source,
        target_ehr: target,
        merge_id: body.merge_id,
        state: 'pending',
        reason: 'same person',
        requested_by: 'ward 3',
        requested: { date: expect.any(String), administrator: 'root-admin' },
        expires: expect.any(String),
        request: {
          reversible: true,
          folder_merge: 'BASIC',
          composition_merge: 'BASIC',
          resolutions: { compositions: {}, ehr_status: {} },
        },
        plan_digest: body.plan.digest,
      },
    ]);
    expect((await admin(app, 'get', `/ehr/merge_status?source=${source}`)).status).toBe(404);
    expect((await admin(app, 'get', `/ehr/merge_status?pending=true&source=${randomUUID()}`)).status).toBe(
      404,
    );
    expect((await admin(app, 'get', '/ehr/merge_status?pending=true&undone=true')).status).toBe(400);
    const { body: records } = await admin(app, 'get', `/audit?ehr_id=${source}&operation=mergeEhrs`);
    expect(records).toMatchObject([{ status: 202, outcome: 'pending', reason: 'same person' }]);
  });

  it('is no second one of the same source; a repeated Idempotency-Key gets the first answer', async () => {
    const call = () => merge(app, source, target).set('Idempotency-Key', 'once');
    const first = await call();
    const again = await call();
    expect([again.status, again.body.merge_id, again.body.state]).toEqual([
      202,
      first.body.merge_id,
      'pending',
    ]);
    const second = await merge(app, source, await givenEhr(app));
    expect([second.status, second.body.message]).toEqual([409, expect.stringContaining(first.body.merge_id)]);
  });

  it('is rehearsed without waiting, and refused as any other', async () => {
    const before = await dump();
    expect((await merge(app, source, target, { dry_run: true })).status).toBe(200);
    expect((await merge(app, source, randomUUID())).status).toBe(404);
    expect(await dump()).toBe(before);
  });
});

describe('a confirmation', () => {
  it('by another administrator carries the merge out, with both in the record', async () => {
    const mergeId = await asked({ reason: 'same person' });
    const done = await confirm(mergeId);
    expect([done.status, done.body]).toMatchObject([
      200,
      {
        reason: 'same person',
        requested: { administrator: 'root-admin' },
        plan: { compositions: { moved: 1 } },
      },
    ]);
    expect(await isThere(source)).toBe(404);
    expect(await pending()).not.toContainEqual(expect.objectContaining({ merge_id: mergeId }));
    const details = await admin(app, 'get', `/ehr/merge_details?source=${source}&target=${target}`);
    expect(details.body.requested.administrator).toBe('root-admin');
    const { body: records } = await admin(app, 'get', `/audit?ehr_id=${source}&operation=confirmMerge`);
    expect(records).toMatchObject([{ user: 'other-admin', status: 200, reason: 'same person' }]);
    const again = await confirm(mergeId);
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('carried out already')]);
  });

  it('is not for who asked, by whatever name, letters or issuer', async () => {
    const mergeId = await asked();
    const refused = await confirm(mergeId, undefined, bearer(['ADMIN'], 'root-admin', 60));
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
    expect(await isThere(source)).toBe(200);
    for (const sub of ['root-admin', 'Root-Admin'])
      expect(
        (await confirm(mergeId, undefined, bearer(['ADMIN'], sub, 60, 'https://other.example'))).status,
      ).toBe(403);
    expect(await isThere(source)).toBe(200);
  });

  it('of data that changed since is 409 with the new plan, which can be confirmed', async () => {
    const mergeId = await asked();
    await givenComposition(app, source, aComposition());
    const stale = await confirm(mergeId);
    expect([stale.status, stale.body]).toMatchObject([
      409,
      { code: 'conflict', plan: { compositions: { moved: 2 } } },
    ]);
    expect([await isThere(source), (await confirm(mergeId)).status]).toEqual([200, 409]);
    const { digest } = stale.body.plan as { digest: string };
    const rehearsed = await confirm(mergeId, { digest, dry_run: true });
    expect([rehearsed.status, await isThere(source)]).toEqual([200, 200]);
    expect((await confirm(mergeId, { digest })).status).toBe(200);
    expect(await isThere(source)).toBe(404);
  });

  it.each([
    ['an unknown merge', () => confirm(randomUUID()), 404],
    ['no id', () => confirm('x'), 400],
    ['an unknown member', () => confirm(randomUUID(), { sure: true }), 400],
    ['a malformed digest', () => confirm(randomUUID(), { digest: 'abc' }), 400],
  ])('is refused: %s', async (_, call, status) => {
    expect((await call()).status).toBe(status);
  });

  it('meets what happened meanwhile: the target is gone', async () => {
    const mergeId = await asked();
    await admin(app, 'delete', `/ehr/${target}`);
    expect((await confirm(mergeId)).status).toBe(404);
    expect(JSON.parse(await dump()).merge_requests.filter((doc: Json) => doc._id === mergeId)).toEqual([]);
  });

  it('and a withdrawal at the same time: one of both wins', async () => {
    const mergeId = await asked();
    const [confirmed, withdrawn] = await Promise.all([confirm(mergeId), withdraw(mergeId)]);
    expect([confirmed.status === 200, withdrawn.status === 200].filter(Boolean)).toHaveLength(1);
    expect(await isThere(source)).toBe(confirmed.status === 200 ? 404 : 200);
  });
});

it('a merge that waits cannot be made final', async () => {
  const mergeId = await asked();
  const call = admin(app, 'post', `/ehr/merge/${mergeId}/finalise`).send({ reason: 'sure' });
  expect((await call).status).toBe(409);
});

describe('a withdrawal', () => {
  it('ends it, is audited with its reason, and lets the merge be asked for anew', async () => {
    const mergeId = await asked();
    const done = await withdraw(mergeId, { reason: 'wrong patient' });
    expect([done.status, done.body.merge_id]).toEqual([200, mergeId]);
    expect([(await confirm(mergeId)).status, (await withdraw(mergeId)).status]).toEqual([404, 404]);
    const { body: records } = await admin(
      app,
      'get',
      `/audit?ehr_id=${source}&operation=withdrawMerge&status=200`,
    );
    expect(records).toMatchObject([
      { outcome: 'withdrawn', reason: 'wrong patient', ehr_ids: [source, target] },
    ]);
    await asked();
  });
});
