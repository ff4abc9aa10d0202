import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { reindexStorage } from '../../maintenance/reindex.js';
import { AQL_SCHEMA_VERSION } from '../../aql/index/document.js';
import { saveReindexPosition, claimStorage, storageSettings } from '../../models/settings.js';
import { realComposition, templateText } from '../../cli/demo/patient.js';
import { testApp } from '../support/app.js';
import { useDatabase } from '../support/database.js';

const V1 = '/rest/openehr/v1';
const TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';
const app = testApp();

useDatabase();

const aql = () => mongoose.connection.collection<{ _id: string }>('aql');
const documents = () => aql().find({}).sort({ _id: 1 }).toArray();

async function commitAll(): Promise<void> {
  await request(app)
    .post(`${V1}/definition/template/adl1.4`)
    .set('Content-Type', 'application/xml')
    .send(templateText(TEMPLATE));
  for (let ehr = 0; ehr < 3; ehr += 1) {
    const { headers } = await request(app).post(`${V1}/ehr`);
    const path = `${V1}/ehr/${headers.etag!.replaceAll('"', '')}/composition`;
    const first = await request(app).post(path).send(realComposition(TEMPLATE));
    const uid = first.headers.etag!.replaceAll('"', '');
    const second = await request(app)
      .put(`${path}/${uid.split('::')[0]!}`)
      .set('If-Match', `"${uid}"`)
      .send(realComposition(TEMPLATE));
    expect(second.status).toBe(200);
    const third = await request(app).post(path).send(realComposition(TEMPLATE));
    expect((await request(app).delete(`${path}/${third.headers.etag!.replaceAll('"', '')}`)).status).toBe(
      204,
    );
  }
}

/** What commits derived. */
let committed: Awaited<ReturnType<typeof documents>>;
beforeAll(async () => {
  await claimStorage('local.cdr', 'all');
  await commitAll();
  committed = await documents();
});
afterEach(async () => {
  await reindexStorage('all');
});

describe('reindex', () => {
  it('changes nothing where nothing is wrong', async () => {
    const progress = await reindexStorage('all');
    expect(progress).toEqual({ ehrs: 3, ofEhrs: 3, documents: committed.length });
    expect(await documents()).toEqual(committed);
  });

  it('adds what is missing, replaces what differs, drops orphans', async () => {
    const [first, second, third] = committed;
    await aql().deleteOne({ _id: first!._id });
    await aql().updateOne({ _id: second!._id }, { $set: { lv: [], sv: 0, keys: ['NOTHING'] } });
    const orphan = { ...third!, _id: 'orphan::local.cdr::1', vo: '00000000-0000-4000-8000-000000000000' };
    await aql().insertOne(orphan);
    await reindexStorage('all');
    expect(await documents()).toEqual(committed);
  });

  it('leaves another set of leaves and notes it', async () => {
    await reindexStorage('none');
    expect((await documents()).every((doc) => (doc as unknown as { lv: unknown[] }).lv.length === 0)).toBe(
      true,
    );
    expect(await storageSettings()).toMatchObject({ leaf_index: 'none' });
    await reindexStorage('all');
    expect((await documents()).some((doc) => (doc as unknown as { lv: unknown[] }).lv.length > 0)).toBe(true);
  });

  it('goes on where it was stopped', async () => {
    const ehrs = await mongoose.connection.collection('ehrs').find({}).sort({ _id: 1 }).toArray();
    await saveReindexPosition({
      sv: AQL_SCHEMA_VERSION,
      leafIndex: 'numeric',
      afterEhr: String(ehrs[1]!._id),
    });
    expect((await reindexStorage('numeric')).ehrs).toBe(1);
    expect(await storageSettings()).toMatchObject({ leaf_index: 'numeric' });
    expect((await storageSettings())!.reindex).toBeUndefined();
  });
});
