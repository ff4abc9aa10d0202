import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { rootOfUid } from '../../../openehr/base/object-version-id.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionUidOf,
} from '../../support/resources.js';

const SYSTEM = 'local.cdr';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function aSubject(id: string, namespace = 'hospital_a'): object {
  const external_ref = {
    _type: 'PARTY_REF',
    id: { _type: 'GENERIC_ID', value: id, scheme: 'id_scheme' },
    namespace,
    type: 'PERSON',
  };
  return { _type: 'PARTY_SELF', external_ref };
}

describe('POST /ehr', () => {
  useDatabase();
  const app = testApp();

  it('gives other_details without name and node id their defaults', async () => {
    const other_details = { _type: 'ITEM_TREE', items: [] };
    const ehrId = await givenEhr(app, { _type: 'EHR_STATUS', other_details });
    const { body } = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`);
    expect(body.other_details).toMatchObject({
      name: { _type: 'DV_TEXT', value: 'other details' },
      archetype_node_id: 'at0001',
    });
  });

  it('makes an EHR with all defaults from an empty body', async () => {
    const response = await request(app).post(`${V1}/ehr`);
    expect(response.status).toBe(201);
    const ehrId = String(response.headers.etag).replaceAll('"', '');
    expect(ehrId).toMatch(UUID);
    expect(response.headers.location).toMatch(new RegExp(`^http://127.0.0.1:\\d+${V1}/ehr/${ehrId}$`));
    expect(response.headers['last-modified']).toMatch(/GMT$/);
    expect(response.headers['content-length']).toBe('0');
    expect(response.headers['content-type']).toBeUndefined();
    const { body } = await request(app).get(`${V1}/ehr/${ehrId}?include=ehr_status`);
    expect(body).toEqual({
      _type: 'EHR',
      system_id: { _type: 'HIER_OBJECT_ID', value: SYSTEM },
      ehr_id: { _type: 'HIER_OBJECT_ID', value: ehrId },
      time_created: { _type: 'DV_DATE_TIME', value: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/) },
      ehr_status: {
        _type: 'EHR_STATUS',
        uid: { _type: 'OBJECT_VERSION_ID', value: expect.stringMatching(/::local\.cdr::1$/) },
        archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
        name: { _type: 'DV_TEXT', value: 'EHR Status' },
        subject: { _type: 'PARTY_SELF' },
        is_queryable: true,
        is_modifiable: true,
      },
    });
  });

  it('answers what Prefer asks', async () => {
    const whole = await request(app).post(`${V1}/ehr`).set('Prefer', 'return=representation');
    expect(whole.status).toBe(201);
    expect(whole.headers['preference-applied']).toBe('return=representation');
    const ehrId = whole.body.ehr_id.value as string;
    expect((await request(app).get(`${V1}/ehr/${ehrId}`)).body).toEqual(whole.body);
    const id = await request(app).post(`${V1}/ehr`).set('Prefer', 'RETURN=identifier');
    expect(id.body).toEqual({ uid: String(id.headers.etag).replaceAll('"', '') });
    const xml = await request(app)
      .post(`${V1}/ehr`)
      .set('Prefer', 'return=identifier')
      .set('Accept', 'application/xml');
    expect(xml.text).toMatch(/^<\?xml[^>]*\?>\s*<identifier><uid>[0-9a-f-]{36}<\/uid><\/identifier>$/);
  });

  it('keeps the EHR_STATUS given and fills what is absent', async () => {
    const status = {
      _type: 'EHR_STATUS',
      subject: aSubject('mrn-1'),
      is_queryable: false,
      uid: { _type: 'HIER_OBJECT_ID', value: '00000000-0000-4000-8000-000000000000' },
    };
    const prefer = 'return=representation, resolve_refs';
    const { body } = await request(app).post(`${V1}/ehr`).set('Prefer', prefer).send(status);
    expect(body.ehr_status).toMatchObject({
      subject: aSubject('mrn-1'),
      is_queryable: false,
      is_modifiable: true,
      name: { value: 'EHR Status' },
    });
    expect(body.ehr_status.uid.value).not.toContain('00000000');
    expect((await request(app).post(`${V1}/ehr`).send({ subject: {} })).status).toBe(201);
  });

  it('refuses a subject that another EHR has', async () => {
    await givenEhr(app, { _type: 'EHR_STATUS', subject: aSubject('mrn-2') });
    const before = await dump();
    const response = await request(app)
      .post(`${V1}/ehr`)
      .send({ _type: 'EHR_STATUS', subject: aSubject('mrn-2') });
    expect(response.status).toBe(409);
    expect(response.body.error).toBe('Conflict');
    expect(response.body.message).toContain('is used by a different EHR');
    expect(await dump()).toBe(before);
    await givenEhr(app, { _type: 'EHR_STATUS', subject: aSubject('mrn-2', 'hospital_b') });
  });

  it('gives a subject to one of many parallel requests', async () => {
    const status = { _type: 'EHR_STATUS', subject: aSubject('mrn-race') };
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => request(app).post(`${V1}/ehr`).send(status)),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array<number>(15).fill(409)]);
  });

  it.each([
    ['no object', '[]'],
    ['malformed JSON', '{'],
    ['another type', '{"_type":"FOLDER"}'],
    ['an unknown attribute', '{"_type":"EHR_STATUS","colour":"blue"}'],
    ['an operator as value', '{"_type":"EHR_STATUS","is_queryable":{"$gt":""}}'],
    ['a wrong type', '{"_type":"EHR_STATUS","is_queryable":"maybe"}'],
    [
      'a reference without id',
      JSON.stringify({ subject: { external_ref: { namespace: 'a', type: 'PERSON' } } }),
    ],
    ['an empty id', JSON.stringify({ subject: aSubject('') })],
    ['an empty namespace', JSON.stringify({ subject: aSubject('x', '') })],
    ['a bad namespace', JSON.stringify({ subject: aSubject('x', '1 2') })],
    ['__proto__', '{"__proto__":{"a":1}}'],
  ])('refuses %s with 400 and writes nothing', async (_name, body) => {
    const before = await dump();
    const response = await request(app).post(`${V1}/ehr`).set('Content-Type', 'application/json').send(body);
    expect(response.status).toBe(400);
    expect(response.body.error).toBe('Bad Request');
    expect(await dump()).toBe(before);
  });

  it('answers 415 and 406', async () => {
    const plain = await request(app).post(`${V1}/ehr`).set('Content-Type', 'text/html').send('x');
    expect(plain.status).toBe(415);
    expect((await request(app).post(`${V1}/ehr`).set('Accept', 'image/png')).status).toBe(406);
  });

  it('reads and writes XML', async () => {
    const xml = `<?xml version="1.0"?><ehr_status xmlns="http://schemas.openehr.org/v1" archetype_node_id="openEHR-EHR-EHR_STATUS.generic.v1"><name><value>Status</value></name><subject/><is_queryable>true</is_queryable><is_modifiable>false</is_modifiable></ehr_status>`;
    const response = await request(app)
      .post(`${V1}/ehr`)
      .set('Content-Type', 'application/xml')
      .set('Accept', 'application/xml')
      .set('Prefer', 'return=representation, resolve_refs')
      .send(xml);
    expect(response.status).toBe(201);
    expect(response.headers['content-type']).toBe('application/xml; charset=utf-8');
    expect(response.text).toMatch(/<ehr .*<system_id><value>local\.cdr<\/value><\/system_id>/s);
    expect(response.text).toContain('<is_modifiable>false</is_modifiable>');
  });
});

describe('PUT /ehr/{ehr_id}', () => {
  useDatabase();
  const app = testApp();

  it('makes an EHR with the id given, in lower case', async () => {
    const id = 'AB0D9D0E-51F2-4F0F-9A55-6B0A1C1F7E01';
    const response = await request(app).put(`${V1}/ehr/${id}`);
    expect(response.status).toBe(201);
    expect(response.headers.etag).toBe(`"${id.toLowerCase()}"`);
    expect((await request(app).get(`${V1}/ehr/${id}`)).body.ehr_id.value).toBe(id.toLowerCase());
  });

  it.each(['1.2.840.113619', 'org.example.cdr', 'org.example.cdr::42', 'org.example%3A%3A42'])(
    'takes the HIER_OBJECT_ID %s',
    async (id) => {
      expect((await request(app).put(`${V1}/ehr/${id}`)).status).toBe(201);
      expect((await request(app).get(`${V1}/ehr/${id}`)).status).toBe(200);
    },
  );

  it('refuses an id in use', async () => {
    const ehrId = await givenEhr(app);
    const before = await dump();
    const response = await request(app).put(`${V1}/ehr/${ehrId}`);
    expect(response.status).toBe(409);
    expect(response.body.message).toContain('already exists');
    expect(await dump()).toBe(before);
  });

  it.each(['1', 'nodots', '%zz', 'a%2fb', 'a%00b', '::1', `a.${'b'.repeat(300)}`])(
    'refuses the malformed id %s',
    async (id) => {
      const before = await dump();
      expect((await request(app).put(`${V1}/ehr/${id}`)).status).toBe(400);
      expect((await request(app).get(`${V1}/ehr/${id}`)).status).toBe(400);
      expect(await dump()).toBe(before);
    },
  );
});

describe('GET /ehr', () => {
  useDatabase();
  const app = testApp();

  it('answers 404 for an unknown id, with headers for a known one', async () => {
    const unknown = await request(app).get(`${V1}/ehr/3d0c9d0e-51f2-4f0f-9a55-6b0a1c1f7e01`);
    expect(unknown.status).toBe(404);
    expect(unknown.body.error).toBe('Not Found');
    const ehrId = await givenEhr(app);
    const known = await request(app).get(`${V1}/ehr/${ehrId}/`);
    expect(known.headers.etag).toBe(`"${ehrId}"`);
    expect(known.headers.location).toMatch(new RegExp(`/rest/openehr/v1/ehr/${ehrId}$`));
    const head = await request(app).head(`${V1}/ehr/${ehrId}`);
    expect(head.status).toBe(200);
    expect(head.headers.etag).toBe(`"${ehrId}"`);
    expect(head.headers['content-length']).toBe(known.headers['content-length']);
  });

  it('finds an EHR by its subject', async () => {
    const ehrId = await givenEhr(app, { _type: 'EHR_STATUS', subject: aSubject('mrn-7') });
    const path = `${V1}/ehr?subject_id=mrn-7&subject_namespace=hospital_a`;
    expect((await request(app).get(path)).body.ehr_id.value).toBe(ehrId);
    const other = await request(app).get(`${V1}/ehr?subject_id=mrn-8&subject_namespace=hospital_a`);
    expect(other.status).toBe(404);
  });

  it.each([
    '',
    '?subject_id=a',
    '?subject_namespace=a',
    '?subject_id=&subject_namespace=a',
    '?subject_id=a&subject_id=b&subject_namespace=c',
  ])('refuses the query "%s"', async (query) => {
    expect((await request(app).get(`${V1}/ehr${query}`)).status).toBe(400);
  });

  it('takes an operator in a query parameter as text', async () => {
    const path = `${V1}/ehr?subject_id[$ne]=a&subject_namespace[$ne]=b`;
    expect((await request(app).get(path)).status).toBe(400);
  });

  it('lists compositions and contributions when asked', async () => {
    const ehrId = await givenEhr(app);
    const { body } = await request(app).get(`${V1}/ehr/${ehrId}?include=compositions,contributions`);
    expect(body.compositions).toEqual([]);
    expect(body.contributions).toEqual([
      {
        _type: 'OBJECT_REF',
        id: { _type: 'HIER_OBJECT_ID', value: expect.stringMatching(UUID) },
        namespace: 'local',
        type: 'CONTRIBUTION',
      },
    ]);
    expect((await request(app).get(`${V1}/ehr/${ehrId}?include=all`)).status).toBe(400);
  });

  it('lists what was committed at one moment by id, so that the order is the same for ever', async () => {
    await givenTemplate(app);
    const ehrId = await givenEhr(app);
    const versions = Array.from({ length: 8 }, () => ({
      commit_audit: { change_type: { value: 'creation' } },
      data: aComposition(),
    }));
    const sent = request(app).post(`${V1}/ehr/${ehrId}/contribution`).send({ versions });
    expect((await sent).status).toBe(201);
    const last = await givenComposition(app, ehrId);
    // As a copy of the database may have them: in another order.
    const containers = mongoose.connection.collection<{ _id: string }>('versioned_objects');
    const made = await containers.find({ ehr_id: ehrId, type: 'COMPOSITION' }).sort({ _id: -1 }).toArray();
    await containers.deleteMany({ ehr_id: ehrId, type: 'COMPOSITION' });
    await containers.insertMany(made);
    const { body } = await request(app).get(`${V1}/ehr/${ehrId}?include=compositions`);
    const ids = (body.compositions as { id: { value: string } }[]).map(({ id }) => rootOfUid(id.value));
    const first = made.map(({ _id }) => _id).filter((id) => id !== rootOfUid(last));
    expect(ids).toEqual([...first.toSorted(), rootOfUid(last)]);
  });

  it('lists the latest versions of what is in it when asked, without what is deleted', async () => {
    await givenTemplate(app);
    const ehrId = await givenEhr(app);
    const path = `${V1}/ehr/${ehrId}`;
    const [first, gone] = [await givenComposition(app, ehrId), await givenComposition(app, ehrId)];
    await request(app).delete(`${path}/composition/${gone}`).expect(204);
    const corrected = await request(app)
      .put(`${path}/composition/${rootOfUid(first)}`)
      .set('If-Match', first)
      .send(aComposition());
    const folder = { _type: 'FOLDER', name: { value: 'root' }, archetype_node_id: 'at0001' };
    const directory = await request(app).post(`${path}/directory`).send(folder);
    expect([corrected.status, directory.status]).toEqual([200, 201]);
    const { body: status } = await request(app).get(`${path}/ehr_status`);
    const { body } = await request(app).get(`${path}?include=versions`);
    const ref = (value: string, type: string): object => ({
      _type: 'OBJECT_REF',
      id: { _type: 'OBJECT_VERSION_ID', value },
      namespace: 'local',
      type,
    });
    expect(body.versions).toEqual(
      expect.arrayContaining([
        ref(status.uid.value as string, 'EHR_STATUS'),
        ref(versionUidOf(corrected), 'COMPOSITION'),
        ref(versionUidOf(directory), 'FOLDER'),
      ]),
    );
    expect(body.versions).toHaveLength(3);
  });

  it('gives a reference to the EHR_STATUS, or itself when that is asked for or configured', async () => {
    const ehrId = await givenEhr(app);
    const path = `${V1}/ehr/${ehrId}`;
    const { body } = await request(app).get(path);
    expect(body.ehr_status).toMatchObject({ _type: 'OBJECT_REF', namespace: 'local', type: 'EHR_STATUS' });
    expect(body.ehr_status.id.value).toMatch(/::local\.cdr::1$/);
    const answers = [
      await request(app).get(path).set('Prefer', 'resolve_refs'),
      await request(app).get(`${path}?include=ehr_status,compositions`),
      await request(testApp({ ehrStatusAsRef: false })).get(path),
    ];
    for (const { body: whole } of answers)
      expect(whole.ehr_status).toMatchObject({ _type: 'EHR_STATUS', uid: body.ehr_status.id });
  });

  it('names the methods of a path', async () => {
    const ehrId = await givenEhr(app);
    const wrong = await request(app).delete(`${V1}/ehr/${ehrId}`);
    expect(wrong.status).toBe(405);
    expect(wrong.headers.allow).toContain('GET');
    const options = await request(app).options(`${V1}/ehr/${ehrId}`);
    expect(options.status).toBe(200);
    expect(options.headers.allow).toContain('PUT');
    expect((await request(app).get(`/v1/ehr/${ehrId}`)).headers.location).toContain('/rest/openehr/v1/ehr/');
  });
});
