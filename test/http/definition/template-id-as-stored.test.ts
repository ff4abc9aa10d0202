import { beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';

import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { admin } from '../../support/merge-http.js';
import { aComposition, givenEhr, V1, versionedObjectUidOf, versionUidOf } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

const BASE = `${V1}/definition/template/adl1.4`;
const GIVEN = 'minimal_observation.en.v1';
/** The id, and how releases before it was an xs:token stored it when it was written so. */
const ID = 'white space.en.v1';
const AS_STORED = 'white  space.en.v1';
const OPT = fixtureText(`opt/${GIVEN}.opt`).replace(`<value>${GIVEN}</value>`, `<value>${AS_STORED}</value>`);

const app = testApp(WITH_ADMIN);
useDatabase();

const upload = (opt: string) => request(app).post(BASE).set('Content-Type', 'application/xml').send(opt);
const at = (id: string) => `${BASE}/${encodeURIComponent(id)}`;

function ofTemplate(id: string) {
  const composition = aComposition(GIVEN);
  composition['archetype_details'].template_id.value = id;
  return composition;
}

/** A template as an older release stored it. */
async function givenTemplateAsStored(): Promise<void> {
  const templates = mongoose.connection.collection<{ _id: string }>('templates');
  await templates.deleteMany({});
  expect((await upload(OPT)).status).toBe(201);
  const stored = await templates.findOneAndDelete({ _id: ID });
  await templates.insertOne({ ...stored, _id: AS_STORED });
}

/** A COMPOSITION as an older release stored it; gives its EHR and version. */
async function givenContentAsStored(): Promise<{ ehrId: string; uid: string }> {
  const ehrId = await givenEhr(app);
  const posted = await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(ofTemplate(ID));
  expect([posted.status, posted.text]).toEqual([201, '']);
  const uid = versionUidOf(posted);
  for (const name of ['versioned_objects', 'versions'])
    await mongoose.connection
      .collection(name)
      .updateMany({ template_id: ID, ehr_id: ehrId }, { $set: { template_id: AS_STORED } });
  await mongoose.connection.collection<{ _id: string }>('aql').updateOne(
    { _id: uid },
    {
      $set: {
        tpl: AS_STORED,
        'segs.0.o.archetype_details.template_id.value': AS_STORED,
        'keys.$[key]': `template:${AS_STORED}`,
      },
    },
    { arrayFilters: [{ key: `template:${ID}` }] },
  );
  return { ehrId, uid };
}

describe('a template whose id is stored with runs of white space', () => {
  beforeEach(givenTemplateAsStored);

  it('is read in every form, listed and found under its id', async () => {
    for (const id of [ID, AS_STORED]) {
      const read = await request(app).get(at(id)).set('Accept', 'application/xml');
      expect([id, read.status, read.text, read.headers.etag]).toEqual([id, 200, OPT, `"${ID}"`]);
      const web = await request(app).get(at(id)).set('Accept', 'application/openehr.wt+json');
      expect([id, web.status, web.body.templateId]).toEqual([id, 200, ID]);
      expect([id, (await request(app).get(`${at(id)}/example`)).status]).toEqual([id, 200]);
    }
    const listed = await request(app).get(BASE).query({ template_id: 'white space*' });
    expect(listed.body).toEqual([expect.objectContaining({ template_id: ID })]);
  });

  it('is the same as the one under the id: not stored beside it, replaced and deleted while it is unused', async () => {
    for (const id of [ID, AS_STORED]) {
      const again = await upload(OPT.replace(AS_STORED, id));
      expect([id, again.status, again.body.message]).toEqual([
        ...[id, 409, `Operational template with this template ID already exists: ${ID}`],
      ]);
    }
    const other = OPT.replace(/<concept>.*<\/concept>/, '<concept>Other</concept>');
    const put = await admin(app, 'put', `/template/${encodeURIComponent(ID)}`)
      .set('Content-Type', 'application/xml')
      .send(other);
    expect([put.status, (await request(app).get(at(ID)).set('Accept', 'application/xml')).text]).toEqual([
      200,
      other,
    ]);
    expect((await admin(app, 'delete', `/template/${encodeURIComponent(ID)}`)).status).toBe(202);
    expect((await request(app).get(at(AS_STORED))).status).toBe(404);
  });

  it('is the template of content: noted as used, not deleted, and without a finding of verify', async () => {
    const ehrId = await givenEhr(app);
    const posted = await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(ofTemplate(AS_STORED));
    expect([posted.status, posted.text]).toEqual([201, '']);
    const refused = await admin(app, 'delete', `/template/${encodeURIComponent(ID)}`);
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining('is used by')]);
    const { violations } = await verifyStorage();
    expect(violations.filter(({ id }) => id === versionUidOf(posted))).toEqual([]);
    const flat = 'application/openehr.wt.flat+json';
    const url = `${V1}/ehr/${ehrId}/composition/${versionUidOf(posted)}`;
    expect((await request(app).get(url).set('Accept', flat)).status).toBe(200);
  });
});

describe('content whose template id is stored with runs of white space', () => {
  it.each([
    ['the same', givenTemplateAsStored],
    [
      'the id',
      async () => {
        await mongoose.connection.collection('templates').deleteMany({});
        expect((await upload(OPT)).status).toBe(201);
      },
    ],
  ])(
    'is read in simplified form, corrected and queried where its template is stored under %s',
    async (_, given) => {
      await given();
      const { ehrId, uid } = await givenContentAsStored();
      const url = `${V1}/ehr/${ehrId}/composition`;
      const flat = await request(app).get(`${url}/${uid}`).set('Accept', 'application/openehr.wt.flat+json');
      expect([flat.status, flat.text]).toEqual([200, expect.stringContaining('{')]);

      const path = 'c/archetype_details/template_id/value';
      const ask = (condition: string) =>
        request(app)
          .post(`${V1}/query/aql`)
          .send({ q: `SELECT ${path} FROM EHR e CONTAINS COMPOSITION c WHERE ${condition}`, ehr_id: ehrId });
      for (const [condition, rows] of [
        [`${path} = '${AS_STORED}'`, [[AS_STORED]]],
        [`${path} MATCHES {'${AS_STORED}'}`, [[AS_STORED]]],
        [`${path} LIKE 'white*space*'`, [[AS_STORED]]],
        [`${path} != '${AS_STORED}'`, []],
      ] as const) {
        const { body } = await ask(condition);
        expect([condition, body.rows, body.meta.warnings]).toEqual([condition, rows, undefined]);
      }

      const put = await request(app)
        .put(`${url}/${versionedObjectUidOf(uid)}`)
        .set('If-Match', `"${uid}"`)
        .send(ofTemplate(ID));
      expect([put.status, put.text]).toEqual([200, '']);
      // What is corrected has the id as everyone writes it.
      expect((await ask(`${path} = '${ID}'`)).body.rows).toEqual([[ID]]);
    },
  );
});
