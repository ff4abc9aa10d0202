import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { backgroundJobs } from '../../../maintenance/jobs.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { element, node, single } from '../../support/openehr/opt-builder.js';
import { itemPath, optOf, RULE_CASES, valuesIn } from '../../support/openehr/rule-cases.js';
import { IN_GRAMS, notedDigest, RevisedData, type Made } from '../../support/openehr/revised-data.js';
import { dump, V1, versionUidOf, versionedObjectUidOf, type Json } from '../../support/resources.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

const data = new RevisedData(testApp({ ...WITH_ADMIN, templateRevisions: true }));
const INCOMPLETE = { 'openEHR-VERSION': 'lifecycle_state.code_string="553"' };

useDatabase();

/** The example of the newest revision of a template. */
async function example(id: string): Promise<Json> {
  const path = `${V1}/definition/template/adl1.4/${id}/example`;
  return (await request(data.app).get(path).query({ detail_level: 'complete' })).body as Json;
}

/** The same, committed. */
async function exampleOf(id: string, headers: Record<string, string> = {}): Promise<Made> {
  return data.commit(await example(id), undefined, headers);
}

const plan = (id: string, body: object) => data.admin(`${id}/upgrade?dry_run=true`, body);

/** Plans, begins and awaits an upgrade. */
async function upgraded(id: string, body: object): Promise<Json> {
  const { hash } = (await plan(id, body)).body as Json;
  const begun = await data.admin(`${id}/upgrade`, { ...body, hash });
  expect(begun.status).toBe(202);
  return data.settled(`${id}/upgrade/${(begun.body as { job: string }).job}`);
}

async function lifecycleOf({ ehrId, uid }: Made): Promise<unknown> {
  const container = versionedObjectUidOf(uid);
  const { body } = await request(data.app).get(
    `${V1}/ehr/${ehrId}/versioned_composition/${container}/version/${uid}`,
  );
  return (body as Json).lifecycle_state.defining_code.code_string;
}

describe('a rule of each kind', () => {
  it.each(RULE_CASES)('$kind: its plan shows what it does, and it is done', async (each) => {
    const id = `rule-${each.kind}`;
    await data.upload(optOf(each.before, id));
    const made = await exampleOf(id);
    await data.upload(optOf(each.after, id));
    const without = (await plan(id, { rules: [] })).body as Json;
    expect(without).toMatchObject({ valid: 0, mappable: 0, invalid: 1 });
    const rules = { rules: [each.rule] };
    const planned = (await plan(id, rules)).body as Json;
    expect(planned).toMatchObject({ valid: 0, mappable: 1, invalid: 0, examples: [{ uid: made.uid }] });
    const [{ after }] = planned.examples as [Json];
    expect(valuesIn(after)).toMatchObject(each.values);
    expect(Object.keys(valuesIn(after)).sort()).toEqual(Object.keys(each.values));
    expect(await upgraded(id, rules)).toMatchObject({ state: 'done', upgraded: 1, left: 0 });
    const now = (await data.latest(made)).body as Json;
    expect(valuesIn(now)).toEqual(valuesIn(after));
  });

  it('is refused where it is none, and nothing is stored', async () => {
    const id = 'rule-refused';
    await data.upload(optOf(RULE_CASES[0]!.before, id));
    await exampleOf(id);
    await data.upload(optOf(RULE_CASES[0]!.after, id));
    const before = await dump();
    const [path, to] = [itemPath('at0002'), itemPath('at0003')];
    for (const [rule, reason] of [
      [{ drop: path }, 'drop loses data: it needs "consent": true'],
      [{ drop: path, consent: false }, 'drop loses data: it needs "consent": true'],
      [{ move: path, to, unless: 1 }, 'move knows no unless'],
      [{ map: path }, 'codes of map is missing or malformed'],
      [{ split: path, pattern: '(', into: [to] }, 'rule 1'],
      [{ default: to, value: ['text'] }, 'is no value of'],
      [{ rename: path }, 'it is none of'],
    ] as const) {
      const refused = await plan(id, { rules: [rule] });
      expect([rule, refused.status, (refused.body as Json).message]).toEqual([
        rule,
        400,
        expect.stringContaining(reason),
      ]);
    }
    expect(await dump()).toBe(before);
  });
});

describe('an upgrade', () => {
  it('writes also what is valid as it is where that is asked for, and takes it back', async () => {
    const [valid, mapped] = await data.given('rewritten', 'kg', 'gm');
    const all = { ...IN_GRAMS, rewrite: true };
    const [one, other] = [await plan('rewritten', IN_GRAMS), await plan('rewritten', all)];
    expect((one.body as Json).hash).not.toBe((other.body as Json).hash);
    const wrong = await data.admin('rewritten/upgrade', { ...all, hash: (one.body as Json).hash });
    expect(wrong.status).toBe(409);
    const before = await data.latest(valid!);
    const digest = await notedDigest(valid!.uid);
    const done = await upgraded('rewritten', all);
    expect(done).toMatchObject({ state: 'done', rewrite: true, upgraded: 2, left: 0 });
    const second = await data.latest(valid!);
    expect(versionUidOf(second)).toBe(valid!.uid.replace(/1$/, '2'));
    expect(second.text.replaceAll(versionUidOf(second), valid!.uid)).toBe(before.text);
    const newest = await notedDigest(versionUidOf(second));
    expect([newest, newest === digest]).toEqual([(done.to as Json).digest, false]);
    await data.admin(`rewritten/upgrade/${String(done.job)}/undo`);
    const undone = await data.settled(`rewritten/upgrade/${String(done.job)}`);
    expect(undone).toMatchObject({ state: 'undone', undone: 2, left: 0 });
    for (const each of [valid!, mapped!]) {
      const third = versionUidOf(await data.latest(each));
      expect([third, await notedDigest(third)]).toEqual([each.uid.replace(/1$/, '3'), digest]);
    }
  });

  it('keeps a draft a draft, and judges it as one', async () => {
    const [first, second] = ['at0002', 'at0003'].map((id) => element(id, node('DV_TEXT'), '1..1'));
    await data.upload(optOf(first!, 'drafts'));
    await exampleOf('drafts');
    const draft = await exampleOf('drafts', INCOMPLETE);
    await data.upload(optOf(first! + second!, 'drafts'));
    // What lacks a node that is asked for may still be a draft.
    const found = (await plan('drafts', { rules: [] })).body as Json;
    expect(found).toMatchObject({ valid: 1, mappable: 0, invalid: 1 });
    const done = await upgraded('drafts', { rules: [], rewrite: true });
    expect(done).toMatchObject({ state: 'done', upgraded: 1, left: 1 });
    const uid = versionUidOf(await data.latest(draft));
    expect([uid, await lifecycleOf({ ...draft, uid })]).toEqual([draft.uid.replace(/1$/, '2'), '553']);
  });

  it('says of what it left why', async () => {
    const [, frozen] = await data.given('reasons', 'gm', 'gm');
    const { ehrId } = frozen!;
    const status = await request(data.app).get(`${V1}/ehr/${ehrId}/ehr_status`);
    await request(data.app)
      .put(`${V1}/ehr/${ehrId}/ehr_status`)
      .set('If-Match', String(status.headers.etag))
      .send({ ...(status.body as Json), is_modifiable: false });
    expect((await upgraded('reasons', IN_GRAMS)).left_ones).toEqual([
      { ehr_id: ehrId, uid: frozen!.uid, reason: expect.stringContaining('does not allow modification') },
    ]);
    expect((await upgraded('reasons', { rules: [] })).left_ones).toEqual([
      {
        ehr_id: ehrId,
        uid: frozen!.uid,
        reason: expect.stringMatching(/^\/content\[openEHR-EHR-EVALUATION\.minimal\.v1\].*"gm"/),
      },
    ]);
  });

  it('and a comparison say how much only a terminology server can prove', async () => {
    const uri = 'terminology://fhir.hl7.org/ValueSet/$expand?url=http://example.org/vs';
    const phrase = node('CODE_PHRASE', {
      xsiType: 'C_CODE_REFERENCE',
      inside: `<referenceSetUri>${uri}</referenceSetUri>`,
    });
    const coded = node('DV_CODED_TEXT', { inside: single('defining_code', phrase) });
    const bound = element('at0002', coded);
    const [text, other] = ['at0003', 'at0004'].map((id) => element(id, node('DV_TEXT')));
    await data.upload(optOf(bound + text!, 'unproven'));
    const whole = await example('unproven');
    for (const each of [whole, withoutNode(whole, 'at0002'), withoutNode(whole, 'at0003')])
      await data.commit(each);
    await data.upload(optOf(bound + other!, 'unproven'));
    const rules = { rules: [{ move: itemPath('at0003'), to: itemPath('at0004') }] };
    // Of the valid one and one of the two that are mapped.
    expect((await plan('unproven', rules)).body).toMatchObject({
      ...{ valid: 1, mappable: 2, invalid: 0, unproven: 2 },
    });
    const { body } = await data.admin('unproven/compare?data=all', { from: '1', to: '2' });
    const judged = await data.settled(`unproven/compare/${(body as Json).data.job}`);
    expect(judged).toMatchObject({ state: 'done', valid: 1, invalid: 2, unproven: 1 });
    expect(await upgraded('unproven', rules)).toMatchObject({ upgraded: 2, left: 0 });
  });

  it('is seen by who looks at what goes on', async () => {
    const made = await data.given('seen', 'gm', 'gm');
    const job = await data.upgrade('seen');
    await data.settled(`seen/upgrade/${job}`);
    const [first] = made.toSorted((one, another) => (one.ehrId < another.ehrId ? -1 : 1));
    const position = { batch: '', ehr: first!.ehrId, object: '' };
    const jobs = mongoose.connection.collection<{ _id: string }>('template_upgrades');
    const become = (state: string) => jobs.updateOne({ _id: job }, { $set: { state, position } });
    await become('running');
    const ehrs = mongoose.connection.collection<{ _id: string }>('ehrs');
    const [done, of] = [
      await ehrs.countDocuments({ _id: { $lte: first!.ehrId } }),
      await ehrs.countDocuments({}),
    ];
    const { body } = await request(data.app).get('/rest/overview').set('Authorization', ADMIN);
    const shown = { kind: 'template_upgrade', done, of };
    expect((body as Json).jobs).toEqual([{ ...shown, started: expect.any(String) }]);
    // The server keeps for a moment what it has told.
    for (const [state, count] of [
      ['undoing', 1],
      ['paused', 0],
      ['undone', 0],
      ['done', 0],
    ] as const) {
      await become(state);
      expect([state, await backgroundJobs()]).toMatchObject([state, Array(count).fill(shown)]);
    }
  });
});

function withoutNode(composition: Json, nodeId: string): Json {
  const copy = structuredClone(composition);
  const tree = copy.content[0].data as { items: Json[] };
  tree.items = tree.items.filter(({ archetype_node_id: id }) => id !== nodeId);
  return copy;
}
