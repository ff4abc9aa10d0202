import { beforeAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { reindexStorage } from '../../../maintenance/reindex.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { AQL_SCHEMA_VERSION } from '../../../aql/index/document.js';
import { saveReindexPosition, claimStorage } from '../../../models/settings.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenMergeTemplates, merge, unmerge } from '../../support/merge-http.js';
import { aComposition, givenComposition, givenEhr } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(async () => {
  await claimStorage('local.cdr', 'all');
  await givenMergeTemplates(app);
});

/** As an older release would have written them. */
async function outdate(ehrId: string): Promise<void> {
  const derived = mongoose.connection.collection('aql');
  await derived.updateMany({ ehr: ehrId, type: 'COMPOSITION' }, { $set: { sv: 0, lv: [], segs: [] } });
}

it('leaves nothing outdated when EHRs are merged and unmerged while a reindex runs', async () => {
  const source = await givenEhr(app);
  const target = await givenEhr(app);
  await givenComposition(app, source);
  await givenComposition(app, source, aComposition('persistent_minimal.en.v1'));
  await givenComposition(app, target, aComposition('persistent_minimal.en.v1'));
  await saveReindexPosition({ sv: AQL_SCHEMA_VERSION, leafIndex: 'all', afterEhr: 'ffff' });
  await outdate(source);
  expect((await merge(app, source, target, { composition_merge: 'PERSISTENT' })).status).toBe(200);
  await outdate(target);
  expect((await unmerge(app, source, target)).status).toBe(200);
  await outdate(source);
  expect((await merge(app, source, target)).status).toBe(200);
  await reindexStorage('all');
  const { violations } = await verifyStorage();
  // Two documents of the target's own were outdated by this test after the reindex had passed them.
  const message = 'the derived document is not what its version gives';
  expect(violations.map((violation) => violation.message)).toEqual([message, message]);
  await reindexStorage('all');
  expect((await verifyStorage()).violations).toEqual([]);
});
