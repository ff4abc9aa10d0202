import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import { finaliseOldMerges } from '../../../merge/finalise.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  admin,
  folder,
  givenDirectory,
  givenMergeTemplates,
  givenTag,
  givenUpdate,
  merge,
  rows,
  statusOf,
  unmerge,
} from '../../support/merge-http.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  versionedObjectUidOf,
  V1,
  type Json,
} from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(() => givenMergeTemplates(app));

const PERSISTENT = 'persistent_minimal.en.v1';
const EVENT = 'minimal_evaluation.en.v1';

const finalise = (
  id: string,
  body: object = { reason: 'the wrong John Smith is out of the question' },
): request.Test => admin(app, 'post', `/ehr/merge/${id}/finalise`).send(body);
const status = (query: string): request.Test => admin(app, 'get', `/ehr/merge_status?${query}`);

async function givenMerge(): Promise<{ source: string; target: string; id: string }> {
  const [source, target] = [await givenEhr(app), await givenEhr(app)];
  await givenComposition(app, source, aComposition(EVENT));
  const { body } = await merge(app, source, target);
  return { source, target, id: String(body.merge_id) };
}

async function expectSound(): Promise<void> {
  expect((await verifyStorage()).violations).toEqual([]);
}

describe('a merge made final', () => {
  it('loses its archive, can never be taken back, and is listed with reason and administrator', async () => {
    const { source, target, id } = await givenMerge();
    expect((await status(`source=${source}`)).body[0]).toMatchObject({ merge_id: id, reversible_now: true });
    const answer = await finalise(id, { reason: ' checked twice ' });
    expect([answer.status, answer.body]).toEqual([
      200,
      expect.objectContaining({
        merge_id: id,
        source_ehr: source,
        target_ehr: target,
        reversible_now: false,
        finalised: { date: expect.any(String), committer: 'root-admin', reason: 'checked twice' },
      }),
    ]);
    const archived = await mongoose.connection.collection('merge_archive').countDocuments({ merge_id: id });
    expect(archived).toBe(0);
    const refused = await unmerge(app, source, target, { on_conflict: 'take_back' });
    expect([refused.status, refused.body.obstacles[0].code]).toEqual([409, 'not_reversible']);
    expect((await status(`source=${source}`)).body[0]).toMatchObject({
      reversible_now: false,
      finalised: { reason: 'checked twice' },
      reasons: ['the merge was not reversible'],
      obstacles: [{ code: 'not_reversible', message: 'the merge was not reversible', object_ids: [] }],
    });
    const audit = await admin(app, 'get', `/audit?operation=finaliseMerge&ehr_id=${source}`);
    expect(audit.body).toEqual([
      expect.objectContaining({
        ehr_ids: [source, target],
        objects: [id],
        reason: 'checked twice',
        status: 200,
      }),
    ]);
    await expectSound();
  });

  it('needs a reason, is known, stands, and is not final already', async () => {
    const { source, target, id } = await givenMerge();
    for (const body of [{}, { reason: '  ' }, { reason: 'x'.repeat(501) }, { reason: 'x', more: 1 }])
      expect((await finalise(id, body)).status).toBe(400);
    expect((await finalise('x')).status).toBe(400);
    expect((await finalise(randomUUID())).status).toBe(404);
    await unmerge(app, source, target);
    expect([(await finalise(id)).status, (await finalise(id)).body.message]).toEqual([
      409,
      `merge ${id} was taken back`,
    ]);
    const again = await merge(app, source, target, { reversible: false });
    expect((await finalise(String(again.body.merge_id))).status).toBe(409);
  });

  it('by time, as the settings say, and nobody else', async () => {
    const { source, id } = await givenMerge();
    const young = await givenMerge();
    const recorded = (work: () => Promise<unknown>): Promise<unknown> => work();
    const records = mongoose.connection.collection<{ _id: string }>('merge_records');
    await records.updateOne({ _id: id }, { $set: { merge_date: new Date(Date.now() - 8 * 86_400_000) } });
    expect(await finaliseOldMerges(7, recorded)).toBe(1);
    expect(await finaliseOldMerges(7, recorded)).toBe(0);
    expect((await status(`source=${source}`)).body[0].finalised).toMatchObject({
      committer: 'everchart',
      reason: 'MERGE_REVERSIBLE_DAYS=7',
    });
    expect((await status(`source=${young.source}`)).body[0].finalised).toBeUndefined();
  });
});

describe('the list of merges', () => {
  it('tells what can be taken back now, in pages', async () => {
    const target = await givenEhr(app);
    const sources = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    const theirs = await givenComposition(app, target, aComposition(PERSISTENT));
    for (const source of sources) {
      if (source === sources[1]) await givenComposition(app, source, aComposition(PERSISTENT));
      await merge(app, source, target, { composition_merge: 'PERSISTENT' });
    }
    await givenUpdate(app, target, theirs.replace(/::1$/, '::2'), aComposition(PERSISTENT));
    const listed = (await status(`target=${target}`)).body as Json[];
    expect(listed.map(({ source_ehr, reversible_now }) => [source_ehr, reversible_now])).toEqual([
      [sources[0], true],
      [sources[1], false],
      [sources[2], true],
    ]);
    const refused = (await unmerge(app, sources[1]!, target)).body as Json;
    expect(refused.obstacles).toMatchObject([
      { code: 'joined_changed', object_ids: [versionedObjectUidOf(theirs)] },
    ]);
    expect(listed.map(({ reasons, obstacles }) => [reasons, obstacles])).toEqual([
      [undefined, undefined],
      [refused.reasons, refused.obstacles],
      [undefined, undefined],
    ]);
    const page = (await status(`target=${target}&offset=1&fetch=1`)).body as Json[];
    expect(page.map(({ source_ehr }) => source_ehr)).toEqual([sources[1]]);
    expect((await status('offset=0&fetch=2')).body).toHaveLength(2);
    const last = await givenEhr(app);
    await merge(app, target, last);
    expect((await status(`source=${sources[0]!}`)).body).toMatchObject([
      {
        reversible_now: false,
        reasons: [`EHR ${target} was merged into ${last}: take that merge back first`],
        obstacles: [{ code: 'target_merged' }],
      },
    ]);
    expect((await unmerge(app, target, last)).status).toBe(200);
    for (const bad of ['fetch=0', 'fetch=1001', 'offset=-1', 'undone=maybe'])
      expect([bad, (await status(bad)).status]).toEqual([bad, 400]);
    await unmerge(app, sources[2]!, target);
    expect((await status(`target=${target}&undone=true`)).body).toHaveLength(1);
    expect((await status(`target=${sources[0]!}&undone=true`)).status).toBe(404);
  });
});

const coded = (value: string, code: string): Json => ({
  value,
  defining_code: { terminology_id: { value: 'openehr' }, code_string: code },
});

/** A new version of what precedes it, else of a new object. */
const version = (data: Json, precedes?: string): Json => ({
  data,
  ...(precedes !== undefined && { preceding_version_uid: { value: precedes } }),
  commit_audit: {
    change_type: precedes === undefined ? coded('creation', '249') : coded('modification', '251'),
  },
  lifecycle_state: coded('complete', '532'),
});

const contributionOf = (ehrId: string, versions: readonly Json[]): request.Test =>
  request(app)
    .post(`${V1}/ehr/${ehrId}/contribution`)
    .set('Prefer', 'return=representation')
    .send({ versions, audit: { change_type: coded('creation', '249') } });

const move = (source: string, uid: string, body: object): request.Test =>
  admin(app, 'post', `/ehr/${source}/composition/${uid}/move`).send(body);

describe('moving one composition', () => {
  it('takes history and item tags along, is told by a dry run, and names FOLDER items', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const first = await givenComposition(app, source, aComposition(EVENT));
    const id = versionedObjectUidOf(first);
    const second = await givenUpdate(app, source, first, aComposition(EVENT));
    await givenTag(app, { ehrId: source, type: 'composition', uid: id }, 'k');
    await givenDirectory(app, source, folder('root', [], [folder('ward', [id])]));
    const before = (await request(app).get(`${V1}/ehr/${source}/composition/${first}`)).body as Json;
    const rehearsed = await move(source, id, { target_ehr: target, dry_run: true });
    expect([rehearsed.status, rehearsed.body.dry_run]).toEqual([200, true]);
    expect((await request(app).get(`${V1}/ehr/${source}/composition/${first}`)).status).toBe(200);
    const moved = await move(source, second, { target_ehr: target, reason: 'of his brother' });
    expect([moved.status, moved.body]).toEqual([
      200,
      {
        source_ehr: source,
        target_ehr: target,
        composition: id,
        versions: 2,
        contributions: 2,
        contributions_kept: [],
        contributions_made: [],
        item_tags: 1,
        folder_items: [{ folder: 'root/ward', item: id }],
        reason: 'of his brother',
      },
    ]);
    expect((await request(app).get(`${V1}/ehr/${source}/composition/${first}`)).status).toBe(404);
    expect((await request(app).get(`${V1}/ehr/${target}/composition/${first}`)).body).toEqual(before);
    expect(await rows(app, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', target)).toEqual([
      [second],
    ]);
    const audit = await admin(app, 'get', `/audit?operation=moveComposition&ehr_id=${target}`);
    expect((audit.body as Json[]).map(({ dry_run, reason }) => [dry_run, reason])).toEqual([
      [undefined, 'of his brother'],
      [true, undefined],
    ]);
    await expectSound();
    expect((await move(target, id, { target_ehr: source })).status).toBe(200);
    expect((await request(app).get(`${V1}/ehr/${source}/composition/${second}`)).status).toBe(200);
    await expectSound();
  });

  it('answers a CONTRIBUTION of several objects by one in each EHR; every version keeps its content', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const both = await contributionOf(source, [version(aComposition(EVENT)), version(aComposition(EVENT))]);
    expect(both.status).toBe(201);
    const [one] = (both.body.versions as Json[]).map(({ id }) => String(id.value));
    const id = one!.split('::')[0]!;
    const before = (await request(app).get(`${V1}/ehr/${source}/composition/${one!}`)).body as Json;
    const moved = await move(source, id, { target_ehr: target });
    expect([
      moved.status,
      moved.body.versions,
      moved.body.contributions_kept,
      moved.body.contributions_made,
    ]).toEqual([200, 3, [both.body.uid.value], [expect.any(String), expect.any(String)]]);
    const [left, arrived] = moved.body.contributions_made as string[];
    const listed = async (ehrId: string, uid: string): Promise<unknown> => {
      const { body } = await request(app).get(`${V1}/ehr/${ehrId}/contribution/${uid}`);
      return (body.versions as Json[]).map((each) => String(each.id.value));
    };
    expect(await listed(source, left!)).toEqual([one!.replace('::1', '::2')]);
    expect(await listed(target, arrived!)).toEqual([one!.replace('::1', '::3')]);
    expect((await request(app).get(`${V1}/ehr/${target}/composition/${one!}`)).body).toEqual(before);
    expect((await request(app).get(`${V1}/ehr/${target}/composition/${id}`)).headers.etag).toMatch(/::3"$/);
    await expectSound();
    const third = await givenEhr(app);
    await merge(app, source, third);
    await expectSound();
    expect((await move(target, id, { target_ehr: await givenEhr(app) })).status).toBe(200);
    await expectSound();
  });

  it('goes on, and its EHR too, after an unmerge left a CONTRIBUTION of several objects behind', async () => {
    const [source, target, third, fourth] = [
      await givenEhr(app),
      await givenEhr(app),
      await givenEhr(app),
      await givenEhr(app),
    ];
    const uids = [
      await givenComposition(app, source, aComposition(EVENT)),
      await givenComposition(app, source, aComposition(EVENT)),
    ];
    await merge(app, source, target);
    const changes = uids.map((uid) => version(aComposition(EVENT), uid));
    expect((await contributionOf(target, [...changes, version(aComposition(EVENT))])).status).toBe(201);
    expect((await unmerge(app, source, target, { on_conflict: 'take_back' })).status).toBe(200);
    await expectSound();
    expect((await move(source, versionedObjectUidOf(uids[0]!), { target_ehr: third })).status).toBe(200);
    await expectSound();
    expect((await merge(app, source, fourth)).status).toBe(200);
    await expectSound();
  });

  it('is refused where it must not be', async () => {
    const [source, target, third] = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    const list = versionedObjectUidOf(await givenComposition(app, source, aComposition(PERSISTENT)));
    await givenComposition(app, target, aComposition(PERSISTENT));
    const second = await move(source, list, { target_ehr: target });
    expect([second.status, second.body.message]).toEqual([
      409,
      expect.stringContaining(`has a persistent composition of template ${PERSISTENT} already`),
    ]);
    expect((await move(source, list, { target_ehr: source })).status).toBe(400);
    expect((await move(source, list, {})).status).toBe(400);
    expect((await move(source, randomUUID(), { target_ehr: third })).status).toBe(404);
    expect((await move(source, list, { target_ehr: randomUUID() })).status).toBe(404);
    const locked = String(
      (
        await request(app)
          .post(`${V1}/ehr`)
          .send(statusOf('locked', { is_modifiable: false }))
      ).headers.etag,
    ).replaceAll('"', '');
    expect((await move(source, list, { target_ehr: locked })).status).toBe(409);
    await merge(app, third, target);
    expect((await move(source, list, { target_ehr: third })).status).toBe(409);
    await merge(app, source, target);
    expect((await move(source, list, { target_ehr: target })).status).toBe(404);
  });

  it('of what a merge brought leaves the merge reversible without it', async () => {
    const [source, target, third] = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    const uid = await givenComposition(app, source, aComposition(EVENT));
    const other = await givenComposition(app, source, aComposition(EVENT));
    await merge(app, source, target);
    expect((await move(target, versionedObjectUidOf(uid), { target_ehr: third })).status).toBe(200);
    const undone = await unmerge(app, source, target);
    expect([undone.status, undone.body.outcome.summary]).toEqual([
      200,
      expect.stringContaining(`left out: composition ${versionedObjectUidOf(uid)}, moved on since`),
    ]);
    expect((await request(app).get(`${V1}/ehr/${source}/composition/${other}`)).status).toBe(200);
    expect((await request(app).get(`${V1}/ehr/${third}/composition/${uid}`)).status).toBe(200);
    await expectSound();
  });
});
