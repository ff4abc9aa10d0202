import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { connectMongoose } from '../../../database/connect.js';
import { createCollections } from '../../../database/indexes.js';
import { COLLECTION_LAYOUT } from '../../../models/access/layout.js';
import { areStillMoving, learnOfMerges, movingMerges } from '../../../models/access/merge-job.js';
import { testDatabaseName, testDatabaseUri } from '../../support/database.js';
import { ClusterProxy } from '../../support/process/cluster-proxy.js';

let proxy: ClusterProxy;
let direct: mongoose.Connection;

beforeAll(async () => {
  direct = await mongoose.createConnection(testDatabaseUri(), { dbName: testDatabaseName() }).asPromise();
  await direct.dropDatabase();
  proxy = await ClusterProxy.before(testDatabaseUri());
  await connectMongoose(proxy.uri, testDatabaseName());
  await createCollections(COLLECTION_LAYOUT);
});
afterAll(async () => {
  await direct.dropDatabase();
  await direct.close();
  await mongoose.disconnect();
  proxy.close();
});

it('a merge that ends while others still read of it has ended', async () => {
  const [source, target] = [randomUUID(), randomUUID()];
  const job = { kind: 'unmerge', phase: 'moving', source_ehr: source, target_ehr: target };
  await direct.collection('merge_jobs').insertOne({ _id: randomUUID() as never, ...job });
  await setTimeout(200);
  await learnOfMerges();
  const before = movingMerges();
  expect(before.targets.get(source)).toBe(target);
  // The reply of this one is under way for a while.
  let isAsked = false;
  proxy.plays = {
    fault: ({ name }) => {
      if (name !== 'find' || isAsked) return null;
      isAsked = true;
      return 'slow';
    },
  };
  const learning = learnOfMerges();
  await setTimeout(40);
  expect(isAsked).toBe(true);
  await direct.collection('merge_jobs').deleteMany({});
  expect(await areStillMoving(before)).toBe(false);
  await learning;
});
