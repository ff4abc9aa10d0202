import { beforeEach, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { merge, statusOf } from '../../support/merge-http.js';
import { givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

/* What was restored is held by the seals as what was made here: who changes it afterwards is found out. */

useDatabase();
const app = testApp(WITH_ADMIN);

beforeEach(async () => {
  await emptied();
  await givenTemplate(app);
  const [target, source] = [await givenEhr(app, statusOf('p1')), await givenEhr(app)];
  await givenComposition(app, target);
  await givenComposition(app, source);
  expect((await merge(app, source, target)).status).toBe(200);
  const lines = await exported();
  await emptied();
  expect(refusals(await imported(lines))).toEqual([]);
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
});

it.each<[string, string, Record<string, unknown>, Record<string, unknown>]>([
  ['the time of a VERSION', 'versions', { type: 'COMPOSITION' }, { time_committed: new Date(0) }],
  ['the uid of a VERSION', 'contributions', {}, { 'versions.0.uid': 'another' }],
  ['who committed', 'contributions', {}, { 'audit.committer.name': 'nobody' }],
  ['the import that brought it', 'contributions', {}, { batch: 'another' }],
  ['a template', 'templates', {}, { opt: '<template/>' }],
  ['where an EHR was merged', 'ehrs', { state: 'merged' }, { merged_into: 'elsewhere' }],
])('verify finds that somebody has changed %s', async (_, collection, filter, $set) => {
  const { modifiedCount } = await mongoose.connection.collection(collection).updateOne(filter, { $set });
  expect(modifiedCount).toBe(1);
  expect((await verifyStorage()).violations).not.toEqual([]);
});
