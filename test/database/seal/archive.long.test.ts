import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { sealBaseline } from '../../../maintenance/baseline.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { claimStorage } from '../../../models/settings.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { folder, givenDirectory, givenMergeTemplates, merge, statusOf } from '../../support/merge-http.js';
import { givenComposition, givenEhr } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);

interface Stored {
  _id: string;
  [field: string]: unknown;
}
const collection = (name: string) => mongoose.connection.collection<Stored>(name);
const violations = async (): Promise<string[]> =>
  (await verifyStorage()).violations.map(({ kind, id, message }) => `${kind} ${id} ${message}`);

let archived: Stored[] = [];
let mergeId = '';
beforeAll(async () => {
  await claimStorage('local.cdr', 'all');
  await sealBaseline();
  await givenMergeTemplates(app);
  const [source, target] = [await givenEhr(app, statusOf(randomUUID())), await givenEhr(app)];
  for (let n = 0; n < 3; n += 1) await givenComposition(app, source);
  await givenDirectory(app, source, folder('root'));
  await givenDirectory(app, target, folder('root'));
  const options = { reversible: true, folder_merge: 'COPY' };
  expect((await merge(app, source, target, options)).status).toBe(200);
  mergeId = (await collection('merge_records').findOne({ source_ehr: source }))!._id;
  await sealNewRecords();
  archived = await collection('merge_archive').find({}).sort({ _id: 1 }).toArray();
});

describe('what a merge archived', () => {
  it('is sealed as it is', async () => {
    expect(archived.length).toBeGreaterThan(2);
    expect(await violations()).toEqual([]);
  });

  it('cannot lose one part, get one, or have one changed, without verify naming the merge', async () => {
    for (const doc of archived) {
      const { _id } = doc;
      await collection('merge_archive').deleteOne({ _id });
      expect([doc, await violations()]).toEqual([
        doc,
        expect.arrayContaining([expect.stringContaining(mergeId)]),
      ]);
      await collection('merge_archive').insertOne({ ...doc, body: { ...(doc['body'] as object), x: 1 } });
      expect([doc, await violations()]).toEqual([
        doc,
        expect.arrayContaining([expect.stringContaining(mergeId)]),
      ]);
      await collection('merge_archive').replaceOne({ _id }, doc);
    }
    const copy = { ...archived[0]!, _id: randomUUID() };
    await collection('merge_archive').insertOne(copy);
    expect(await violations()).not.toEqual([]);
    await collection('merge_archive').deleteOne({ _id: copy._id });
    expect(await violations()).toEqual([]);
  });

  it('cannot lose one of the ids that moved, so that an unmerge leaves no COMPOSITION with the wrong patient', async () => {
    const moved = archived.filter(({ body }) => Array.isArray((body as { ids?: unknown }).ids));
    expect(moved).not.toEqual([]);
    for (const doc of moved) {
      await collection('merge_archive').updateOne({ _id: doc._id }, { $pop: { 'body.ids': 1 } } as never);
      expect(await violations()).toEqual(expect.arrayContaining([expect.stringContaining(mergeId)]));
      await collection('merge_archive').replaceOne({ _id: doc._id }, doc);
    }
  });

  it('cannot say another EHR_STATUS than the one that was sealed', async () => {
    const named = archived.filter((doc) => JSON.stringify(doc).includes('EHR_STATUS'));
    expect(named).not.toEqual([]);
    for (const doc of named) {
      const forged = JSON.parse(JSON.stringify(doc).replaceAll('is_queryable', 'is_queriable')) as Stored;
      if (JSON.stringify(forged) === JSON.stringify(doc)) continue;
      await collection('merge_archive').replaceOne({ _id: doc._id }, forged);
      expect(await violations()).toEqual(expect.arrayContaining([expect.stringContaining(mergeId)]));
      await collection('merge_archive').replaceOne({ _id: doc._id }, doc);
    }
  });
});
