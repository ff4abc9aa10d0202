import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  admin,
  folder,
  givenDirectory,
  givenMergeTemplates,
  givenUpdate,
  merge,
  rows,
  statusOf,
  unmerge,
} from '../../support/merge-http.js';
import { givenJointUpdate } from '../../support/merge/joint-update.js';
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

const LIST = 'persistent_minimal.en.v1';
const listOf = (who: string): Json => ({
  ...aComposition(LIST),
  composer: { _type: 'PARTY_IDENTIFIED', name: who },
});
const detailsOf = (who: string): Json => ({
  _type: 'ITEM_TREE',
  archetype_node_id: 'at0000',
  name: { _type: 'DV_TEXT', value: `identity of ${who}` },
});
const ALL = {
  folder_merge: 'COPY',
  composition_merge: 'PERSISTENT',
  resolutions: { ehr_status: { other_details: 'source' } },
};

/** One EHR of a star, with its list. */
interface Patient {
  readonly ehrId: string;
  readonly list: string;
  readonly subject: string;
}

let a: Patient, b: Patient, c: Patient;
let first = '';

async function patient(who: string, hasDirectory = true): Promise<Patient> {
  const subject = `${who} ${randomUUID()}`;
  const ehrId = await givenEhr(app, statusOf(subject, { other_details: detailsOf(who) }));
  const list = versionedObjectUidOf(await givenComposition(app, ehrId, listOf(who)));
  if (hasDirectory) await givenDirectory(app, ehrId, folder(`of ${who}`, [list]));
  return { ehrId, list, subject };
}

/** What the EHR shows of whom. */
async function shown({ ehrId }: Patient): Promise<unknown> {
  const lists = await rows(app, 'SELECT c/composer/name FROM EHR e CONTAINS COMPOSITION c', ehrId);
  const status = (await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`)).body as Json;
  const directory = (await request(app).get(`${V1}/ehr/${ehrId}/directory`)).body as Json;
  const folders = (directory.folders as Json[] | undefined) ?? [];
  return {
    lists: lists.map(([who]) => who).sort(),
    identity: status.other_details.name.value,
    directory: directory.name?.value,
    folders: folders.map((one) => one.name.value),
  };
}

const plainly = (who: string): unknown => ({
  lists: [who],
  identity: `identity of ${who}`,
  directory: `of ${who}`,
  folders: [],
});

async function standing(source: Patient, target: Patient): Promise<Json> {
  const path = `/ehr/merge_status?source=${source.ehrId}&target=${target.ehrId}`;
  return ((await admin(app, 'get', path)).body as Json[])[0]!;
}

async function done(response: request.Test): Promise<Json> {
  const { status, text, body } = await response;
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  return body as Json;
}

beforeEach(async () => {
  [b, a, c] = [await patient('B'), await patient('A'), await patient('C')];
  first = `${b.list}::local.cdr::1`;
});

describe('two merges into one EHR', () => {
  beforeEach(async () => {
    await done(merge(app, a.ehrId, b.ehrId, ALL));
    await done(merge(app, c.ehrId, b.ehrId, ALL));
  });

  it('leave nothing of either when they are taken back in the order in which they were made', async () => {
    expect(await standing(a, b)).toMatchObject({ reversible_now: true });
    await done(unmerge(app, a.ehrId, b.ehrId));
    expect(await shown(b)).toEqual({
      lists: ['C'],
      identity: 'identity of C',
      directory: 'of B',
      folders: [`Merged EHR ${c.ehrId}`],
    });
    expect(await shown(a)).toEqual(plainly('A'));
    await done(unmerge(app, c.ehrId, b.ehrId));
    for (const [one, who] of [
      [a, 'A'],
      [b, 'B'],
      [c, 'C'],
    ] as const)
      expect(await shown(one)).toEqual(plainly(who));
    expect((await request(app).get(`${V1}/ehr/${b.ehrId}/composition/${first}`)).body.composer.name).toBe(
      'B',
    );
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('and what a person wrote in between is an obstacle to both, and counts for one', async () => {
    const found = await request(app).get(`${V1}/ehr/${b.ehrId}/composition/${b.list}`);
    await givenUpdate(app, b.ehrId, String(found.headers.etag).replaceAll('"', ''), listOf('doctor'));
    const refused = await unmerge(app, a.ehrId, b.ehrId);
    expect([refused.status, refused.body.obstacles]).toMatchObject([
      409,
      [{ code: 'joined_changed', object_ids: [b.list], choices: ['keep_in_target', 'take_back'] }],
    ]);
    expect((await standing(a, b)).obstacles).toEqual(refused.body.obstacles);
    await done(unmerge(app, a.ehrId, b.ehrId, { on_conflict: { [b.list]: 'take_back' } }));
    expect([await shown(a), await shown(b)]).toMatchObject([{ lists: ['doctor'] }, { lists: ['C'] }]);
    expect(await standing(c, b)).toMatchObject({ reversible_now: true });
    await done(unmerge(app, c.ehrId, b.ehrId));
    expect([await shown(b), await shown(c)]).toEqual([plainly('B'), plainly('C')]);
  });

  it('what was kept of one is what a person wrote: when that goes with the other, nothing of the first is left', async () => {
    const found = await request(app).get(`${V1}/ehr/${b.ehrId}/composition/${b.list}`);
    await givenUpdate(app, b.ehrId, String(found.headers.etag).replaceAll('"', ''), listOf('doctor'));
    await done(unmerge(app, c.ehrId, b.ehrId, { on_conflict: { [b.list]: 'keep_in_target' } }));
    expect([await shown(b), await shown(c)]).toMatchObject([{ lists: ['doctor'] }, { lists: ['C'] }]);
    await done(unmerge(app, a.ehrId, b.ehrId, { on_conflict: { [b.list]: 'take_back' } }));
    expect([await shown(b), await shown(a)]).toMatchObject([{ lists: ['B'] }, { lists: ['doctor'] }]);
  });

  it('a choice for what is no obstacle is refused, one word for all is not', async () => {
    const refusedFor = async (further: object) => {
      const { status, body } = await unmerge(app, a.ehrId, b.ehrId, {
        on_conflict: { [b.list]: 'take_back' },
        ...further,
      });
      expect([status, body.message]).toEqual([
        400,
        `on_conflict names what is no obstacle: ${b.list}; there is no obstacle`,
      ]);
    };
    await refusedFor({ dry_run: true });
    await refusedFor({});
    expect(await standing(a, b)).toMatchObject({ reversible_now: true });
    await done(unmerge(app, a.ehrId, b.ehrId, { on_conflict: 'take_back' }));
  });
});

it('the directory that one merge made and another extended is that of the other one alone, and then gone', async () => {
  const target = await patient('T', false);
  await done(merge(app, a.ehrId, target.ehrId, ALL));
  await done(merge(app, c.ehrId, target.ehrId, ALL));
  await done(unmerge(app, a.ehrId, target.ehrId));
  expect(await shown(target)).toMatchObject({ directory: 'of C', folders: [] });
  expect(await standing(c, target)).toMatchObject({ reversible_now: true });
  await done(unmerge(app, c.ehrId, target.ehrId));
  expect((await request(app).get(`${V1}/ehr/${target.ehrId}/directory`)).status).toBe(204);
  expect((await verifyStorage()).violations).toEqual([]);
});

describe('the later list goes on', () => {
  it('by when its content came to be, whichever merge was made first, and the plan says so', async () => {
    const older = await patient('older');
    const newest = await patient('newest');
    const target = await givenEhr(app);
    const list = versionedObjectUidOf(await givenComposition(app, target, listOf('own')));
    const late = await patient('late');
    await done(merge(app, newest.ehrId, target, ALL));
    const { plan } = await done(merge(app, late.ehrId, target, ALL));
    expect(plan.pairs).toMatchObject([{ choice: 'source', reason: 'later' }]);
    const [{ winner, loser }] = (await done(merge(app, older.ehrId, target, ALL))).plan.pairs as [Json];
    expect([winner, loser]).toMatchObject([
      { side: 'target', versioned_object_uid: list, content: { version_uid: `${late.list}::local.cdr::1` } },
      { side: 'source', content: { version_uid: `${older.list}::local.cdr::1` } },
    ]);
    await done(unmerge(app, late.ehrId, target));
    expect(await rows(app, 'SELECT c/composer/name FROM EHR e CONTAINS COMPOSITION c', target)).toEqual([
      ['own'],
    ]);
  });
});

describe('compositions that another merge joined to what the merge brought', () => {
  it('are told with that merge, and can stay', async () => {
    const target = { ...(await patient('T')), ehrId: await givenEhr(app) };
    await done(merge(app, a.ehrId, target.ehrId, ALL));
    await done(merge(app, c.ehrId, target.ehrId, ALL));
    const { body } = await unmerge(app, a.ehrId, target.ehrId, { on_conflict: 'take_back' });
    expect(body.obstacles).toMatchObject([
      { code: 'merged_since', object_ids: [a.list], choices: ['keep_in_target'] },
    ]);
    await done(unmerge(app, a.ehrId, target.ehrId, { on_conflict: 'keep_in_target', dry_run: true }));
    await done(unmerge(app, c.ehrId, target.ehrId));
    await done(unmerge(app, a.ehrId, target.ehrId));
    expect([await shown(a), await shown(c)]).toEqual([plainly('A'), plainly('C')]);
  });

  it('are told too when they stayed apart because of it', async () => {
    await done(merge(app, a.ehrId, b.ehrId));
    await done(merge(app, c.ehrId, b.ehrId, ALL));
    const { body } = await unmerge(app, a.ehrId, b.ehrId);
    expect(body.obstacles).toMatchObject([{ code: 'merged_since', object_ids: [c.list] }]);
    await done(unmerge(app, a.ehrId, b.ehrId, { on_conflict: { [c.list]: 'keep_in_target' } }));
    expect([await shown(a), await shown(b)]).toMatchObject([{ lists: ['A'] }, { lists: ['B', 'C'] }]);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('are told of the last of several of them, whatever other undos took away before', async () => {
    const d = await patient('D');
    await done(merge(app, a.ehrId, b.ehrId));
    await done(merge(app, c.ehrId, b.ehrId));
    await done(merge(app, d.ehrId, b.ehrId, ALL));
    // Without A's it would still have been one of C and B.
    await done(unmerge(app, a.ehrId, b.ehrId));
    const { status, body } = await unmerge(app, c.ehrId, b.ehrId);
    expect([status, body.obstacles]).toMatchObject([409, [{ code: 'merged_since', object_ids: [d.list] }]]);
    await done(unmerge(app, d.ehrId, b.ehrId));
    await done(unmerge(app, c.ehrId, b.ehrId));
    expect([await shown(b), await shown(c), await shown(d)]).toEqual(['B', 'C', 'D'].map(plainly));
  });

  it('are told although one of them was taken back and merged again since', async () => {
    const d = await patient('D');
    for (const one of [a, d]) await done(merge(app, one.ehrId, b.ehrId));
    await done(merge(app, c.ehrId, b.ehrId, ALL));
    await done(unmerge(app, d.ehrId, b.ehrId));
    await done(merge(app, d.ehrId, b.ehrId));
    // Where C's came there would have been B's alone: D's came after it.
    const { status, body } = await unmerge(app, a.ehrId, b.ehrId);
    expect([status, body.obstacles]).toMatchObject([409, [{ code: 'merged_since', object_ids: [c.list] }]]);
    await done(unmerge(app, a.ehrId, b.ehrId, { on_conflict: 'keep_in_target' }));
    expect([await shown(a), await shown(b)]).toMatchObject([{ lists: ['A'] }, { lists: ['B', 'C', 'D'] }]);
  });
});

it('the EHR at the end of a chain is found by every subject, whichever it took', async () => {
  const subject = { resolutions: { ehr_status: { subject: 'source' } } };
  await done(merge(app, a.ehrId, b.ehrId, subject));
  await done(merge(app, b.ehrId, c.ehrId, subject));
  const ehrOf = async (id: string): Promise<string> => {
    const found = await request(app)
      .get(`${V1}/ehr`)
      .query({ subject_id: id, subject_namespace: 'hospital' });
    if (found.status === 200) return String(found.body.ehr_id.value);
    expect(found.status).toBe(404);
    return /\/ehr\/([0-9a-f-]{36})>/.exec(String(found.headers.link))?.[1] ?? found.text;
  };
  expect(await Promise.all([a, b, c].map((one) => ehrOf(one.subject)))).toEqual(Array(3).fill(c.ehrId));
  await done(unmerge(app, b.ehrId, c.ehrId));
  await done(unmerge(app, a.ehrId, b.ehrId));
  expect(await Promise.all([a, b, c].map((one) => ehrOf(one.subject)))).toEqual([a.ehrId, b.ehrId, c.ehrId]);
});

describe('what was moved on and came back by another merge', () => {
  const composers = async ({ ehrId }: Patient): Promise<unknown> =>
    (await rows(app, 'SELECT c/composer/name FROM EHR e CONTAINS COMPOSITION c', ehrId))
      .map(([who]) => who)
      .sort();
  const noteOf = (who: string): Json => ({
    ...aComposition('minimal_evaluation.en.v1'),
    composer: { _type: 'PARTY_IDENTIFIED', name: who },
  });

  it.each([
    ['in one transaction', app],
    ['in steps', testApp({ ...WITH_ADMIN, mergeStepsFrom: 1 })],
  ])(
    'is the other merge’s: it stays with the target, and goes back to whom it was moved, %s',
    async (_, by) => {
      const { ehrId: from } = a;
      const noteUid = await givenComposition(app, from, noteOf('note'));
      const note = versionedObjectUidOf(noteUid);
      await givenComposition(app, from, noteOf('other'));
      await done(merge(by, a.ehrId, b.ehrId, {}));
      await givenUpdate(app, b.ehrId, noteUid, noteOf('edited'));
      await request(app)
        .put(`${V1}/ehr/${b.ehrId}/composition/${note}/tags`)
        .send([{ key: 'seen', value: 'yes' }])
        .expect(200);
      const path = `/ehr/${b.ehrId}/composition/${note}/move`;
      expect((await admin(app, 'post', path).send({ target_ehr: c.ehrId })).status).toBe(200);
      await done(merge(by, c.ehrId, b.ehrId, {}));
      const { outcome } = await done(unmerge(by, a.ehrId, b.ehrId));
      expect(outcome.summary).toContain(`left out: composition ${note}, moved on since`);
      expect(await composers(a)).toEqual(['A', 'other']);
      expect(await composers(b)).toEqual(['B', 'C', 'edited']);
      await done(unmerge(by, c.ehrId, b.ehrId));
      expect(await composers(b)).toEqual(['B']);
      expect(await composers(c)).toEqual(['C', 'edited']);
      const history = await request(app).get(
        `${V1}/ehr/${c.ehrId}/versioned_composition/${note}/revision_history`,
      );
      expect((history.body as Json).items).toHaveLength(2);
      const tags = await request(app).get(`${V1}/ehr/${c.ehrId}/composition/${note}/tags`);
      expect((tags.body as Json[]).map(({ key }) => key as string)).toEqual(['seen']);
      expect((await verifyStorage()).violations).toEqual([]);
    },
  );

  it('nor is it given to the first EHR of a chain', async () => {
    const note = await givenComposition(app, a.ehrId, noteOf('note'));
    const d = await patient('D');
    await done(merge(app, a.ehrId, d.ehrId, {}));
    await done(merge(app, d.ehrId, b.ehrId, {}));
    const path = `/ehr/${b.ehrId}/composition/${versionedObjectUidOf(note)}/move`;
    expect((await admin(app, 'post', path).send({ target_ehr: c.ehrId })).status).toBe(200);
    await done(unmerge(app, d.ehrId, b.ehrId));
    await done(merge(app, c.ehrId, d.ehrId, {}));
    await done(unmerge(app, a.ehrId, d.ehrId));
    expect(await composers(a)).toEqual(['A']);
    await done(unmerge(app, c.ehrId, d.ehrId));
    expect(await composers(c)).toEqual(['C', 'note']);
    await sealNewRecords();
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it.each([
    ['cannot be taken back', { reversible: false }, false],
    ['was taken back, and left it there', {}, true],
  ])('stays with the target also where the other merge %s', async (_, how, isTakenBack) => {
    const note = await givenComposition(app, a.ehrId, noteOf('note'));
    const own = await givenComposition(app, b.ehrId, noteOf('own'));
    await done(merge(app, a.ehrId, b.ehrId, {}));
    const path = `/ehr/${b.ehrId}/composition/${versionedObjectUidOf(note)}/move`;
    expect((await admin(app, 'post', path).send({ target_ehr: c.ehrId })).status).toBe(200);
    await done(merge(app, c.ehrId, b.ehrId, how));
    if (isTakenBack) {
      await givenJointUpdate(app, b.ehrId, [note, own]);
      await done(unmerge(app, c.ehrId, b.ehrId, { on_conflict: 'keep_in_target' }));
    }
    await done(unmerge(app, a.ehrId, b.ehrId));
    expect(await composers(a)).toEqual(['A']);
    const object = `${V1}/ehr/${b.ehrId}/composition/${versionedObjectUidOf(note)}`;
    expect((await request(app).get(object)).status).toBe(200);
    await sealNewRecords();
    expect((await verifyStorage()).violations).toEqual([]);
  });
});

it('what an undo leaves in the target by choice is the target’s, also for the seals', async () => {
  const of = (who: string): Json => ({
    ...aComposition('minimal_evaluation.en.v1'),
    composer: { _type: 'PARTY_IDENTIFIED', name: who },
  });
  const note = await givenComposition(app, a.ehrId, of('note'));
  const own = await givenComposition(app, b.ehrId, of('own'));
  await sealNewRecords();
  await done(merge(app, a.ehrId, b.ehrId, {}));
  await givenJointUpdate(app, b.ehrId, [note, own]);
  await sealNewRecords();
  await done(unmerge(app, a.ehrId, b.ehrId, { on_conflict: 'keep_in_target' }));
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
});
