import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import type request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import type { AuditDoc } from '../../../models/audit.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenMergeTemplates, merge, unmerge } from '../../support/merge-http.js';
import { givenComposition, givenEhr } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const atOnce = testApp(WITH_ADMIN);
const inSteps = testApp({ ...WITH_ADMIN, mergeStepsFrom: 0 });
beforeAll(() => givenMergeTemplates(atOnce));
afterEach(() => {
  jest.restoreAllMocks();
});

const audit = (): mongoose.mongo.Collection<AuditDoc> => mongoose.connection.collection<AuditDoc>('audit');

/** Statuses of the audit records of requests about the EHR. */
async function recorded(operation: string, ehrId: string): Promise<number[]> {
  const found = await audit().find({ operation, ehr_id: ehrId }).toArray();
  return found.map(({ status }) => status).toSorted();
}

/** The next transaction that holds a record of this success is rolled back where it should be committed. */
function failCommitOf(operation: string): { readonly failed: () => number } {
  const sessions = mongoose.mongo.ClientSession.prototype;
  const commit = Object.getOwnPropertyDescriptor(sessions, 'commitTransaction')!
    .value as typeof sessions.commitTransaction;
  let failed = 0;
  jest.spyOn(sessions, 'commitTransaction').mockImplementation(async function (
    this: mongoose.mongo.ClientSession,
    ...options
  ) {
    const condition = { operation, status: 200 };
    if (failed > 0 || (await audit().countDocuments(condition, { session: this })) === 0)
      return commit.apply(this, options);
    failed += 1;
    await this.abortTransaction();
    throw new Error('the commit failed');
  });
  return { failed: () => failed };
}

describe.each([
  ['in one transaction', atOnce],
  ['in steps', inSteps],
])('the audit record of a success, %s,', (_, app) => {
  it.each<[string, (source: string, target: string) => request.Test]>([
    ['mergeEhrs', (source, target) => merge(app, source, target)],
    ['unmerge', (source, target) => unmerge(app, source, target)],
  ])('is there with what %s did, and without it not', async (operation, send) => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    for (const ehrId of [source, source, target]) await givenComposition(app, ehrId);
    if (operation === 'unmerge') expect((await merge(app, source, target)).status).toBe(200);
    await audit().deleteMany({});
    const records = mongoose.connection.collection('merge_records');
    const before = await records.find({ source_ehr: source }).toArray();
    const fault = failCommitOf(operation);
    expect((await send(source, target)).status).toBe(500);
    expect(fault.failed()).toBe(1);
    expect(await recorded(operation, source)).toEqual([500]);
    expect(await records.find({ source_ehr: source }).toArray()).toEqual(before);
    expect((await verifyStorage()).violations).toEqual([]);
    expect((await send(source, target)).status).toBe(200);
    expect(await recorded(operation, source)).toEqual([200, 500]);
  });

  it('is that of the one request that was not too late', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    await givenComposition(app, source);
    const answers = await Promise.all([1, 2, 3].map(() => merge(app, source, target)));
    const succeeded = answers.filter(({ status }) => status === 200);
    expect(succeeded).toHaveLength(1);
    const condition = { operation: 'mergeEhrs', ehr_id: source, status: 200 };
    const found = await audit().find(condition).toArray();
    expect(found.map(({ request_id: id }) => id)).toEqual([succeeded[0]!.headers['x-request-id']]);
  });
});
