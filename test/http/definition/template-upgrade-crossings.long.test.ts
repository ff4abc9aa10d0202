import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { eraseEhr } from '../../../maintenance/erase.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { admin, givenUpdate, merge, unmerge, writtenByUnmerge } from '../../support/merge-http.js';
import {
  IN_GRAMS,
  massIn,
  notedDigest,
  RevisedData,
  revisionTexts,
} from '../../support/openehr/revised-data.js';
import {
  aComposition,
  givenEhr,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, templateRevisions: true });
const data = new RevisedData(app);

const jobs = () => mongoose.connection.collection<{ _id: string }>('template_upgrades');
const done = (id: string, job: string): Promise<Json> => data.settled(`${id}/upgrade/${job}`);

async function undone(id: string, job: string): Promise<Json> {
  expect((await data.admin(`${id}/upgrade/${job}/undo`)).status).toBe(200);
  return done(id, job);
}

async function expectSound(): Promise<void> {
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
}

/** Content of the latest VERSION, without its uid. */
async function contentOf(made: { ehrId: string; uid: string }): Promise<string> {
  const found = await data.latest(made);
  return found.text.replaceAll(versionUidOf(found), '');
}

describe('an upgrade of data', () => {
  it('is taken back in the EHR into which they were merged since, and the merge after it', async () => {
    const [one, other] = await data.given('merged', 'gm', 'gm');
    const before = await contentOf(one!);
    const job = await data.upgrade('merged');
    expect(await done('merged', job)).toMatchObject({ upgraded: 2, left: 0 });
    expect((await merge(app, one!.ehrId, other!.ehrId)).status).toBe(200);
    expect(await undone('merged', job)).toMatchObject({ undone: 2, left: 0 });
    expect(await contentOf({ ...one!, ehrId: other!.ehrId })).toBe(before);
    // The undo wrote into what the merge moved: the unmerge says so.
    const refused = await unmerge(app, one!.ehrId, other!.ehrId);
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringContaining(versionedObjectUidOf(one!.uid)),
    ]);
    const taken = await unmerge(app, one!.ehrId, other!.ehrId, { on_conflict: 'take_back' });
    expect(taken.status).toBe(200);
    expect(await contentOf(one!)).toBe(before);
    await expectSound();
  });

  it('reaches what a merge brought and an unmerge takes away again, each VERSION once', async () => {
    const [one, other] = await data.given('unmerged', 'gm', 'gm');
    expect((await merge(app, one!.ehrId, other!.ehrId)).status).toBe(200);
    const job = await data.upgrade('unmerged');
    expect(await done('unmerged', job)).toMatchObject({ upgraded: 2, left: 0 });
    expect((await unmerge(app, one!.ehrId, other!.ehrId, { on_conflict: 'take_back' })).status).toBe(200);
    expect((await data.latest(one!)).text).toContain('"units":"g"');
    expect(await undone('unmerged', job)).toMatchObject({ undone: 2, left: 0 });
    expect((await data.latest(one!)).text).toContain('"units":"gm"');
    await expectSound();
  });

  it('goes on past what it left, when a merge brings it before it once more', async () => {
    await data.upload(revisionTexts('met')[0]);
    const [low, high] = ['00000000-0000-4000-8000-000000000001', 'ffffffff-ffff-4fff-bfff-ffffffffffff'];
    for (const ehrId of [low, high]) expect((await request(app).put(`${V1}/ehr/${ehrId}`)).status).toBe(201);
    const met = await data.commit(massIn('gm', 'met'), low);
    await data.upload(revisionTexts('met')[1]);
    const rules = { rules: [] };
    const { body } = await data.admin('met/upgrade?dry_run=true', rules);
    const begun = await data.admin('met/upgrade', { ...rules, hash: (body as Json).hash });
    const { job } = begun.body as { job: string };
    expect(await done('met', job)).toMatchObject({ left: 1 });
    // As if it stood behind the first EHR when that was merged into the last one.
    await jobs().updateOne(
      { _id: job },
      { $set: { state: 'paused', position: { batch: '', ehr: low, object: met.uid } } },
    );
    expect((await merge(app, low, high)).status).toBe(200);
    await data.admin(`met/upgrade/${job}/resume`);
    expect(await done('met', job)).toMatchObject({ state: 'done', left: 1 });
    for (const ehrId of [low, high]) await eraseEhr(ehrId, { cascade: true }).catch(() => undefined);
  });

  it('leaves nothing behind in what is erased, and is taken back in the rest', async () => {
    const [gone, stays] = await data.given('erased', 'gm', 'gm');
    const job = await data.upgrade('erased');
    await done('erased', job);
    await eraseEhr(gone!.ehrId, { cascade: true });
    expect(await undone('erased', job)).toMatchObject({ undone: 1, left: 0 });
    expect((await data.latest(stays!)).text).toContain('"units":"gm"');
    const used = (await data.get('erased/revisions')).body as Json[];
    expect(used.map(({ revision, versions }) => [revision, versions])).toEqual([
      ['2', 1],
      ['1', 2],
    ]);
    await eraseEhr(stays!.ehrId, { cascade: true });
    const removed = await request(app)
      .delete('/rest/admin/template/erased/revisions/2')
      .set('Authorization', ADMIN);
    expect(removed.status).toBe(204);
    await expectSound();
  });

  it('is answered as of before by what was there', async () => {
    const [made] = await data.given('timed', 'gm');
    const q = `SELECT v/data[at0001]/items[at0002]/value/units AS units FROM EHR e CONTAINS COMPOSITION c CONTAINS EVALUATION v[openEHR-EHR-EVALUATION.minimal.v1] WHERE e/ehr_id/value = '${made!.ehrId}'`;
    const units = async (further: object = {}): Promise<unknown> => {
      const answer = await request(app)
        .post(`${V1}/query/aql`)
        .send({ q, ...further });
      expect(answer.status).toBe(200);
      return (answer.body as { rows: unknown }).rows;
    };
    const before = new Date().toISOString();
    await done('timed', await data.upgrade('timed'));
    expect(await units()).toEqual([['g']]);
    expect(await units({ as_of: before })).toEqual([['gm']]);
  });

  it('travels in an export of all versions, undone or not', async () => {
    await emptied();
    const [made] = await data.given('exported', 'gm', 'gm');
    const job = await data.upgrade('exported');
    await done('exported', job);
    await undone('exported', job);
    await done('exported', await data.upgrade('exported'));
    const lines = await exported();
    const digest = await notedDigest(versionUidOf(await data.latest(made!)));
    await emptied();
    expect(refusals(await imported(lines))).toEqual([]);
    expect(await exported()).toEqual(lines);
    expect(await notedDigest(versionUidOf(await data.latest(made!)))).toBe(digest);
    await expectSound();
    // What came can be upgraded on.
    expect((await data.admin('exported/upgrade?dry_run=true', IN_GRAMS)).body).toMatchObject({ others: 2 });
  });

  it('keeps by which revision what a merge joins, or moves, was judged', async () => {
    const id = 'persistent_minimal.en.v1';
    const opt = (await import('../../support/fixture.js')).fixtureText(`opt/${id}.opt`);
    await data.upload(opt);
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const [mine, theirs] = [
      await data.commit(aComposition(id), source),
      await data.commit(aComposition(id), target),
    ];
    const digest = await notedDigest(mine.uid);
    expect(digest).toBeDefined();
    await data.upload(opt.replace('</concept>', ' again</concept>'));
    const how = { composition_merge: 'PERSISTENT', resolutions: { compositions: { [id]: 'source' } } };
    expect((await merge(app, source, target, how)).status).toBe(200);
    const joined = versionUidOf(await data.latest(theirs));
    expect([joined, await notedDigest(joined)]).toEqual([theirs.uid.replace(/1$/, '2'), digest]);
    expect((await unmerge(app, source, target)).status).toBe(200);
    for (const each of [mine, theirs])
      expect(await notedDigest(versionUidOf(await data.latest(each)))).toBe(digest);
    const third = await givenEhr(app);
    const object = versionedObjectUidOf(mine.uid);
    const moved = await admin(app, 'post', `/ehr/${source}/composition/${object}/move`).send({
      target_ehr: third,
    });
    expect(moved.status).toBe(200);
    expect(await notedDigest(versionUidOf(await data.latest({ ehrId: third, uid: mine.uid })))).toBe(digest);
  });
});

describe('a list that a merge joined and an upgrade of data made anew', () => {
  const persistent = (units: string, id: string, who: string): Json => {
    const text = JSON.stringify(massIn(units, id))
      .replaceAll('"433"', '"431"')
      .replaceAll('"event"', '"persistent"');
    const composition = JSON.parse(text) as Json;
    delete composition.context;
    return { ...composition, composer: { _type: 'PARTY_IDENTIFIED', name: who } };
  };

  const persistentTexts = (id: string): readonly [string, string] => {
    const [first, second] = revisionTexts(id);
    const made = (opt: string): string =>
      opt.replaceAll('<code_list>433</code_list>', '<code_list>431</code_list>');
    return [made(first), made(second)];
  };

  it.each([
    ['source', 'mine'],
    ['target', 'theirs'],
  ])('goes back as each was before, when the %s went on', async (chosen, shown) => {
    const id = `joined-${chosen}`;
    const [first, second] = persistentTexts(id);
    await data.upload(first);
    const mine = await data.commit(persistent('gm', id, 'mine'));
    const theirs = await data.commit(persistent('gm', id, 'theirs'));
    await data.upload(second);
    const composer = async (made: { ehrId: string; uid: string }): Promise<unknown> =>
      ((await data.latest(made)).body as Json).composer.name;
    const how = { composition_merge: 'PERSISTENT', resolutions: { compositions: { [id]: chosen } } };
    expect((await merge(app, mine.ehrId, theirs.ehrId, how)).status).toBe(200);
    expect(await done(id, await data.upgrade(id))).toMatchObject({ upgraded: 1, left: 0 });
    expect([await composer(theirs), (await data.latest(theirs)).text]).toEqual([
      shown,
      expect.stringContaining('"units":"g"'),
    ]);
    await expectSound();
    const back = await unmerge(app, mine.ehrId, theirs.ehrId);
    expect([back.status, back.text]).toEqual([200, back.text]);
    for (const [made, who] of [
      [mine, 'mine'],
      [theirs, 'theirs'],
    ] as const)
      expect(await composer(made)).toBe(who);
    await expectSound();
  });

  it('is found by verify where an older release had left the other patient’s content in it', async () => {
    const id = 'joined-harmed';
    const [first, second] = persistentTexts(id);
    await data.upload(first);
    const mine = await data.commit(persistent('gm', id, 'mine'));
    const theirs = await data.commit(persistent('gm', id, 'theirs'));
    const how = { composition_merge: 'PERSISTENT', resolutions: { compositions: { [id]: 'source' } } };
    expect((await merge(app, mine.ehrId, theirs.ehrId, how)).status).toBe(200);
    expect((await unmerge(app, mine.ehrId, theirs.ehrId)).status).toBe(200);
    const before = versionUidOf(await data.latest(theirs));
    const wrong = await givenUpdate(app, theirs.ehrId, before, persistent('gm', id, 'mine'));
    await writtenByUnmerge(mine.ehrId, wrong);
    await data.upload(second);
    expect(await done(id, await data.upgrade(id))).toMatchObject({ upgraded: 2, left: 0 });
    const now = versionUidOf(await data.latest(theirs));
    const found = (await verifyStorage()).violations.map(({ id: uid, message }) => [uid, message]);
    expect(found).toContainEqual([
      now,
      expect.stringContaining('holds what a merge left that was taken back'),
    ]);
  });
});
