import { describe, expect, it, beforeAll } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  givenTemplate,
  versionedObjectUidOf,
  V1,
  versionUidOf,
} from '../../support/resources.js';

const UNKNOWN = '3d0c9d0e-51f2-4f0f-9a55-6b0a1c1f7e01';
const app = testApp();
let ehrId = '';

function given(): void {
  useDatabase();
  beforeAll(async () => {
    await givenTemplate(app);
    ehrId = await givenEhr(app);
  });
}

const compositions = (id = ehrId): string => `${V1}/ehr/${id}/composition`;

describe('POST composition', () => {
  given();

  it('makes version 1 and answers with its headers and no body', async () => {
    const response = await request(app).post(compositions()).send(aComposition());
    expect(response.status).toBe(201);
    const uid = versionUidOf(response);
    expect(uid).toMatch(/^[0-9a-f-]{36}::local\.cdr::1$/);
    expect(response.headers.location).toMatch(new RegExp(`${V1}/ehr/${ehrId}/composition/${uid}$`));
    expect(response.headers['last-modified']).toMatch(/GMT$/);
    expect(response.text).toBe('');
    expect(response.headers['openehr-template-id']).toBeUndefined();
  });

  it('gives back what was sent, with its uid', async () => {
    const sent = aComposition();
    const response = await request(app)
      .post(compositions())
      .set('Prefer', 'return=representation')
      .send(sent);
    const uid = versionUidOf(response);
    expect(response.body).toMatchObject({ ...sent, uid: { _type: 'OBJECT_VERSION_ID', value: uid } });
    for (const path of [
      uid,
      versionedObjectUidOf(uid),
      uid.replaceAll(':', '%3A'),
      `${uid.toUpperCase().replace('LOCAL.CDR', 'local.cdr')}/`,
    ]) {
      const got = await request(app).get(`${compositions()}/${path}`);
      expect(got.status).toBe(200);
      expect(got.body).toEqual(response.body);
      expect(got.headers.etag).toBe(`"${uid}"`);
      expect(got.headers.location).toMatch(new RegExp(`${compositions()}/${uid}$`));
      expect(got.headers['last-modified']).toBe(response.headers['last-modified']);
      expect(got.headers['content-type']).toBe('application/json; charset=utf-8');
    }
  });

  it('answers the identifier when asked', async () => {
    const response = await request(app)
      .post(compositions())
      .set('Prefer', 'return=identifier')
      .send(aComposition());
    expect(response.body).toEqual({ uid: versionUidOf(response) });
  });

  it('takes over a uid of version 1 that was never used, and ignores what is no such uid with a warning', async () => {
    const uid = '5b8f3f0a-7c1e-4c46-9b1d-2f6f0d0a0003::local.cdr::1';
    const chosen = { ...aComposition(), uid: { _type: 'OBJECT_VERSION_ID', value: uid } };
    const first = await request(app).post(compositions()).send(chosen);
    expect([first.status, versionUidOf(first)]).toEqual([201, uid]);
    const before = await dump();
    expect((await request(app).post(compositions()).send(chosen)).status).toBe(412);
    expect(await dump()).toBe(before);
    for (const value of [
      '5b8f3f0a-7c1e-4c46-9b1d-2f6f0d0a0004::other.system::1',
      '5b8f3f0a-7c1e-4c46-9b1d-2f6f0d0a0004::local.cdr::2',
      '5b8f3f0a-7c1e-4c46-9b1d-2f6f0d0a0004',
    ]) {
      const body = { ...aComposition(), uid: { _type: 'OBJECT_VERSION_ID', value } };
      const made = await request(app).post(compositions()).send(body);
      expect(made.status).toBe(201);
      expect(versionUidOf(made)).not.toContain('5b8f3f0a-7c1e-4c46-9b1d-2f6f0d0a0004');
      expect(made.headers['warning']).toContain(value);
    }
  });

  it('refuses in the order of the contract and writes nothing', async () => {
    const before = await dump();
    const post = (id: string): request.Test => request(app).post(compositions(id));
    expect((await post('bad')).status).toBe(400);
    expect((await post(UNKNOWN).set('Content-Type', 'text/html').send('x')).status).toBe(415);
    expect((await post(UNKNOWN).set('Accept', 'image/png').send({})).status).toBe(406);
    expect((await post(UNKNOWN).set('Content-Type', 'application/json').send('{')).status).toBe(404);
    expect((await post(ehrId).set('Content-Type', 'application/json').send('{')).status).toBe(400);
    expect((await post(UNKNOWN).send({ nonsense: 1 })).status).toBe(404);
    expect((await post(UNKNOWN).send(aComposition())).status).toBe(404);
    expect((await post(ehrId)).status).toBe(400);
    expect((await post(ehrId).send({ nonsense: 1 })).status).toBe(400);
    expect((await post(ehrId).send([])).status).toBe(400);
    expect(await dump()).toBe(before);
  });

  it('refuses an unknown template with 422', async () => {
    const body = aComposition();
    body.archetype_details.template_id.value = 'nowhere.v1';
    const response = await request(app).post(compositions()).send(body);
    expect(response.status).toBe(422);
    expect(response.body.message).toBe("Template with template_id 'nowhere.v1' does not exist");
  });

  it.each(['name', 'language', 'territory', 'category', 'composer', 'archetype_details'])(
    'refuses a COMPOSITION without %s with 400',
    async (name) => {
      const body = Object.fromEntries(Object.entries(aComposition()).filter(([key]) => key !== name));
      const before = await dump();
      const response = await request(app).post(compositions()).send(body);
      expect(response.status).toBe(400);
      expect(response.body.validationErrors[0]).toContain('Composition missing mandatory attribute');
      expect(await dump()).toBe(before);
    },
  );

  it('lists every violation of a readable COMPOSITION with 422', async () => {
    const body = aComposition();
    body.territory.code_string = 'XX';
    body.language.code_string = 'xx';
    const before = await dump();
    const response = await request(app).post(compositions()).send(body);
    expect(response.status).toBe(422);
    expect(response.body.error).toBe('Unprocessable Entity');
    expect(response.body.validationErrors.length).toBeGreaterThanOrEqual(2);
    expect(response.body.message).toBe(response.body.validationErrors.join(', '));
    expect(await dump()).toBe(before);
  });

  it('refuses a COMPOSITION over the size limit with 413', async () => {
    const small = testApp({ maxCompositionBytes: 500 });
    expect((await request(small).post(compositions()).send(aComposition())).status).toBe(413);
  });

  it('refuses JSON of 100,000 levels and lives on', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const response = await request(app)
      .post(compositions())
      .set('Content-Type', 'application/json')
      .send(deep);
    expect(response.status).toBe(400);
    expect((await request(app).get(`${V1}/ehr/${ehrId}`)).status).toBe(200);
  });

  it('refuses content for an EHR that is not modifiable, before it validates the content', async () => {
    const frozen = await givenEhr(app, { _type: 'EHR_STATUS', is_modifiable: false });
    const before = await dump();
    for (const body of [aComposition(), { nonsense: 1 }]) {
      const response = await request(app).post(compositions(frozen)).send(body);
      expect(response.status).toBe(409);
      expect(response.body.message).toContain('does not allow modification');
    }
    expect(await dump()).toBe(before);
  });

  it('writes into an EHR that is not queryable, and says so in the derived document', async () => {
    const hidden = await givenEhr(app, { _type: 'EHR_STATUS', is_queryable: false });
    const uid = await givenComposition(app, hidden);
    const all = JSON.parse(await dump()) as { aql: { _id: string; q: boolean }[] };
    expect(all.aql.find((doc) => doc._id === uid)?.q).toBe(false);
  });
});

describe('GET composition', () => {
  given();

  it('is 404 for anything else than a COMPOSITION of this EHR', async () => {
    const uid = await givenComposition(app, ehrId);
    const other = await givenEhr(app);
    const status = (await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`)).headers.etag;
    for (const path of [
      `${compositions(other)}/${uid}`,
      `${compositions(other)}/${versionedObjectUidOf(uid)}`,
      `${compositions(UNKNOWN)}/${uid}`,
      `${compositions()}/${UNKNOWN}`,
      `${compositions()}/${uid.replace(/1$/, '2')}`,
      `${compositions()}/${uid.replace('local.cdr', 'other.system')}`,
      `${compositions()}/${String(status).replaceAll('"', '')}`,
      `${compositions()}/${versionedObjectUidOf(String(status).replaceAll('"', ''))}`,
    ]) {
      expect((await request(app).get(path)).status).toBe(404);
    }
  });

  it.each([
    'x',
    `${UNKNOWN}::local.cdr`,
    `${UNKNOWN}::local.cdr::-2`,
    `${UNKNOWN}::local.cdr::2.0`,
    `${UNKNOWN}::local.cdr::1.1.2`,
    'nouuid::local.cdr::1',
  ])('refuses the malformed id %s', async (id) => {
    expect((await request(app).get(`${compositions()}/${id}`)).status).toBe(400);
  });

  it('finds the version extant at a time', async () => {
    const first = await request(app).post(compositions()).send(aComposition());
    const uid = versionUidOf(first);
    const path = `${compositions()}/${versionedObjectUidOf(uid)}`;
    const all = JSON.parse(await dump()) as { versions: { _id: string; time_committed: string }[] };
    const time = all.versions.find((version) => version._id === uid)?.time_committed ?? '';
    const second = await request(app).put(path).set('If-Match', uid).send(aComposition());
    const at = (text: string): request.Test => request(app).get(`${path}?version_at_time=${text}`);
    expect((await at(time)).headers.etag).toBe(`"${uid}"`);
    expect((await at('2999-01-01T00:00:00Z')).headers.etag).toBe(second.headers.etag);
    expect((await at('')).headers.etag).toBe(second.headers.etag);
    expect((await at('2999-01-01T00:00:00+02:00')).headers.etag).toBe(second.headers.etag);
    expect((await at('2999-01-01T00:00:00%2B02:00')).status).toBe(200);
    expect((await at('2001-01-01T00:00:00')).status).toBe(404);
    for (const bad of ['2020-01-01', '20200101T000000Z', '2020-02-30T00:00:00Z', '2020-01-01%2010:00', 'x']) {
      const response = await at(bad);
      expect(response.status).toBe(400);
      expect(response.body.message).toContain('is not valid for version_at_time parameter');
    }
    expect((await request(app).get(`${path}?version_at_time=${time}&version_at_time=${time}`)).status).toBe(
      400,
    );
    expect(
      (await request(app).get(`${compositions()}/${uid}?version_at_time=2001-01-01T00:00:00Z`)).status,
    ).toBe(200);
  });

  it('answers XML, HEAD and 406', async () => {
    const uid = await givenComposition(app, ehrId);
    const path = `${compositions()}/${uid}`;
    const xml = await request(app).get(path).set('Accept', 'application/xml');
    expect(xml.headers['content-type']).toBe('application/xml; charset=utf-8');
    expect(xml.text).toMatch(/^<\?xml [^>]*\?>\s*<composition /);
    expect((await request(app).get(`${path}?format=XML`)).text).toBe(xml.text);
    const head = await request(app).head(path);
    expect([head.status, head.headers.etag]).toEqual([200, `"${uid}"`]);
    expect((await request(app).get(path).set('Accept', 'image/png')).status).toBe(406);
    expect((await request(app).get(`${path}?format=PDF`)).status).toBe(406);
    expect((await request(app).get(`${path}?format=RAW`)).status).toBe(400);
  });

  it('names the methods of the path on 405', async () => {
    const response = await request(app).patch(`${compositions()}/${UNKNOWN}`);
    expect(response.status).toBe(405);
    expect(response.headers.allow).toContain('PUT');
  });
});
