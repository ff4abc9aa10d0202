import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { endLapsed, lapsedActs } from '../../../change/approval/approval.js';
import { lapsedMergeRequests } from '../../../merge/approval.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  admin,
  folder,
  givenDirectory,
  givenMergeTemplates,
  givenTag,
  merge,
  O,
  unmerge,
} from '../../support/merge-http.js';
import { aComposition, dump, givenComposition, givenEhr, V1, type Json } from '../../support/resources.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, fourEyes: ['move', 'erase', 'finalise'] });
const strict = testApp({ ...WITH_ADMIN, fourEyes: ['merge', 'move', 'erase', 'finalise'] });
beforeAll(() => givenMergeTemplates(app));

const OTHER = bearer(['ADMIN'], 'other-admin');
let source = '';
let target = '';
let composition = '';
let versionUid = '';

beforeEach(async () => {
  source = await givenEhr(app);
  target = await givenEhr(app);
  versionUid = await givenComposition(app, source);
  composition = versionUid.split('::')[0]!;
});

const move = (further: object = {}) =>
  admin(app, 'post', `/ehr/${source}/composition/${composition}/move`).send({
    target_ehr: target,
    ...further,
  });
const erase = (ehrId = source, query = '') => admin(app, 'delete', `/ehr/${ehrId}${query}`);
const confirm = (id: unknown, body?: object, token = OTHER) =>
  request(app)
    .post(`${O}/approval/${String(id)}/confirm`)
    .set('Authorization', token)
    .send(body);
const withdraw = (id: unknown, body?: object) =>
  admin(app, 'post', `/approval/${String(id)}/withdraw`).send(body);
const listed = async (query = `?ehr_id=${source}`): Promise<Json[]> =>
  (await admin(app, 'get', `/approval${query}`)).body as Json[];
const ownerOf = async (id = composition): Promise<string | null> => {
  for (const ehrId of [source, target])
    if ((await request(app).get(`${V1}/ehr/${ehrId}/composition/${id}`)).status === 200) return ehrId;
  return null;
};
const isThere = async (ehrId: string) => (await request(app).get(`${V1}/ehr/${ehrId}`)).status === 200;
async function mergeId(): Promise<string> {
  return String((await merge(app, source, target)).body.merge_id ?? (await latestMerge()));
}
async function latestMerge(): Promise<unknown> {
  return (await admin(app, 'get', `/ehr/merge_status?source=${source}`)).body[0].merge_id;
}

interface Act {
  readonly kind: string;
  readonly operation: string;
  /** Asks for it; the answer has the id of what waits. */
  readonly ask: () => PromiseLike<request.Response>;
  readonly isDone: () => Promise<boolean>;
}

const ACTS: readonly Act[] = [
  {
    kind: 'move',
    operation: 'moveComposition',
    ask: () => move({ reason: 'wrong patient' }),
    isDone: async () => (await ownerOf()) === target,
  },
  { kind: 'erase', operation: 'deleteEhr', ask: () => erase(), isDone: async () => !(await isThere(source)) },
  {
    kind: 'erase',
    operation: 'deleteComposition',
    ask: () => admin(app, 'delete', `/ehr/${source}/composition/${composition}`),
    isDone: async () => (await ownerOf()) === null,
  },
  {
    kind: 'erase',
    operation: 'deleteDirectory',
    ask: async () => {
      const uid = await givenDirectory(app, source, folder('root'));
      return admin(app, 'delete', `/ehr/${source}/directory/${uid.split('::')[0]!}`);
    },
    isDone: async () => (await request(app).get(`${V1}/ehr/${source}/directory`)).status === 404,
  },
  {
    kind: 'finalise',
    operation: 'finaliseMerge',
    ask: async () => admin(app, 'post', `/ehr/merge/${await mergeId()}/finalise`).send({ reason: 'sure' }),
    isDone: async () => (await unmerge(app, source, target, { dry_run: true })).status === 409,
  },
];

describe.each(ACTS)('$operation, which takes two persons,', ({ kind, operation, ask, isDone }) => {
  it('waits: 202, listed, recorded, nothing else written', async () => {
    const { status, body } = await ask();
    expect([status, body]).toMatchObject([
      202,
      {
        approval_id: expect.any(String),
        kind,
        operation,
        state: 'pending',
        requested: { administrator: 'root-admin', date: expect.any(String) },
        plan: { digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ]);
    expect(await isDone()).toBe(false);
    expect(await listed()).toEqual([body]);
    const { body: records } = await admin(app, 'get', `/audit?operation=${operation}&fetch=1`);
    expect(records).toMatchObject([
      { status: 202, outcome: 'pending', options: { approval: body.approval_id }, user: 'root-admin' },
    ]);
    const again = operation === 'deleteDirectory' || operation === 'finaliseMerge' ? null : await ask();
    if (again !== null)
      expect([again.status, again.body.message]).toEqual([409, expect.stringContaining(body.approval_id)]);
  });

  it('is not for who asked, and done by another, with both in the audit', async () => {
    const { approval_id: id } = (await ask()).body as Json;
    expect((await confirm(id, undefined, bearer(['ADMIN'], 'root-admin', 60))).status).toBe(403);
    expect((await confirm(id, { dry_run: true }, bearer(['ADMIN'], 'root-admin', 60))).status).toBe(403);
    expect((await confirm(id, undefined, bearer(['USER'], 'other-admin'))).status).toBe(403);
    const rehearsed = await confirm(id, { dry_run: true });
    expect([rehearsed.status, rehearsed.body.state, await isDone()]).toEqual([200, 'pending', false]);
    const done = await confirm(id);
    expect([done.status, done.body]).toMatchObject([200, { state: 'done', kind, result: expect.anything() }]);
    expect(await isDone()).toBe(true);
    expect((await listed('?fetch=1000')).map((one) => one.approval_id)).not.toContain(id);
    expect((await confirm(id)).status).toBe(404);
    const { body: records } = await admin(app, 'get', `/audit?operation=confirmApproval&status=200&fetch=1`);
    expect(records).toMatchObject([
      { user: 'other-admin', ehr_id: source, options: { approval: id, requester: 'root-admin' } },
    ]);
  });

  it('ends when it is withdrawn, and may be asked for anew', async () => {
    const { approval_id: id } = (await ask()).body as Json;
    const done = await withdraw(id, { reason: 'two patients' });
    expect([done.status, done.body.state]).toEqual([200, 'withdrawn']);
    expect([(await confirm(id)).status, (await withdraw(id)).status, await isDone()]).toEqual([
      404,
      404,
      false,
    ]);
    const { body: records } = await admin(app, 'get', `/audit?operation=withdrawApproval&status=200&fetch=1`);
    expect(records).toMatchObject([{ reason: 'two patients', outcome: 'withdrawn', ehr_id: source }]);
  });
});

describe('what waits when the world moves', () => {
  it.each([
    ['a move', () => move()],
    [
      'the erasure of the COMPOSITION',
      () => admin(app, 'delete', `/ehr/${source}/composition/${composition}`),
    ],
    ['the erasure of the EHR', () => erase()],
  ])('%s is 409 with the new plan after a tag, and done by its digest', async (_, ask) => {
    const { approval_id: id, plan } = (await ask()).body as Json & { plan: Json };
    await givenTag(app, { ehrId: source, type: 'composition', uid: composition }, 'seen');
    const stale = await confirm(id);
    expect([stale.status, stale.body]).toMatchObject([409, { plan: { digest: expect.any(String) } }]);
    expect(stale.body.plan.digest).not.toBe(plan.digest);
    expect([await ownerOf(), (await confirm(id)).status]).toEqual([source, 409]);
    const { digest } = stale.body.plan as { digest: string };
    expect((await confirm(id, { digest, dry_run: true })).body.plan.digest).toBe(digest);
    expect((await confirm(id, { digest })).status).toBe(200);
  });

  it('an erasure that came to hold a merged patient is 409 without cascade, and another plan with it', async () => {
    const plain = (await erase(target)).body.approval_id;
    await merge(app, source, target);
    expect((await confirm(plain)).status).toBe(409);
    await withdraw(plain);
    const whole = await erase(target, '?cascade=true');
    expect(whole.body).toMatchObject({ ehr_ids: [target, source], plan: { merged_ehrs: [source] } });
    await unmerge(app, source, target);
    expect((await confirm(whole.body.approval_id)).status).toBe(409);
    expect([await isThere(source), await isThere(target)]).toEqual([true, true]);
  });

  it('a move out of an EHR that was merged away is 404, and goes on after the unmerge only as it was agreed', async () => {
    const { approval_id: id } = (await move()).body as Json;
    const third = await givenEhr(app);
    await merge(app, source, third);
    expect((await confirm(id)).status).toBe(404);
    expect((await listed('?fetch=1000')).map((one) => one.approval_id)).toContain(id);
    await unmerge(app, source, third);
    expect((await confirm(id)).status).toBe(200);
    expect(await ownerOf()).toBe(target);
  });

  it('a finality of a merge that was taken back is 409', async () => {
    const id = (await admin(app, 'post', `/ehr/merge/${await mergeId()}/finalise`).send({ reason: 'sure' }))
      .body.approval_id;
    await unmerge(app, source, target);
    expect((await confirm(id)).status).toBe(409);
  });

  it('ends with the EHR, and with the object', async () => {
    await move();
    const erased = (await admin(app, 'delete', `/ehr/${source}/composition/${composition}`)).body.approval_id;
    expect(await listed()).toHaveLength(2);
    expect((await confirm(erased)).status).toBe(200);
    expect(await listed()).toEqual([]);
    composition = (await givenComposition(app, source)).split('::')[0]!;
    await move();
    const whole = (await erase(target)).body.approval_id;
    expect((await confirm(whole)).status).toBe(200);
    expect(await listed()).toEqual([]);
    const { body } = await admin(app, 'post', '/verify');
    expect(JSON.stringify(body)).not.toContain('waiting_requests');
  });

  it('is confirmed and withdrawn at once by one of both', async () => {
    const { approval_id: id } = (await move()).body as Json;
    const answers = await Promise.all([confirm(id), confirm(id), withdraw(id)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await ownerOf()).toBe(answers[2].status === 200 ? source : target);
  });
});

describe('what is asked for', () => {
  it('is refused as if one person did it, and rehearsed without waiting', async () => {
    const before = await dump();
    expect((await move({ dry_run: true })).status).toBe(200);
    expect((await move({ target_ehr: randomUUID() })).status).toBe(404);
    expect((await erase(randomUUID())).status).toBe(404);
    expect((await admin(app, 'delete', `/ehr/${source}/composition/${randomUUID()}`)).status).toBe(404);
    expect(
      (await admin(app, 'post', `/ehr/merge/${randomUUID()}/finalise`).send({ reason: 'x' })).status,
    ).toBe(404);
    expect(await dump()).toBe(before);
  });

  it('lapses after FOUR_EYES_DAYS: nobody can confirm it, it makes way, and its end is recorded', async () => {
    const ids = [
      (await move()).body.approval_id,
      (await merge(strict, source, target)).body.merge_id,
    ] as string[];
    expect((await listed()).map((one) => one.kind).sort()).toEqual(['merge', 'move']);
    const past = { $set: { expires_at: new Date(Date.now() - 1) } };
    for (const name of ['waiting_requests', 'merge_requests'])
      await mongoose.connection.collection<{ _id: string }>(name).updateMany({ _id: { $in: ids } }, past);
    for (const id of ids)
      expect([(await confirm(id)).status, (await withdraw(id)).status]).toEqual([404, 404]);
    expect(await listed()).toEqual([]);
    expect((await merge(strict, source, target)).status).toBe(202);
    expect((await move()).status).toBe(202);
    const later = new Date(Date.now() + 31 * 86_400_000);
    const ended = [...(await lapsedActs(later)), ...(await lapsedMergeRequests(later))];
    expect(await endLapsed(ended, (work) => work())).toBe(ended.length);
    expect(await endLapsed(ended, (work) => work())).toBe(0);
    expect(await listed()).toEqual([]);
  });

  it('is a merge too: listed, planned, confirmed and withdrawn in the same place', async () => {
    const asked = (await merge(strict, source, target)).body as Json;
    expect(await listed()).toMatchObject([
      {
        approval_id: asked.merge_id,
        kind: 'merge',
        ehr_ids: [source, target],
        plan: { digest: expect.any(String) },
      },
    ]);
    const rehearsed = await confirm(asked.merge_id, { dry_run: true });
    expect(rehearsed.body).toMatchObject({ state: 'pending', plan: { compositions: { moved: 1 } } });
    expect((await withdraw(asked.merge_id)).body.state).toBe('withdrawn');
    const again = (await merge(strict, source, target)).body as Json;
    expect((await confirm(again.merge_id)).body).toMatchObject({
      state: 'done',
      result: { source_ehr: source },
    });
    expect(await isThere(source)).toBe(false);
  });

  it('needs one person where the kind is not named', async () => {
    const free = testApp({ ...WITH_ADMIN, fourEyes: ['merge'] });
    const path = `/ehr/${source}/composition/${composition}/move`;
    expect((await admin(free, 'post', path).send({ target_ehr: target })).status).toBe(200);
    await givenComposition(app, source, aComposition());
    expect((await admin(free, 'delete', `/ehr/${source}`)).status).toBe(204);
  });

  it('keeps why something is erased and who asked for it, in what waits and in the audit of both persons', async () => {
    const asked = await erase(source, '?reason=a%20wish&requested_by=ward%203');
    expect(asked.body).toMatchObject({ reason: 'a wish', requested_by: 'ward 3' });
    expect(await listed()).toMatchObject([{ reason: 'a wish', requested_by: 'ward 3' }]);
    await confirm(asked.body.approval_id).expect(200);
    for (const operation of ['deleteEhr', 'confirmApproval']) {
      const audit = await admin(app, 'get', `/audit?ehr_id=${source}&operation=${operation}`);
      expect(audit.body).toMatchObject([{ reason: 'a wish', options: { requested_by: 'ward 3' } }]);
    }
    await erase(target, `?reason=${'x'.repeat(501)}`).expect(400);
  });
});
