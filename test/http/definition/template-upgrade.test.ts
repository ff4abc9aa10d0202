import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request, { type Test } from 'supertest';
import { commitInBulk, type BulkContent } from '../../../change/bulk.js';
import { partyNamed } from '../../../change/commit/audit.js';
import { LIFECYCLE } from '../../../change/commit/codes.js';
import { changeContext } from '../../../change/commit/context.js';
import { runUpgrade } from '../../../maintenance/template-upgrade.js';
import { versionOf, type StoredVersion } from '../../../models/version-text.js';
import { testApp } from '../../support/app.js';
import { beforeTransaction } from '../../support/before-transaction.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { secondOpt } from '../../support/openehr/revisions.js';
import {
  aComposition,
  givenEhr,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { putMarks, RESTRICTED } from '../../support/policy/marks.js';
import { everythingOn, testSettings } from '../../support/settings.js';
import { ADMIN, bearer, WITH_ADMIN } from '../../support/tokens.js';

const NAME = 'minimal_evaluation.en.v1';
const VALUE = '/content[openEHR-EHR-EVALUATION.minimal.v1]/data[at0001]/items[at0002]/value';
const IN_GRAMS = { rules: [{ unit: VALUE, from: 'gm', to: 'g', factor: 1 }] };

const settings = { ...WITH_ADMIN, templateRevisions: true };
const app = testApp(settings);

useDatabase();

const named = (opt: string, id: string): string =>
  opt.replaceAll(`<value>${NAME}</value>`, `<value>${id}</value>`);
const upload = (opt: string): Test =>
  request(app)
    .post(`${V1}/definition/template/adl1.4`)
    .set({ 'Content-Type': 'application/xml', Authorization: ADMIN })
    .send(opt);
const admin = (path: string, body: object = {}): Test =>
  request(app).post(`/rest/admin/template/${path}`).set('Authorization', ADMIN).send(body);

function massIn(units: string, id: string): Json {
  const text = JSON.stringify(aComposition(NAME)).replaceAll(NAME, id);
  return JSON.parse(text.replace('"units":"kg"', `"units":"${units}"`)) as Json;
}

/** COMPOSITIONs of the first revision of a template in EHRs of their own, each in these units; then there is a second one. */
async function given(id: string, ...units: readonly string[]): Promise<{ ehrId: string; uid: string }[]> {
  await upload(named(fixtureText(`opt/${NAME}.opt`), id));
  const made: { ehrId: string; uid: string }[] = [];
  for (const unit of units) {
    const ehrId = await givenEhr(app);
    const response = await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(massIn(unit, id));
    expect(response.status).toBe(201);
    made.push({ ehrId, uid: versionUidOf(response) });
  }
  await upload(named(secondOpt('a unit is replaced by another'), id));
  return made;
}

/** So many COMPOSITIONs in grams, each in an EHR of its own, whose ids are given in their order: an upgrade of them has several steps. */
async function givenMany(id: string, count: number): Promise<string[]> {
  await upload(named(fixtureText(`opt/${NAME}.opt`), id));
  const object = massIn('gm', id);
  const contents = Array.from({ length: count }, (): BulkContent => ({
    ehrId: randomUUID(),
    newEhr: { status: null },
    contributions: [[{ object, lifecycleState: LIFECYCLE.complete }]],
  }));
  const context = changeContext(testSettings(settings));
  const how = { committer: partyNamed('import'), isLenient: false };
  expect(await commitInBulk(context, how, contents)).not.toContain(false);
  await upload(named(secondOpt('a unit is replaced by another'), id));
  return contents.map(({ ehrId }) => ehrId).sort();
}

/**
 * Begins an upgrade of many COMPOSITIONs, and pauses it while its second step is about to be written; then `meanwhile` happens. Gives the
 * job once that is over.
 */
async function pausedInTheMiddle(id: string, meanwhile: (job: string) => Promise<void>): Promise<string> {
  await givenMany(id, MANY);
  let job = '';
  const isOver = beforeTransaction(
    async () => {
      const behindOne = await jobs().findOne({ template_id: id, state: 'running', upgraded: { $gt: 0 } });
      job = behindOne?._id ?? '';
      return behindOne !== null;
    },
    async () => {
      expect((await admin(`${id}/upgrade/${job}/pause`)).body).toMatchObject({ state: 'paused' });
      await meanwhile(job);
    },
  );
  await begin(id);
  await isOver;
  return job;
}

/** More than two steps take. */
const MANY = 130;

/** Until no process is at an upgrade. */
async function untilLeft(job: string): Promise<void> {
  const leases = mongoose.connection.collection<{ _id: string }>('settings');
  while ((await leases.countDocuments({ _id: `template upgrade ${job}` })) > 0) await setTimeout(20);
}

/** How many COMPOSITIONs of the template have so many VERSIONs, the latest of which is in these units. */
async function counted(id: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  const all = versions().find({ template_id: id }).sort({ object_id: 1, version: 1 });
  const latestOnes = new Map<string, string>();
  for await (const stored of all) {
    const { object_id: object, version, data } = versionOf(stored);
    latestOnes.set(object, `${version} ${/"units":"(\w+)"/.exec(data ?? '')?.[1] ?? ''}`);
  }
  for (const what of latestOnes.values()) found[what] = (found[what] ?? 0) + 1;
  return found;
}

async function asked(id: string, job: string): Promise<Json> {
  const told = await request(app)
    .get(`/rest/admin/template/${id}/upgrade/${job}`)
    .set('Authorization', ADMIN);
  return told.body as Json;
}

async function plan(id: string, body: object = IN_GRAMS): Promise<Json> {
  const { status, body: answer } = await admin(`${id}/upgrade?dry_run=true`, body);
  expect(status).toBe(200);
  return answer as Json;
}

async function begin(id: string, body: object = IN_GRAMS): Promise<string> {
  const { hash } = await plan(id, body);
  const { status, body: answer } = await admin(`${id}/upgrade`, { ...body, hash });
  expect(status).toBe(202);
  return String((answer as Json).job);
}

async function until(id: string, job: string, state: string): Promise<Json> {
  for (;;) {
    const answer = await asked(id, job);
    if (answer.state === state) return answer;
    expect(['running', 'undoing']).toContain(answer.state);
    await setTimeout(50);
  }
}

async function latest({ ehrId, uid }: { ehrId: string; uid: string }): Promise<request.Response> {
  return request(app).get(`${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`);
}

const jobs = () => mongoose.connection.collection<{ _id: string }>('template_upgrades');
const versions = () => mongoose.connection.collection<StoredVersion>('versions');

describe('an upgrade of the data of a template', () => {
  it('is planned with counts, causes and examples, and changes nothing', async () => {
    const [valid, mapped] = await given('planned', 'kg', 'gm', 'gm');
    const found = await plan('planned');
    expect(found).toMatchObject({
      from: '1',
      to: '2',
      valid: 1,
      mappable: 2,
      invalid: 0,
      unproven: 0,
      others: 0,
    });
    expect(found.examples).toHaveLength(2);
    expect(JSON.stringify(found.examples[0].before)).toContain('"gm"');
    expect(JSON.stringify(found.examples[0].after)).toContain('"g"');
    const without = await plan('planned', { rules: [] });
    expect(without).toMatchObject({ valid: 1, mappable: 0, invalid: 2 });
    expect(without.causes[0]).toMatchObject({ count: 2, examples: [expect.any(String), expect.any(String)] });
    expect(without.hash).not.toBe(found.hash);
    for (const each of [valid!, mapped!]) expect(versionUidOf(await latest(each))).toBe(each.uid);
  });

  it('writes new VERSIONs of what is not valid as it is, and can be taken back', async () => {
    const [valid, mapped] = await given('upgraded', 'kg', 'gm');
    const before = (await latest(mapped!)).text;
    const job = await begin('upgraded');
    expect(await until('upgraded', job, 'done')).toMatchObject({ upgraded: 1, left: 0, left_ones: [] });
    expect(versionUidOf(await latest(valid!))).toBe(valid!.uid);
    const now = await latest(mapped!);
    expect(versionUidOf(now)).toBe(mapped!.uid.replace(/1$/, '2'));
    expect(now.text).toContain('"units":"g"');
    const { ehrId } = mapped!;
    const container = versionedObjectUidOf(mapped!.uid);
    const shown = await request(app).get(
      `${V1}/ehr/${ehrId}/versioned_composition/${container}/version/${versionUidOf(now)}`,
    );
    expect((shown.body as Json).commit_audit).toMatchObject({
      change_type: { defining_code: { code_string: '817' } },
      committer: { name: 'root-admin' },
      description: { value: `upgrade ${job}` },
    });
    const [first, second] = await versions().find({ object_id: container }).sort({ version: 1 }).toArray();
    expect(first?.template_digest).not.toBe(second?.template_digest);

    expect((await admin(`upgraded/upgrade/${job}/undo`)).status).toBe(200);
    expect(await until('upgraded', job, 'undone')).toMatchObject({ undone: 1, left: 0 });
    const back = await latest(mapped!);
    expect(versionUidOf(back)).toBe(mapped!.uid.replace(/1$/, '3'));
    expect(back.text.replaceAll(versionUidOf(back), mapped!.uid)).toBe(before);
    expect((await versions().findOne({ _id: versionUidOf(back) }))?.template_digest).toBe(
      first?.template_digest,
    );
  });

  it('leaves what it may not write, and what no rule makes valid, and says so', async () => {
    const [, frozen] = await given('left', 'gm', 'gm');
    const { ehrId } = frozen!;
    const status = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`);
    await request(app)
      .put(`${V1}/ehr/${ehrId}/ehr_status`)
      .set('If-Match', String(status.headers.etag))
      .send({ ...(status.body as Json), is_modifiable: false });
    const job = await begin('left');
    const done = await until('left', job, 'done');
    expect(done).toMatchObject({ upgraded: 1, left: 1, left_ones: [{ ehr_id: ehrId, uid: frozen!.uid }] });
    const again = await begin('left', { rules: [] });
    expect(await until('left', again, 'done')).toMatchObject({ upgraded: 0, left: 1 });
  });

  it('leaves what is restricted, forward and back, and says so', async () => {
    const enforced = testApp({
      ...everythingOn({ auth: 'jwt', accessMode: 'enforce' }),
      templateRevisions: true,
    });
    const [free, restricted] = await given('restricted', 'gm', 'gm');
    const { ehrId, uid } = restricted!;
    const restrict = (marks: readonly object[]): Promise<unknown> =>
      putMarks(enforced, ehrId, marks, ADMIN).expect(200);
    const ask = (path: string, body: object): Test =>
      request(enforced)
        .post(`/rest/admin/template/restricted/${path}`)
        .set('Authorization', ADMIN)
        .send(body);
    await restrict([RESTRICTED]);
    const { hash } = await plan('restricted');
    const { job } = (await ask('upgrade', { ...IN_GRAMS, hash }).expect(202)).body as { job: string };
    const reason = expect.stringMatching(/restricted.*lift the mark/);
    expect(await until('restricted', job, 'done')).toMatchObject({
      ...{ upgraded: 1, left: 1 },
      left_ones: [{ ehr_id: ehrId, uid, reason }],
    });
    expect(versionUidOf(await latest(restricted!))).toBe(uid);
    await restrict([]);
    const second = (await ask('upgrade', { ...IN_GRAMS, hash: (await plan('restricted')).hash }).expect(202))
      .body as { job: string };
    await until('restricted', second.job, 'done');
    const written = versionUidOf(await latest(restricted!));
    expect(written).toBe(uid.replace(/1$/, '2'));
    await restrict([RESTRICTED]);
    await ask(`upgrade/${second.job}/undo`, {}).expect(200);
    expect(await until('restricted', second.job, 'undone')).toMatchObject({
      left_ones: [{ ehr_id: ehrId, uid: written, reason }],
    });
    expect(versionUidOf(await latest(restricted!))).toBe(written);
    expect(versionUidOf(await latest(free!))).toBe(free!.uid.replace(/1$/, '2'));
  });

  it('is refused when the data moved on since its plan', async () => {
    const [one] = await given('moved', 'gm');
    const { hash } = await plan('moved');
    await request(app)
      .put(`${V1}/ehr/${one!.ehrId}/composition/${versionedObjectUidOf(one!.uid)}`)
      .set('If-Match', `"${one!.uid}"`)
      .send(massIn('kg', 'moved'));
    expect((await admin('moved/upgrade', { ...IN_GRAMS, hash })).status).toBe(409);
    expect((await admin('moved/upgrade', IN_GRAMS)).status).toBe(400);
    expect(
      (await admin('moved/upgrade?dry_run=true', { rules: [{ move: '/nowhere', to: '/content' }] })).status,
    ).toBe(400);
  });

  it('is refused while another one is not done, and so is the undo of one before it', async () => {
    await given('second', 'gm');
    const first = await begin('second');
    await until('second', first, 'done');
    const { hash } = await plan('second');
    // As if it had been paused.
    await jobs().updateOne({ _id: first }, { $set: { state: 'paused' } });
    const refused = await admin('second/upgrade', { ...IN_GRAMS, hash });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('is not done')]);
    expect(await jobs().countDocuments({ template_id: 'second' })).toBe(1);
    await jobs().updateOne({ _id: first }, { $set: { state: 'done' } });
    const next = await begin('second');
    await until('second', next, 'done');
    await jobs().updateOne({ _id: next }, { $set: { state: 'paused' } });
    const undo = await admin(`second/upgrade/${first}/undo`);
    expect([undo.status, undo.text]).toEqual([409, expect.stringContaining(next)]);
    expect((await asked('second', first)).state).toBe('done');
  });

  it('is refused, as an undo is, while another server begins one', async () => {
    await given('instant', 'gm');
    const first = await begin('instant');
    await until('instant', first, 'done');
    const { hash } = await plan('instant');
    const leases = mongoose.connection.collection<{ _id: string }>('settings');
    const begins = { _id: 'template upgrades of instant', holder: 'another', length_ms: 60_000 };
    await leases.insertOne({ ...begins, expires_at: new Date(Date.now() + 30_000) } as { _id: string });
    const words: [string, object?][] = [
      ['instant/upgrade', { ...IN_GRAMS, hash }],
      [`instant/upgrade/${first}/undo`],
    ];
    for (const [path, body] of words) {
      const { status, text } = await admin(path, body);
      expect([path, status, text]).toEqual([path, 409, expect.stringContaining('begins at this moment')]);
    }
    expect((await asked('instant', first)).state).toBe('done');
    expect(await jobs().countDocuments({ template_id: 'instant' })).toBe(1);
    await leases.deleteOne({ _id: begins._id });
    expect((await admin(`instant/upgrade/${first}/undo`)).status).toBe(200);
    await until('instant', first, 'undone');
    expect(await leases.countDocuments({ _id: begins._id })).toBe(0);
  });

  it('goes on to the revision that it was planned for, when there is a newer one since', async () => {
    const [made] = await given('third', 'gm');
    const job = await begin('third');
    await until('third', job, 'done');
    expect((await admin(`third/upgrade/${job}/undo`)).status).toBe(200);
    await until('third', job, 'undone');
    const again = { state: 'paused', upgraded: 0 };
    await jobs().updateOne({ _id: job }, { $set: again });
    const third = named(secondOpt('a unit is replaced by another'), 'third').replace(
      '</concept>',
      ' again</concept>',
    );
    expect((await upload(third)).status).toBe(201);
    expect((await admin(`third/upgrade/${job}/resume`)).status).toBe(200);
    expect(await until('third', job, 'done')).toMatchObject({ upgraded: 1, left: 0 });
    const digests = await versions()
      .find({ object_id: versionedObjectUidOf(made!.uid) })
      .sort({ version: 1 })
      .toArray();
    expect(digests.map(({ template_digest: digest }) => digest)).toEqual([
      digests[0]?.template_digest,
      digests[1]?.template_digest,
      digests[0]?.template_digest,
      digests[1]?.template_digest,
    ]);
    expect(digests[1]?.template_digest).not.toBe(digests[0]?.template_digest);
  });

  it('knows by their content what was stored before there were revisions', async () => {
    const before = testApp(WITH_ADMIN);
    await upload(named(fixtureText(`opt/${NAME}.opt`), 'former'));
    const ehrId = await givenEhr(before);
    const commitBy = async (at: typeof app, unit: string): Promise<string> => {
      const made = await request(at).post(`${V1}/ehr/${ehrId}/composition`).send(massIn(unit, 'former'));
      expect(made.status).toBe(201);
      return versionUidOf(made);
    };
    const uid = await commitBy(before, 'gm');
    await upload(named(secondOpt('a unit is replaced by another'), 'former'));
    // Valid by the second revision only, and as if nothing had been noted of it.
    const newer = await commitBy(app, 'g');
    await versions().updateOne({ _id: newer }, { $unset: { template_digest: 1 } });
    expect(await plan('former')).toMatchObject({ valid: 0, mappable: 1, invalid: 0, others: 1 });
    const job = await begin('former');
    expect(await until('former', job, 'done')).toMatchObject({ upgraded: 1, left: 0 });
    await admin(`former/upgrade/${job}/undo`);
    expect(await until('former', job, 'undone')).toMatchObject({ undone: 1, left: 0 });
    const listed = await request(app)
      .get('/rest/admin/template/former/revisions')
      .set('Authorization', ADMIN);
    const [second, first] = (listed.body as { digest: string }[]).map(({ digest }) => digest);
    const noted = await versions()
      .find({ object_id: versionedObjectUidOf(uid) })
      .sort({ version: 1 })
      .toArray();
    expect(noted.map(({ template_digest: digest }) => digest)).toEqual([undefined, second, first]);
    expect(await versions().countDocuments({ object_id: versionedObjectUidOf(newer) })).toBe(1);
  });

  it('is taken back by whoever asks for that', async () => {
    const [made] = await given('signed', 'gm');
    const job = await begin('signed');
    await until('signed', job, 'done');
    const undo = await request(app)
      .post(`/rest/admin/template/signed/upgrade/${job}/undo`)
      .set('Authorization', bearer(['ADMIN'], 'second-admin'));
    expect(undo.status).toBe(200);
    await until('signed', job, 'undone');
    const container = `${V1}/ehr/${made!.ehrId}/versioned_composition/${versionedObjectUidOf(made!.uid)}`;
    const committers: unknown[] = [];
    for (const version of [2, 3]) {
      const shown = await request(app).get(
        `${container}/version/${made!.uid.replace(/1$/, String(version))}`,
      );
      committers.push((shown.body as Json).commit_audit.committer.name);
    }
    expect(committers).toEqual(['root-admin', 'second-admin']);
  });

  it('names what was deleted since as obstacles of its undo', async () => {
    const [deleted, other] = await given('deleted', 'gm', 'gm');
    const job = await begin('deleted');
    await until('deleted', job, 'done');
    const uid = versionUidOf(await latest(deleted!));
    expect((await request(app).delete(`${V1}/ehr/${deleted!.ehrId}/composition/${uid}`)).status).toBe(204);
    await admin(`deleted/upgrade/${job}/undo`);
    expect(await until('deleted', job, 'undone')).toMatchObject({
      undone: 1,
      left: 1,
      left_ones: [{ ehr_id: deleted!.ehrId, reason: 'it was deleted since' }],
    });
    expect((await latest(deleted!)).status).toBe(204);
    expect((await latest(other!)).text).toContain('"units":"gm"');
  });

  it('names what was edited since as obstacles of its undo', async () => {
    const [edited] = await given('edited', 'gm');
    const job = await begin('edited');
    await until('edited', job, 'done');
    const uid = versionUidOf(await latest(edited!));
    await request(app)
      .put(`${V1}/ehr/${edited!.ehrId}/composition/${versionedObjectUidOf(uid)}`)
      .set('If-Match', `"${uid}"`)
      .send(massIn('mg', 'edited'));
    await admin(`edited/upgrade/${job}/undo`);
    const undone = await until('edited', job, 'undone');
    expect(undone).toMatchObject({
      undone: 0,
      left: 1,
      left_ones: [{ reason: expect.stringContaining('since') }],
    });
  });

  it('is known by what the server notes, not by what a client says in an audit', async () => {
    const [upgraded, own] = await given('forged', 'gm', 'kg');
    const job = await begin('forged');
    await until('forged', job, 'done');
    const write = async (made: { ehrId: string; uid: string }, description: string): Promise<string> => {
      const uid = versionUidOf(await latest(made));
      const response = await request(app)
        .put(`${V1}/ehr/${made.ehrId}/composition/${versionedObjectUidOf(uid)}`)
        .set({ 'If-Match': `"${uid}"`, 'openEHR-AUDIT_DETAILS': `description.value="${description}"` })
        .send(massIn('mg', 'forged'));
      expect([200, 204]).toContain(response.status);
      return versionUidOf(response);
    };
    // Else it would be taken back, and who wrote since would be no obstacle.
    const claimed = await write(own!, `upgrade ${job}`);
    const edited = await write(upgraded!, `undo of the upgrade ${job}`);
    await admin(`forged/upgrade/${job}/undo`);
    expect(await until('forged', job, 'undone')).toMatchObject({
      undone: 0,
      left: 1,
      left_ones: [{ ehr_id: upgraded!.ehrId, uid: edited }],
    });
    expect(versionUidOf(await latest(own!))).toBe(claimed);
  });

  it('goes on where it stood after it was paused, or its process killed', async () => {
    const made = await given('resumed', 'gm', 'gm', 'gm');
    const job = await begin('resumed');
    await until('resumed', job, 'done');
    // As if it had been killed behind the first COMPOSITION, whose VERSION is there.
    const [first] = made.toSorted((one, other) => (one.ehrId < other.ehrId ? -1 : 1));
    const position = { batch: '', ehr: first!.ehrId, object: versionedObjectUidOf(first!.uid) };
    await jobs().updateOne({ _id: job }, { $set: { state: 'paused', position, upgraded: 1 } });
    expect((await admin(`resumed/upgrade/${job}/resume`)).status).toBe(200);
    expect(await until('resumed', job, 'done')).toMatchObject({ upgraded: 1 });
    for (const { uid } of made)
      expect(await versions().countDocuments({ object_id: versionedObjectUidOf(uid) })).toBe(2);
    await jobs().updateOne({ _id: job }, { $set: { state: 'running' } });
    expect((await admin(`resumed/upgrade/${job}/pause`)).status).toBe(200);
    await runUpgrade(testSettings(settings), job);
    expect((await until('resumed', job, 'paused')).state).toBe('paused');
  });

  it('stands still behind the step at which it was paused, and goes on from there', async () => {
    const job = await pausedInTheMiddle('paused', () => Promise.resolve());
    await untilLeft(job);
    const { state, upgraded } = await asked('paused', job);
    expect(state).toBe('paused');
    expect(Number(upgraded)).toBeLessThan(MANY);
    expect(await counted('paused')).toEqual({ '2 g': upgraded, '1 gm': MANY - Number(upgraded) });
    expect((await admin(`paused/upgrade/${job}/resume`)).status).toBe(200);
    expect(await until('paused', job, 'done')).toMatchObject({ upgraded: MANY, left: 0 });
    expect(await counted('paused')).toEqual({ '2 g': MANY });
  });

  it('is taken back altogether when its undo begins while a step of it is still being written', async () => {
    const job = await pausedInTheMiddle('hasty', async (id) => {
      const undo = await admin(`hasty/upgrade/${id}/undo`);
      expect(undo.body).toMatchObject({ state: 'undoing' });
    });
    const { upgraded } = await until('hasty', job, 'undone');
    expect(await asked('hasty', job)).toMatchObject({ undone: upgraded, left: 0 });
    expect(await counted('hasty')).toEqual({ '3 gm': upgraded, '1 gm': MANY - Number(upgraded) });
  });
});
