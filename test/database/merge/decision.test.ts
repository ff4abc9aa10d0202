import { afterEach, describe, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import { aqlRemovalOf } from '../../../models/aql-document.js';
import { newestContributionId } from '../../../models/contribution.js';
import { versionsRemoval } from '../../../models/version.js';
import {
  containersToEnd,
  liveCompositionIds,
  livePersistentCompositions,
} from '../../../models/versioned-object.js';
import { testApp } from '../../support/app.js';
import { useOwnDatabase } from '../../support/database.js';
import { givenMergeTemplates } from '../../support/merge-http.js';
import { recordedFinds } from '../../support/merge/recorded-finds.js';
import { givenComposition, givenEhr } from '../../support/resources.js';

useOwnDatabase();
const app = testApp();
afterEach(() => {
  jest.restoreAllMocks();
});

interface Explained {
  readonly queryPlanner: { readonly winningPlan: object };
  readonly executionStats: { readonly nReturned: number; readonly totalDocsExamined: number };
}

const explained = async (cursor: mongoose.mongo.FindCursor): Promise<Explained> =>
  (await cursor.clone().explain('executionStats')) as unknown as Explained;

/** An EHR with twenty compositions, of which none is persistent. */
async function givenLargeEhr(): Promise<string> {
  await givenMergeTemplates(app);
  const ehrId = await givenEhr(app);
  for (let n = 0; n < 20; n += 1) await givenComposition(app, ehrId);
  return ehrId;
}

describe('a merge of an EHR with any number of compositions', () => {
  it('removes what ends without a look at what moves: everybody waits for the transaction', async () => {
    const source = await givenLargeEhr();
    const ended = (await containersToEnd(source)).map(({ _id }) => _id);
    expect(ended).toHaveLength(1);
    for (const { collection, remove } of [aqlRemovalOf(source, ended), versionsRemoval(source, ended)]) {
      const { executionStats } = await explained(
        mongoose.connection.collection(collection).find(remove as object),
      );
      expect(executionStats).toMatchObject({ nReturned: 1, totalDocsExamined: 1 });
    }
  });

  it('is planned without sorting what moves, and without a look at what cannot be joined', async () => {
    const source = await givenLargeEhr();
    const most = [
      [5, () => liveCompositionIds(source, 5)],
      [1, () => newestContributionId(source)],
      [0, () => livePersistentCompositions(source)],
    ] as const;
    for (const [documents, read] of most) {
      const finds = recordedFinds(['versioned_objects', 'contributions']);
      await read();
      const [cursor, ...others] = finds;
      jest.restoreAllMocks();
      expect(others).toEqual([]);
      const { executionStats, queryPlanner } = await explained(cursor!);
      expect(executionStats.totalDocsExamined).toBe(documents);
      if (documents > 0) expect(JSON.stringify(queryPlanner.winningPlan)).not.toContain('"SORT"');
    }
  });
});
