import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { admin, givenMergeTemplates, merge, O, unmerge } from '../../support/merge-http.js';
import { aComposition, givenComposition, givenEhr } from '../../support/resources.js';
import { auditRecordsOf, recordOfAnswer } from '../../support/api/audit-records.js';
import { ADMIN, bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
const approving = testApp({ ...WITH_ADMIN, fourEyes: ['merge'] });
beforeAll(() => givenMergeTemplates(app));

let source = '';
let target = '';
let mine = '';
let theirs = '';
beforeEach(async () => {
  [source, target] = [await givenEhr(app), await givenEhr(app)];
  mine = await givenComposition(app, source, aComposition('persistent_minimal.en.v1'));
  theirs = await givenComposition(app, target, aComposition('persistent_minimal.en.v1'));
});

const root = (uid: string): string => uid.split('::')[0]!;
const persistent = (compositions: object): object => ({
  composition_merge: 'PERSISTENT',
  resolutions: { compositions },
});

/** With the text as it is. */
function posted(path: string, body: string): request.Test {
  return admin(app, 'post', path).set('Content-Type', 'application/json').send(body);
}

describe('a body of many wrong members', () => {
  it.each(['/ehr/merge', '/ehr/unmerge'])('is refused by a short answer (%s)', async (path) => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`x${n}`, 1]));
    for (const further of [many, { resolutions: { compositions: many } }, { on_conflict: many }]) {
      const body = { source_ehr: source, target_ehr: target, reversible: true, ...further };
      const answer = await posted(path, JSON.stringify(body));
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid']);
      expect(answer.text.length).toBeLessThan(10_000);
    }
  });
});

describe('resolutions', () => {
  it.each(['\u0000', 'a\u0000b', 'a\nb'])(
    'with a key of control characters are 400, and audited (%j)',
    async (key) => {
      const answer = await merge(app, source, target, persistent({ [key]: 'source' }));
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid']);
      expect((await recordOfAnswer(answer)).status).toBe(400);
    },
  );

  it.each(['', '$set', 'a.b', '.', '__proto__', 'constructor'])(
    'with a key that names nothing are refused, and audited (%j)',
    async (key) => {
      const body = `{"source_ehr":"${source}","target_ehr":"${target}","reversible":true,"composition_merge":"PERSISTENT","resolutions":{"compositions":{${JSON.stringify(key)}:"source"}}}`;
      const answer = await posted('/ehr/merge', body);
      expect([400, 409]).toContain(answer.status);
      expect((await recordOfAnswer(answer)).status).toBe(answer.status);
    },
  );

  it('that choose twice for one id, in capitals and not, are refused where they differ', async () => {
    const [small, large] = [root(mine), root(mine).toUpperCase()];
    for (const [one, other] of [
      [small, large],
      [large, small],
    ] as const) {
      const answer = await merge(app, source, target, persistent({ [one]: 'source', [other]: 'target' }));
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid']);
    }
    const same = persistent({ [small]: 'target', [large]: 'target' });
    expect((await merge(app, source, target, { ...same, dry_run: true })).status).toBe(200);
  });
});

describe('on_conflict', () => {
  it('that chooses twice for one id, in capitals and not, is refused where it differs', async () => {
    await merge(app, source, target);
    const id = randomUUID();
    const on_conflict = { [id]: 'keep_in_target', [id.toUpperCase()]: 'take_back' };
    const answer = await unmerge(app, source, target, { on_conflict });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid']);
    const braces = { [`{${id}}`]: 'keep_in_target' };
    expect((await unmerge(app, source, target, { on_conflict: braces })).status).toBe(400);
    expect((await unmerge(app, source, target)).status).toBe(200);
  });
});

describe('ids in capitals', () => {
  it('name the same EHRs, merges and COMPOSITIONs', async () => {
    const [S, T] = [source.toUpperCase(), target.toUpperCase()];
    expect((await merge(app, S, source)).status).toBe(400);
    const move = (ehrId: string, uid: string, to: string) =>
      admin(app, 'post', `/ehr/${ehrId}/composition/${uid}/move`).send({ target_ehr: to, dry_run: true });
    expect((await move(S, root(mine), source)).status).toBe(400);
    expect((await move(S, root(mine).toUpperCase(), await givenEhr(app))).status).toBe(200);
    const merged = await merge(app, S, T);
    expect([merged.status, merged.body.source_ehr]).toEqual([200, source]);
    const id = String(merged.body.merge_id).toUpperCase();
    const final = await admin(app, 'post', `/ehr/merge/${id}/finalise`).send({ reason: 'x' });
    expect([final.status, final.body.merge_id]).toEqual([200, merged.body.merge_id]);
    expect((await unmerge(app, S, T)).body.obstacles).toMatchObject([{ code: 'not_reversible' }]);
    expect(theirs).toContain('::1');
  });
});

describe('one merge, asked for many things at once', () => {
  it('is made final or taken back, one of both and once', async () => {
    for (let round = 0; round < 3; round += 1) {
      const [from, to] = [await givenEhr(app), await givenEhr(app)];
      await givenComposition(app, from);
      const { body } = await merge(app, from, to);
      const final = () =>
        admin(app, 'post', `/ehr/merge/${String(body.merge_id)}/finalise`).send({ reason: 'x' });
      const answers = await Promise.all([final(), unmerge(app, from, to), final(), unmerge(app, from, to)]);
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.every((status) => [200, 404, 409, 503].includes(status))).toBe(true);
      const isBack = (await request(app).get(`/rest/openehr/v1/ehr/${from}`)).status === 200;
      expect(isBack).toBe(statuses[1] === 200 || statuses[3] === 200);
    }
  });

  it('is confirmed or withdrawn, one of both and once', async () => {
    const other = bearer(['ADMIN'], 'other-admin');
    for (let round = 0; round < 3; round += 1) {
      const [from, to] = [await givenEhr(app), await givenEhr(app)];
      const { body } = await merge(approving, from, to);
      const path = `${O}/ehr/merge/${String(body.merge_id)}`;
      const confirm = () => request(approving).post(`${path}/confirm`).set('Authorization', other);
      const withdraw = () => request(approving).post(`${path}/withdraw`).set('Authorization', ADMIN);
      const statuses = (await Promise.all([confirm(), withdraw(), confirm(), withdraw()])).map(
        ({ status }) => status,
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.every((status) => [200, 404, 409].includes(status))).toBe(true);
    }
  });
});

describe('the same Idempotency-Key', () => {
  it('sent at the same time merges once, and answers the same', async () => {
    const key = randomUUID();
    const send = () => merge(app, source, target).set('Idempotency-Key', key);
    const answers = await Promise.all([send(), send(), send()]);
    const done = answers.filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThan(0);
    expect(answers.every(({ status }) => [200, 409].includes(status))).toBe(true);
    const again = await send();
    expect([again.status, again.body.merge_id]).toEqual([200, done[0]!.body.merge_id]);
    const mixed = await merge(app, target, source).set('Idempotency-Key', key);
    expect(mixed.status).toBe(422);
    expect((await auditRecordsOf()).length).toBeGreaterThan(0);
  });
});
