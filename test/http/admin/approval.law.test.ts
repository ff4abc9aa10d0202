import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { seeds } from '../../support/laws.js';
import { givenMergeTemplates, givenTag, O } from '../../support/merge-http.js';
import { givenComposition, givenEhr, V1, type Json } from '../../support/resources.js';
import { Random } from '../../support/random.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp({
  ...WITH_ADMIN,
  accessMode: 'dry',
  fourEyes: ['merge', 'move', 'erase', 'finalise', 'policy'],
});
const alone = testApp({ ...WITH_ADMIN, accessMode: 'dry' });
beforeAll(() => givenMergeTemplates(app));

const PERSONS = ['ann', 'ben', 'cid'] as const;
type Person = (typeof PERSONS)[number];
const STEPS = 14;
const POLICIES = [
  'permit (principal, action, resource);',
  'forbid (principal, action, resource is Version);',
  'forbid (principal, action, resource);',
] as const;

/** What the model knows of what waits. */
interface Waiting {
  readonly id: string;
  readonly by: Person;
  /** Digest of the plan that was asked for. */
  readonly plan: string;
}

/**
 * The law: nothing that takes two persons happens without a second one, and what a confirmation carries out is what was
 * asked for, of the state that was agreed on. Each script draws requests, confirmations, withdrawals and writes beside
 * them; a fingerprint of the whole record tells whether anything happened that should not have.
 */
it.each(seeds({ small: 1, full: 400 }))('two persons, whatever comes between: %i', async (seed) => {
  const random = new Random(seed);
  const pick = <T>(list: readonly T[]): T => random.pick(list);
  const ehrs = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
  const compositions: string[] = [];
  for (const ehrId of ehrs) compositions.push((await givenComposition(app, ehrId)).split('::')[0]!);
  const waiting: Waiting[] = [];
  const policyIds = [`law-${seed}-a`, `law-${seed}-b`];
  const call = (method: 'get' | 'post' | 'put' | 'delete', path: string, by: Person, of = app) => {
    const agent = request(of);
    return agent[method](`${O}${path}`).set('Authorization', bearer(['ADMIN'], by));
  };
  const print = () => fingerprint(ehrs, compositions, policyIds);

  const ask = async (): Promise<void> => {
    const by = pick(PERSONS);
    const [ehrId, other] = [pick(ehrs), pick(ehrs)];
    const id = pick(compositions);
    const before = await print();
    const asked = await pick([
      () => call('delete', `/ehr/${ehrId}`, by),
      () => call('delete', `/ehr/${ehrId}/composition/${id}`, by),
      () => call('post', `/ehr/${ehrId}/composition/${id}/move`, by).send({ target_ehr: other }),
      () => call('post', '/ehr/merge', by).send({ source_ehr: ehrId, target_ehr: other, reversible: true }),
      () => call('put', `/policies/${pick(policyIds)}`, by).send({ policy: pick(POLICIES) }),
      () => call('delete', `/policies/${pick(policyIds)}`, by),
      async () => {
        const { body } = await call('get', '/ehr/merge_status', by);
        const mergeId = (body as Json[]).find((one) => ehrs.includes(String(one.source_ehr)))?.merge_id;
        return call('post', `/ehr/merge/${String(mergeId)}/finalise`, by).send({ reason: 'law' });
      },
    ])();
    expect([202, 400, 404, 409]).toContain(asked.status);
    expect(await print()).toBe(before);
    if (asked.status !== 202) return;
    const { approval_id, merge_id, plan } = asked.body as Json & { plan: Json };
    const doc = {
      id: String(approval_id ?? merge_id),
      by,
      plan: String(plan.digest),
    };
    expect(waiting.map((one) => one.id)).not.toContain(doc.id);
    waiting.push(doc);
  };

  const confirm = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const one = pick(waiting);
    const by = pick(PERSONS);
    const before = await print();
    const rehearsed = await call('post', `/approval/${one.id}/confirm`, by).send({ dry_run: true });
    expect(await print()).toBe(before);
    const done = await call('post', `/approval/${one.id}/confirm`, by);
    expect(done.status).toBe(rehearsed.status);
    if (by === one.by && done.status !== 404) expect(done.status).toBe(403);
    if (done.status !== 200) {
      expect(await print()).toBe(before);
      return;
    }
    expect(by).not.toBe(one.by);
    expect((rehearsed.body as { plan: Json }).plan.digest).toBe(one.plan);
    waiting.splice(waiting.indexOf(one), 1);
    expect((await call('post', `/approval/${one.id}/confirm`, by)).status).toBeGreaterThanOrEqual(404);
  };

  const withdraw = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const one = pick(waiting);
    const before = await print();
    const ended = await call('post', `/approval/${one.id}/withdraw`, pick(PERSONS));
    expect([200, 404, 409]).toContain(ended.status);
    expect(await print()).toBe(before);
    waiting.splice(waiting.indexOf(one), 1);
  };

  /** Others go on, with one person where that is allowed. */
  const write = async (): Promise<void> => {
    const [ehrId, other] = [pick(ehrs), pick(ehrs)];
    const uid = pick(compositions);
    await pick<() => PromiseLike<unknown>>([
      async () => {
        const made = await givenComposition(app, ehrId).catch(() => null);
        if (made !== null) compositions.push(made.split('::')[0]!);
      },
      () => givenTag(app, { ehrId, type: 'composition', uid }, `k${random.next()}`).catch(() => null),
      () => call('post', '/ehr/unmerge', pick(PERSONS)).send({ source_ehr: ehrId, target_ehr: other }),
      () =>
        call('post', '/ehr/merge', pick(PERSONS), alone).send({
          source_ehr: ehrId,
          target_ehr: other,
          reversible: true,
        }),
      () => call('delete', `/ehr/${ehrId}/composition/${uid}`, pick(PERSONS), alone),
      () =>
        call('put', `/policies/${pick(policyIds)}`, pick(PERSONS), alone).send({ policy: pick(POLICIES) }),
      () => call('delete', `/policies/${pick(policyIds)}`, pick(PERSONS), alone),
    ])();
  };

  for (let step = 0; step < STEPS; step += 1) {
    await pick([ask, ask, confirm, confirm, withdraw, write])();
    const listed = (await call('get', '/approval?fetch=1000', 'ann')).body as Json[];
    const ids = new Set(listed.map((one) => one.approval_id));
    // What is listed was asked for here or in another script; what was ended by its EHR or object is gone for good.
    for (const one of waiting.filter(({ id }) => !ids.has(id)))
      expect((await call('post', `/approval/${one.id}/confirm`, 'ben')).status).toBeGreaterThanOrEqual(404);
    const mine = listed.filter(
      ({ ehr_ids: ids = [], policy_id: id }) =>
        (ids as string[]).some((one) => ehrs.includes(one)) || policyIds.includes(String(id)),
    );
    expect(waiting.map(({ id }) => id)).toEqual(expect.arrayContaining(mine.map((one) => one.approval_id)));
  }
  const verified = (await call('post', '/verify', 'ann')).body as { violations?: unknown[] };
  expect(verified.violations ?? []).toEqual([]);
});

/** Whose each COMPOSITION is in which version, which EHRs there are, which merges stand in which way, and all versions of policies. */
async function fingerprint(
  ehrs: readonly string[],
  compositions: readonly string[],
  policyIds: readonly string[],
): Promise<string> {
  const found: unknown[] = [];
  for (const id of policyIds) {
    const { status, body } = await request(app)
      .get(`${O}/policies/${id}/versions`)
      .set('Authorization', bearer(['ADMIN'], 'ann'));
    if (status === 200) found.push([id, (body as Json).versions]);
  }
  for (const ehrId of ehrs) {
    found.push([ehrId, (await request(app).get(`${V1}/ehr/${ehrId}`)).status]);
    for (const id of compositions) {
      const { status, headers } = await request(app).get(`${V1}/ehr/${ehrId}/composition/${id}`);
      if (status === 200) found.push([ehrId, id, headers['etag']]);
    }
  }
  const merges = await request(app)
    .get(`${O}/ehr/merge_status`)
    .set('Authorization', bearer(['ADMIN'], 'ann'));
  const standing = (merges.body as Json[]).filter((one) => ehrs.includes(String(one.source_ehr)));
  found.push(standing.map((one) => [one.merge_id, one.finalised]));
  return JSON.stringify(found);
}
