import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { deriveAccessAttributes } from '../../maintenance/access-attributes.js';
import { reindexStorage } from '../../maintenance/reindex.js';
import { verifyStorage } from '../../maintenance/verify.js';
import { claimStorage, LEAF_TRUST_MS, storageSettings } from '../../models/settings.js';
import { testApp } from '../support/app.js';
import { useDatabase } from '../support/database.js';
import { aComposition, givenTemplate, V1, versionUidOf } from '../support/resources.js';
import { putPolicies } from '../support/policy/put.js';
import { everythingOn } from '../support/settings.js';
import { bearer } from '../support/tokens.js';

useDatabase();

const open = testApp();
const app = testApp(everythingOn({ auth: 'jwt', accessMode: 'enforce' }));
const ADA = bearer(['USER'], 'ada');
const COUNT = 'SELECT COUNT(*) FROM EHR e CONTAINS COMPOSITION c';
const aql = () => mongoose.connection.collection<{ _id: string; by?: string }>('aql');
const documents = () => aql().find({}).sort({ _id: 1 }).toArray();

/** What commits of this release wrote. */
let written: Awaited<ReturnType<typeof documents>>;

beforeAll(async () => {
  await claimStorage('local.cdr', 'all');
  await givenTemplate(open);
  const ehr = versionUidOf(await request(open).post(`${V1}/ehr`).expect(201));
  for (const committer of ['one', 'hidden', 'hidden', 'another'])
    await request(open)
      .post(`${V1}/ehr/${ehr}/composition`)
      .set('openEHR-AUDIT_DETAILS', `committer.name="${committer}"`)
      .send(aComposition())
      .expect(201);
  await putPolicies(app, {
    all: 'permit (principal, action, resource);',
    hiding: `forbid (principal, action, resource is Version)
      when { principal.sub == "ada" && resource has committer && resource.committer == "hidden" };`,
  });
  written = await documents();
});

/** As a release wrote it that knew nothing of committers in what AQL reads. */
beforeEach(async () => {
  await aql().updateMany({}, { $unset: { by: '' } });
  await mongoose.connection
    .collection<{ _id: string }>('settings')
    .updateOne({ _id: 'storage' }, { $unset: { committers: '', access: '' } });
});

async function counted(): Promise<unknown> {
  // What a server knows of what AQL reads it trusts for so long.
  await new Promise((resolve) => setTimeout(resolve, LEAF_TRUST_MS + 50));
  const { body } = await request(app)
    .post(`${V1}/query/aql`)
    .set('Authorization', ADA)
    .send({ q: COUNT })
    .expect(200);
  return (body as { rows: unknown }).rows;
}

it('commits say in what AQL reads who committed', () => {
  expect(written.map(({ by }) => by).sort()).toContain('hidden');
  expect(written.every(({ by }) => by !== undefined)).toBe(true);
});

it('answers the same before, when it was interrupted, and when it has gone on to the end', async () => {
  expect(await counted()).toEqual([[2]]);
  expect((await verifyStorage()).violations).toEqual([]);
  const interrupt = (): never => {
    throw new Error('interrupted');
  };
  await expect(deriveAccessAttributes(interrupt, 2)).rejects.toThrow('interrupted');
  expect((await documents()).filter(({ by }) => by !== undefined)).toHaveLength(2);
  expect((await storageSettings())!.committers).toBeUndefined();
  expect(await counted()).toEqual([[2]]);
  expect((await verifyStorage()).violations).toEqual([]);
  const done = await deriveAccessAttributes();
  // What was done before is not looked at again.
  expect(done).toEqual({ done: written.length - 2, of: written.length, named: written.length - 2 });
  expect(await documents()).toEqual(written);
  expect(await storageSettings()).toMatchObject({ committers: true });
  expect((await storageSettings())!.access).toBeUndefined();
  expect(await counted()).toEqual([[2]]);
  expect((await verifyStorage()).violations).toEqual([]);
  expect((await deriveAccessAttributes()).named).toBe(0);
});

it('is done by a whole reindex too', async () => {
  await reindexStorage('all');
  expect(await documents()).toEqual(written);
  expect(await storageSettings()).toMatchObject({ committers: true });
});

it('is found missing by verify once it should be there', async () => {
  await deriveAccessAttributes();
  await aql().updateOne({ by: 'hidden' }, { $set: { by: 'one' } });
  expect((await verifyStorage()).violations).toHaveLength(1);
  await aql().updateOne({ _id: written.find(({ by }) => by === 'hidden')!._id }, { $unset: { by: '' } });
  expect((await verifyStorage()).violations.length).toBeGreaterThan(0);
});
