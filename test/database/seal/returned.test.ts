import { beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { admin } from '../../support/merge-http.js';
import { givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);

interface Stored {
  _id: string;
  [field: string]: unknown;
}
const collection = (name: string) => mongoose.connection.collection<Stored>(name);
const violations = async (): Promise<string[]> =>
  (await verifyStorage()).violations.map(({ kind, id }) => `${kind} ${id}`);

let ehrId = '';
let before: Stored[] = [];

/** An EHR that was sealed, erased and restored; `sealing`: whether each of these was sealed before the next. */
async function givenReturned(sealing: boolean): Promise<void> {
  await emptied();
  await sealNewRecords();
  await givenTemplate(app);
  ehrId = await givenEhr(app);
  await givenComposition(app, ehrId);
  await sealNewRecords();
  before = await collection('contributions').find({ ehr_id: ehrId }).toArray();
  const lines = await exported();
  expect((await admin(app, 'delete', `/ehr/${ehrId}`)).status).toBe(204);
  if (sealing) await sealNewRecords();
  expect(refusals(await imported(lines))).toEqual([]);
}

describe.each([true, false])('what was erased and restored (sealed in between: %s)', (sealing) => {
  beforeEach(() => givenReturned(sealing));

  it('is right before it is sealed again, and after it', async () => {
    expect(await violations()).toEqual([]);
    await sealNewRecords();
    expect(await violations()).toEqual([]);
  });

  it('cannot be changed afterwards without verify naming it', async () => {
    await sealNewRecords();
    const [contribution] = await collection('contributions').find({ ehr_id: ehrId }).toArray();
    const { _id, versions } = contribution as Stored;
    const changes = [
      { 'audit.committer.name': 'Eve' },
      { time_committed: new Date(0) },
      { versions: [...(versions as object[]), { uid: 'x::y::1' }] },
      { batch: 'another' },
    ];
    for (const change of changes) {
      await collection('contributions').updateOne({ _id }, { $set: change });
      expect(await violations()).toContain(`changed ${_id}`);
      await collection('contributions').replaceOne({ _id }, contribution as Stored);
    }
    const ehr = (await collection('ehrs').findOne({ _id: ehrId })) as Stored;
    await collection('ehrs').updateOne({ _id: ehrId }, { $set: { time_created: new Date(0) } });
    expect(await violations()).toContain(`changed ${ehrId}`);
    await collection('ehrs').replaceOne({ _id: ehrId }, ehr);
    expect(await violations()).toEqual([]);
  });

  it('cannot be changed and marked as new, so that the server seals the change', async () => {
    await sealNewRecords();
    const [contribution] = await collection('contributions').find({ ehr_id: ehrId }).toArray();
    const { _id } = contribution as Stored;
    const change = { 'audit.committer.name': 'Eve', unsealed: true };
    await collection('contributions').updateOne({ _id }, { $set: change });
    await sealNewRecords();
    expect(await violations()).toContain(`changed ${_id}`);
  });
});

describe('what was erased and is there again by nobody', () => {
  it('is named', async () => {
    await givenReturned(true);
    await sealNewRecords();
    expect((await admin(app, 'delete', `/ehr/${ehrId}`)).status).toBe(204);
    await sealNewRecords();
    const [first] = before;
    await collection('contributions').insertOne({ ...(first as Stored), batch: 'x', audit: {} });
    expect(await violations()).toContain(`changed ${first?._id}`);
  });
});
