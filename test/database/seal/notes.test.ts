import { beforeAll, describe, expect, it } from '@jest/globals';
import { sealBaseline } from '../../../maintenance/baseline.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { claimStorage } from '../../../models/settings.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenMergeTemplates } from '../../support/merge-http.js';
import { givenRestored, SEALED_OPERATIONS } from '../../support/seal-history.js';
import { testSettings } from '../../support/settings.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
beforeAll(async () => {
  await claimStorage(testSettings().systemId, 'all');
  await sealBaseline();
  // Of notes in the block that begins it nothing is asked.
  await sealNewRecords();
  await givenMergeTemplates(testApp(WITH_ADMIN));
});

const violations = async (): Promise<string[]> =>
  (await verifyStorage()).violations.map(({ kind, id, message }) => `${kind} ${id} ${message}`);

describe('a note of what was rightly done is no fault, sealed or not', () => {
  it.each(SEALED_OPERATIONS)('when %s', async (_, run) => {
    await run();
    expect(await violations()).toEqual([]);
    await sealNewRecords();
    expect(await violations()).toEqual([]);
  });

  it('when an import restores templates, queries, policies, marks and merges', async () => {
    await givenRestored();
    expect(await violations()).toEqual([]);
    await sealNewRecords();
    expect(await violations()).toEqual([]);
  });
});
