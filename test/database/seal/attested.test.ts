import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { resealAttested } from '../../../maintenance/reseal.js';
import { sealHead, sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { attestation } from '../../support/attestation.js';
import { useDatabase } from '../../support/database.js';
import { givenMergeTemplates, statusOf } from '../../support/merge-http.js';
import { givenComposition, givenEhr, V1, type Json } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, auditReads: true });
beforeAll(() => givenMergeTemplates(app));

interface Stored {
  _id: string;
  [field: string]: unknown;
}
const collection = (name: string) => mongoose.connection.collection<Stored>(name);

const violations = async () => (await verifyStorage()).violations.map(({ kind, id }) => `${kind} ${id}`);

let ehrId = '';
let versionUid = '';
beforeEach(async () => {
  for (const name of [
    'ehrs',
    'versions',
    'versioned_objects',
    'contributions',
    'aql',
    'audit',
    'removals',
    'seal_blocks',
  ])
    await collection(name).deleteMany({});
  ehrId = await givenEhr(app, statusOf(randomUUID()));
  versionUid = await givenComposition(app, ehrId);
});

async function sign(): Promise<string> {
  const signed = await request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(attestation(versionUid));
  expect(signed.status).toBe(201);
  const newest = { time_committed: -1 } as const;
  const [made] = await collection('contributions').find({ ehr_id: ehrId }).sort(newest).limit(1).toArray();
  return made?._id ?? '';
}

/** As releases up to 0.2.0 sealed a VERSION that was signed in the interval of its commit: without the ATTESTATION. */
async function sealedWithoutSignature(): Promise<void> {
  const contributionUid = await sign();
  const contributions = await collection('contributions').find({ 'versions.uid': versionUid }).toArray();
  const leaves = contributions.flatMap((one) => one['leaves'] as Json[]);
  const leaf = leaves.find(({ id }) => id === versionUid);
  await collection('contributions').updateOne({ _id: contributionUid }, { $push: { leaves: leaf } } as never);
  await sealNewRecords();
}

describe('a VERSION that is committed and signed in one sealing interval', () => {
  it('is sealed with its signature, and no fault is found at any moment', async () => {
    await sign();
    expect(await violations()).toEqual([]);
    await sign();
    await sealNewRecords();
    expect(await violations()).toEqual([]);
    await sign();
    expect(await violations()).toEqual([]);
    await sealNewRecords();
    expect(await violations()).toEqual([]);
    const stored = await collection('versions').findOne({ _id: versionUid });
    expect(stored?.['attestations']).toHaveLength(3);
    for (const change of [{ $pop: { attestations: 1 } }, { $unset: { attestations: 1 } }]) {
      await collection('versions').updateOne({ _id: versionUid }, change as never);
      expect(await violations()).toEqual([`changed ${versionUid}`]);
      await collection('versions').replaceOne({ _id: versionUid }, stored as never);
    }
  });

  it('is sealed anew by an upgrade where an older release left its signature out, and only then', async () => {
    await sealedWithoutSignature();
    expect(await violations()).toEqual([`changed ${versionUid}`]);
    expect(await resealAttested()).toEqual({ resealed: [versionUid], unproven: [] });
    expect(await violations()).toEqual([]);
    expect(await resealAttested()).toEqual({ resealed: [], unproven: [] });
    await collection('versions').updateOne({ _id: versionUid }, { $unset: { attestations: 1 } });
    expect(await violations()).toEqual([`changed ${versionUid}`]);
  });

  const forgeries: [string, (stored: Stored) => Promise<unknown>][] = [
    [
      'has a signature that no CONTRIBUTION made',
      ({ attestations }) =>
        collection('versions').updateOne({ _id: versionUid }, {
          $push: { attestations: (attestations as Json[])[0] },
        } as never),
    ],
    [
      'has a signature of somebody else than its CONTRIBUTION',
      () =>
        collection('versions').updateOne(
          { _id: versionUid },
          { $set: { 'attestations.0.committer.name': 'Eve' } },
        ),
    ],
    [
      'has a signature of another system than its CONTRIBUTION',
      () =>
        collection('versions').updateOne(
          { _id: versionUid },
          { $set: { 'attestations.0.system_id': 'elsewhere' } },
        ),
    ],
    [
      'was changed too',
      () => collection('versions').updateOne({ _id: versionUid }, { $set: { signature: 'x' } }),
    ],
    [
      'has a signature of a CONTRIBUTION that was changed',
      ({ contribution_uid: made }) =>
        collection('contributions').updateOne(
          { 'versions.uid': versionUid, _id: { $ne: made as string } },
          { $set: { 'audit.committer.name': 'Eve' } },
        ),
    ],
  ];
  it.each(forgeries)('stays red where it %s', async (_, forge) => {
    await sealedWithoutSignature();
    await forge((await collection('versions').findOne({ _id: versionUid })) as Stored);
    const before = await violations();
    expect(await resealAttested()).toMatchObject({
      resealed: [],
      unproven: expect.arrayContaining([versionUid]),
    });
    expect(await violations()).toEqual(before);
  });
});

describe('a record of an answer that never ended', () => {
  it('is counted as pending, and sealed after an hour', async () => {
    await sealNewRecords();
    const record = await collection('audit').findOne({});
    const pending = { ...record, _id: randomUUID(), unsealed: true, pending: true };
    await collection('audit').insertOne({ ...pending, time: new Date() });
    await sealNewRecords();
    expect(await sealHead()).toMatchObject({ unsealed: 1, pending: 1 });
    await collection('audit').updateOne(
      { _id: pending._id },
      { $set: { time: new Date(Date.now() - 3_700_000) } },
    );
    await sealNewRecords();
    expect(await sealHead()).toMatchObject({ unsealed: 0, pending: 0 });
    expect(await collection('audit').findOne({ _id: pending._id })).toMatchObject({ outcome: 'interrupted' });
    await collection('audit').updateOne({ _id: pending._id }, { $set: { user: 'eve' } });
    expect(await violations()).toContain(`changed ${pending._id}`);
  });
});
