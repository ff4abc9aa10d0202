import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { removalLeaf } from '../../../models/cross-collection/seal-hash.js';
import type { RemovalDoc } from '../../../models/removal.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { admin } from '../../support/merge-http.js';
import { givenComposition, givenEhr, versionedObjectUidOf } from '../../support/resources.js';
import { givenRestored, SEALED_OPERATIONS } from '../../support/seal-history.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);

interface Stored {
  _id: string;
  [field: string]: unknown;
}
const collection = <D extends { _id: string } = Stored>(name: string) =>
  mongoose.connection.collection<D>(name);
const violations = async (): Promise<string[]> =>
  (await verifyStorage()).violations.map(({ kind, id }) => `${kind} ${id}`);

const KINDS = ['removed', 'restored', 'shortened', 'stated', 'owner', 'brought'] as const;
const REASONS = [
  ...['erasure', 'retention', 'merge', 'unmerge', 'move', 'definition', 'baseline', 'restore'],
] as RemovalDoc['reason'][];
const NAMES = [
  ...['contributions', 'versions', 'audit', 'ehrs', 'versioned_objects', 'templates', 'template_revisions'],
  ...['stored_queries', 'policies', 'policy_versions', 'ehr_marks', 'merge_records', 'merge_history'],
  'category_versions',
  'settings',
] as RemovalDoc['collection'][];
const HOUR_MS = 3_600_000;

/** Of a move that was only tried, and records of a store in which everything was done once. */
beforeAll(async () => {
  await givenRestored();
  await sealNewRecords();
  for (const [, run] of SEALED_OPERATIONS) await run();
  const ehrId = await givenEhr(app);
  const uid = versionedObjectUidOf(await givenComposition(app, ehrId));
  const path = `/ehr/${ehrId}/composition/${uid}/move`;
  expect(
    (await admin(app, 'post', path).send({ target_ehr: await givenEhr(app), dry_run: true })).status,
  ).toBe(200);
  await sealNewRecords();
  expect(await violations()).toEqual([]);
});

/** What a note of this kind may name beside its records: of what really happened here. */
async function further(): Promise<Partial<RemovalDoc>[]> {
  const notes = collection<RemovalDoc>('removals');
  const [erased, merged, restored] = await Promise.all([
    notes.findOne({ reason: 'erasure', ehr_id: { $exists: true } }),
    notes.findOne({ collection: 'merge_records', from: { $exists: true } }),
    notes.findOne({ batch: { $exists: true } }),
  ]);
  const { from, to } = merged as RemovalDoc;
  return [
    { ehr_id: erased?.ehr_id ?? '', batch: restored?.batch ?? '', from: from ?? '', to: to ?? '' },
    { ehr_id: from ?? '', to: from ?? '' },
    {},
  ];
}

/** A forged note for each kind, reason and collection, of a record that is there where there is one. */
async function forgeries(time: Date): Promise<RemovalDoc[]> {
  const said = await further();
  const all: RemovalDoc[] = [];
  for (const name of NAMES) {
    const known = await collection(name).find({}).sort({ _id: -1 }).limit(1).toArray();
    const ids = [known[0]?._id ?? randomUUID()];
    for (const kind of KINDS)
      for (const reason of REASONS)
        for (const more of said) {
          // Only has what is there sealed: docs/security.md#what-verify-does-not-find
          if (kind === 'brought' && reason === 'restore' && more.batch !== undefined) continue;
          const note = { _id: randomUUID(), time, kind, reason, collection: name, ids, seq: 1_000 };
          all.push({ ...note, hash: 'ab'.repeat(32), versions: [], ...more, unsealed: true });
        }
  }
  return all;
}

describe('in a store in which everything was done once', () => {
  it.each([
    ['now', 0],
    ['before the audit was pruned', HOUR_MS],
  ])('no forged note of any kind, reason and collection is rightful, said to be of %s', async (_, age) => {
    const forged = await forgeries(new Date(Date.now() - age));
    await collection<RemovalDoc>('removals').insertMany(forged);
    await sealNewRecords();
    const found = new Set(await violations());
    const unseen = forged.filter(({ _id }) => !found.has(`inserted ${_id}`));
    expect(unseen.map(({ kind, reason, collection: name }) => `${kind} ${reason} ${name}`)).toEqual([]);
  });

  it('no real note is rightful a second time, with the same words or others', async () => {
    const real = await collection<RemovalDoc>('removals')
      .find({ notes: { $exists: false } })
      .toArray();
    const isSealedAnyway = ({ kind }: RemovalDoc): boolean => kind === 'brought';
    const forged = real
      .filter((note) => !isSealedAnyway(note) && note.reason !== 'retention')
      .slice(0, 300)
      .flatMap((note) => [
        { ...note, _id: randomUUID(), unsealed: true as const },
        { ...note, _id: randomUUID(), ids: ['other'], unsealed: true as const },
      ]);
    await collection<RemovalDoc>('removals').insertMany(forged);
    await sealNewRecords();
    const found = new Set(await violations());
    const unseen = forged.filter(({ _id }) => !found.has(`inserted ${_id}`));
    expect(unseen).toEqual([]);
  });

  it('the last note of an erasure in steps is rightful once', async () => {
    const last = (await collection<RemovalDoc>('removals').findOne({ notes: { $exists: true } }))!;
    const stolen = { ...last, _id: randomUUID(), collection: 'versions', ids: ['other'] } as RemovalDoc;
    const note = {
      ...last,
      _id: randomUUID(),
      time: new Date(),
      notes: [removalLeaf(stolen).toString('hex')],
    };
    await collection<RemovalDoc>('removals').insertMany([
      { ...stolen, unsealed: true },
      { ...note, unsealed: true },
    ]);
    await sealNewRecords();
    expect(await violations()).toEqual(
      expect.arrayContaining([`inserted ${stolen._id}`, `inserted ${note._id}`]),
    );
  });

  it('a record of the audit that is there cannot be made to name one', async () => {
    const note = { _id: randomUUID(), time: new Date(), kind: 'removed', reason: 'merge' } as const;
    const forged: RemovalDoc = { ...note, collection: 'versions', ids: ['other'] };
    const record = (await collection('audit').findOne({ notes: { $exists: true } }))!;
    const hashes = [removalLeaf(forged).toString('hex')];
    await collection('audit').updateOne({ _id: record._id }, { $push: { notes: hashes[0] } } as never);
    await collection<RemovalDoc>('removals').insertOne({ ...forged, unsealed: true });
    await sealNewRecords();
    expect(await violations()).toContain(`changed ${record._id}`);
  });
});
