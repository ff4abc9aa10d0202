import { beforeAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { useDatabase } from '../support/database.js';
import { testApp } from '../support/app.js';
import { folder, givenDirectory, givenMergeTemplates, merge, unmerge } from '../support/merge-http.js';
import { aComposition, givenComposition, givenEhr } from '../support/resources.js';
import { WITH_ADMIN } from '../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(async () => {
  await givenMergeTemplates(app);
});

/** Two models share this collection, each with documents of its own. */
const SHARED = 'settings';

/** Number of documents by collection; each was checked against the schema of its collection. */
async function checkedDocuments(): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const model of Object.values(mongoose.models)) {
    const { collectionName } = model.collection;
    if (collectionName === SHARED) continue;
    for (const doc of await model.collection.find().toArray()) {
      // Throws for a field that the schema does not know.
      expect(new model(doc).validateSync()).toBeUndefined();
      counts.set(collectionName, (counts.get(collectionName) ?? 0) + 1);
    }
  }
  return counts;
}

it('what commits, merges and unmerges store past mongoose fits the schemas of mongoose', async () => {
  const [source, target] = [await givenEhr(app), await givenEhr(app)];
  for (const ehrId of [source, target])
    await givenComposition(app, ehrId, aComposition('persistent_minimal.en.v1'));
  await givenDirectory(app, source, folder('root'));
  const options = { composition_merge: 'PERSISTENT', folder_merge: 'COPY' };
  expect((await merge(app, source, target, options)).status).toBe(200);
  const merged = await checkedDocuments();
  for (const name of ['ehrs', 'versioned_objects', 'versions', 'contributions', 'audit', 'templates'])
    expect(merged.get(name)).toBeGreaterThan(0);
  expect(merged.get('merge_records')).toBe(1);
  expect(merged.get('merge_archive')).toBeGreaterThan(3);
  expect((await unmerge(app, source, target)).status).toBe(200);
  expect((await checkedDocuments()).has('merge_records')).toBe(false);
});
