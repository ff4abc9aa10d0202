import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { rootOfUid } from '../../../openehr/base/object-version-id.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { mergeStory } from '../../../merge/replay/story.js';
import { movedOf, type Moved, type TakenObject } from '../../../merge/unmerge/moved.js';
import { withSession } from '../../../models/access/write.js';
import { COLLECTIONS } from '../../../models/access/layout.js';
import { archiveDoc, type ArchiveDoc } from '../../../models/merge/archive.js';
import { mergeBetween } from '../../../models/merge/record.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  admin,
  givenMergeTemplates,
  givenTag,
  givenUpdate,
  merge,
  rows,
  unmerge,
} from '../../support/merge-http.js';
import { aComposition, givenComposition, givenEhr, V1, type Json } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const apps = { transaction: testApp(WITH_ADMIN), steps: testApp({ ...WITH_ADMIN, mergeStepsFrom: 1 }) };
const app = apps.transaction;
beforeAll(() => givenMergeTemplates(app));

const persistent = (): Json => aComposition('persistent_minimal.en.v1');

/** Object ids in the order in which the merge moved them. */
async function inOrder(mergeId: string): Promise<string[]> {
  const archive = mongoose.connection.collection<ArchiveDoc<'moved'>>(COLLECTIONS.mergeArchive);
  const parts = archive.find({ merge_id: mergeId, kind: 'moved', 'body.of': 'composition' });
  return (await parts.sort({ _id: 1 }).toArray()).flatMap(({ body }) => [...body.ids]);
}

/** As if a document of the archive had room for two ids only. */
async function splitArchive(mergeId: string): Promise<void> {
  const archive = mongoose.connection.collection<ArchiveDoc<'moved'>>(COLLECTIONS.mergeArchive);
  for (const { _id, body } of await archive.find({ merge_id: mergeId, kind: 'moved' }).toArray()) {
    await archive.deleteOne({ _id });
    for (let start = 0; start < body.ids.length; start += 2) {
      const part = `${body.of}:${String(start).padStart(6, '0')}`;
      const ids = body.ids.slice(start, start + 2);
      await archive.insertOne(archiveDoc(mergeId, 'moved', part, { of: body.of, ids }));
    }
  }
}

/** What an unmerge finds of the merge: `compared` CONTRIBUTIONs and versions at once. */
async function found(source: string, target: string, compared?: number): Promise<Moved> {
  const record = await mergeBetween(source, target);
  if (record === null) throw new Error('nothing is merged');
  return withSession(async (session) =>
    movedOf(session, { record, made: new Set(), story: await mergeStory(session, target) }, compared),
  );
}

/** A source of a joined composition and nine others, merged; then everyday work, of each kind something. */
async function givenWorkSince(way: keyof typeof apps) {
  const [source, target, third] = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
  const joined = await givenComposition(app, source, persistent());
  await givenComposition(app, target, persistent());
  const moved: string[] = [];
  for (let n = 0; n < 9; n += 1) moved.push(await givenComposition(app, source));
  await givenComposition(app, target);
  for (const uid of [joined, ...moved.slice(0, 5)])
    await givenTag(app, { ehrId: source, type: 'composition', uid: rootOfUid(uid) }, 'k');
  expect((await merge(apps[way], source, target, { composition_merge: 'PERSISTENT' })).body.way).toBe(way);
  const [kept, erased, movedOn, edited] = [moved[0]!, moved[1]!, moved[2]!, moved[3]!];
  await admin(app, 'delete', `/ehr/${target}/composition/${rootOfUid(erased)}`);
  const { status } = await admin(app, 'post', `/ehr/${target}/composition/${movedOn}/move`).send({
    target_ehr: third,
  });
  expect(status).toBe(200);
  await givenUpdate(app, target, edited, aComposition());
  const modification = { change_type: { value: 'modification' } };
  const mixed = await request(app)
    .post(`${V1}/ehr/${target}/contribution`)
    .send({
      versions: [
        { data: aComposition(), commit_audit: { change_type: { value: 'creation' } } },
        { data: aComposition(), commit_audit: modification, preceding_version_uid: { value: kept } },
      ],
    });
  expect(mixed.status).toBe(201);
  return { source, target, joined, kept, erased, movedOn, edited };
}

describe.each(['transaction', 'steps'] as const)('an unmerge in %s', (way) => {
  it('reads the ids that moved part by part, and does what it did with all of them', async () => {
    const { source, target, kept, erased, movedOn } = await givenWorkSince(way);
    const mergeId = String((await mergeBetween(source, target))?._id);
    const order = await inOrder(mergeId);
    const rehearse = () =>
      unmerge(apps[way], source, target, { dry_run: true, on_conflict: 'keep_in_target' });
    const [whole, refused] = [await rehearse(), await unmerge(apps[way], source, target)];
    await splitArchive(mergeId);
    const [inParts, refusedInParts] = [await rehearse(), await unmerge(apps[way], source, target)];
    expect([inParts.status, inParts.body]).toEqual([200, whole.body]);
    const staying = [
      [kept, (id: string) => `kept in the target: composition ${id}`],
      [erased, (id: string) => `left out: composition ${id}, erased since`],
      [movedOn, (id: string) => `left out: composition ${id}, moved on since`],
    ] as const;
    const texts = new Map(staying.map(([uid, text]) => [rootOfUid(uid), text(rootOfUid(uid))]));
    expect(inParts.body.outcome.summary.split(', ')).toEqual([
      'DRY RUN: 6 compositions moved back',
      '1 separated',
      '0 folder removed',
      '11 contributions moved back',
      '2 item tags moved back',
      '1 item tags restored',
      ...order.flatMap((id) => texts.get(id)?.split(', ') ?? []),
    ]);
    expect(refusedInParts.status).toBe(409);
    expect(refusedInParts.body.obstacles).toEqual(refused.body.obstacles);
    const done = await unmerge(apps[way], source, target, { on_conflict: 'keep_in_target' });
    expect([done.status, done.body.way]).toEqual([200, way]);
    const ids = 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c';
    expect(await rows(app, ids, source)).toHaveLength(7);
    expect(await rows(app, ids, target)).toHaveLength(4);
    expect((await verifyStorage()).violations).toEqual([]);
  });
});

describe('of what moved an unmerge holds', () => {
  it('what is joined, gone, or named since, however much is compared at once', async () => {
    const { source, target, joined, kept, erased, movedOn, edited } = await givenWorkSince('transaction');
    const all = await found(source, target);
    expect(all.counts).toEqual({ compositions: 8, contributions: 10, tags: 3 });
    const order = await inOrder(String((await mergeBetween(source, target))?._id));
    const here = { now: 'target' } as const;
    const expected = [
      [kept, here],
      [erased, { now: 'erased' }],
      [edited, here],
    ] as const;
    const placed = expected.map(
      ([uid, now]) => [rootOfUid(uid), { place: order.indexOf(rootOfUid(uid)), ...now }] as const,
    );
    expect(all.taken).toEqual(
      new Map<string, TakenObject>([...placed, [rootOfUid(joined), { place: 9, ...here }]]),
    );
    expect(all.movedOn).toEqual(new Map([[rootOfUid(movedOn), order.indexOf(rootOfUid(movedOn))]]));
    expect(all.since).toHaveLength(2);
    await splitArchive(String((await mergeBetween(source, target))?._id));
    for (const compared of [1, 4]) expect(await found(source, target, compared)).toEqual(all);
  });
});
