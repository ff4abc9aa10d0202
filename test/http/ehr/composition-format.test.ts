import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import {
  dump,
  givenEhr,
  givenTemplate,
  versionedObjectUidOf,
  V1,
  versionUidOf,
  type Json,
} from '../../support/resources.js';

const TEMPLATE = 'nested.en.v1';
const FLAT = 'application/openehr.wt.flat+json';
const STRUCTURED = 'application/openehr.wt.structured+json';
const app = testApp();
let ehrId = '';
useDatabase();
beforeAll(async () => {
  await givenTemplate(app, TEMPLATE);
  ehrId = await givenEhr(app);
});

const path = (tail = ''): string => `${V1}/ehr/${ehrId}/composition${tail}`;
const json = (name: string): Json => JSON.parse(fixtureText(name)) as Json;

function withoutUid(flat: Json): Json {
  return Object.fromEntries(Object.entries(flat).filter(([key]) => !key.endsWith('/_uid')));
}

function structuredWithoutUid(): Json {
  const structured = json(`structured/${TEMPLATE}.json`);
  for (const root of Object.values(structured) as Json[]) delete root['_uid'];
  return structured;
}

const flat = (): Json => withoutUid(json(`flat/${TEMPLATE}.json`));

describe('FLAT and STRUCTURED', () => {
  it('are read and answered under the name the client used', async () => {
    const response = await request(app)
      .post(path())
      .set('Content-Type', FLAT)
      .set('Accept', FLAT)
      .set('openEHR-TEMPLATE_ID', TEMPLATE)
      .set('Prefer', 'return=representation')
      .send(JSON.stringify(flat()));
    expect([response.status, response.text]).toEqual([201, expect.any(String)]);
    expect(response.headers['content-type']).toBe(`${FLAT}; charset=utf-8`);
    const answered = JSON.parse(response.text) as Json;
    expect(
      answered['nested/_uid'] ?? Object.entries(answered).find(([key]) => key.endsWith('/_uid'))?.[1],
    ).toBe(versionUidOf(response));
    const uid = versionUidOf(response);
    const structured = await request(app)
      .get(path(`/${uid}`))
      .set('Accept', STRUCTURED);
    expect(structured.headers['content-type']).toBe(`${STRUCTURED}; charset=utf-8`);
    const [root] = Object.values(JSON.parse(structured.text) as Json);
    expect(root._uid).toEqual([uid]);
    const canonical = await request(app).get(path(`/${uid}`));
    expect(canonical.body).toMatchObject({ _type: 'COMPOSITION', uid: { value: uid } });
    for (const [accept, format] of [
      [FLAT, ''],
      ['application/json', 'FLAT'],
      ['*/*', 'FLAT'],
    ]) {
      const got = await request(app)
        .get(path(`/${uid}${format === '' ? '' : `?format=${format}`}`))
        .set('Accept', accept!);
      expect(JSON.parse(got.text)).toEqual(answered);
    }
  });

  it('are chosen by format with the media type application/json', async () => {
    const response = await request(app)
      .post(path(`?format=FLAT&templateId=${TEMPLATE}`))
      .set('Prefer', 'return=representation')
      .send(flat());
    expect(response.status).toBe(201);
    expect(Object.keys(response.body as Json).some((key) => key.endsWith('/_uid'))).toBe(true);
    const structured = await request(app)
      .post(path(`?format=STRUCTURED&templateId=${TEMPLATE}`))
      .set('Prefer', 'return=representation')
      .send(structuredWithoutUid());
    expect([structured.status, structured.text]).toEqual([201, expect.stringContaining('_uid')]);
  });

  it('are answered canonically when the client accepts JSON', async () => {
    const response = await request(app)
      .post(path(`?templateId=${TEMPLATE}`))
      .set('Content-Type', 'application/openehr.wt.flat.schema+json')
      .set('Accept', 'application/json')
      .set('Prefer', 'return=representation')
      .send(JSON.stringify(flat()));
    expect(response.status).toBe(201);
    expect(response.body._type).toBe('COMPOSITION');
  });

  it('update a COMPOSITION', async () => {
    const made = await request(app)
      .post(path(`?format=FLAT&templateId=${TEMPLATE}`))
      .send(flat());
    const uid = versionUidOf(made);
    const response = await request(app)
      .put(path(`/${versionedObjectUidOf(uid)}?format=FLAT&templateId=${TEMPLATE}`))
      .set('If-Match', uid)
      .send(flat());
    expect([response.status, response.text]).toEqual([200, '']);
  });

  it('need a template id that is known and given once', async () => {
    const before = await dump();
    const post = (query: string): request.Test => request(app).post(path(`?format=FLAT${query}`));
    expect((await post('').send(flat())).status).toBe(400);
    expect((await post('&templateId=nowhere').send(flat())).status).toBe(422);
    const both = post(`&templateId=${TEMPLATE}`).set('openEHR-TEMPLATE_ID', 'other');
    expect((await both.send(flat())).status).toBe(400);
    const two = post('').set('openEHR-TEMPLATE_ID', TEMPLATE).set('std-template-id', 'other');
    expect((await two.send(flat())).status).toBe(400);
    expect((await post(`&templateId=${TEMPLATE}`).send({ 'nested/nothing/at/all': 1 })).status).toBe(400);
    expect((await post(`&templateId=${TEMPLATE}`).send([])).status).toBe(400);
    const malformed = post(`&templateId=${TEMPLATE}`).set('Content-Type', 'application/json');
    expect((await malformed.send(fixtureText(`flat/${TEMPLATE}.invalid.json`))).status).toBe(400);
    expect(await dump()).toBe(before);
  });

  it('refuse a format that contradicts the media type', async () => {
    const body = fixtureText(`xml/${TEMPLATE}.xml`);
    const xml = request(app).post(path('?format=FLAT')).set('Content-Type', 'application/xml');
    expect((await xml.send(body)).status).toBe(406);
    expect((await request(app).post(path('?format=ECISFLAT')).send(flat())).status).toBe(400);
  });
});

describe('canonical XML', () => {
  const bare = (): string => fixtureText(`xml/${TEMPLATE}.xml`).replace(/<uid\b.*?<\/uid>/s, '');

  it('is read and written, mixed with JSON', async () => {
    const response = await request(app)
      .post(path())
      .set('Content-Type', 'application/xml')
      .set('Accept', 'application/xml')
      .set('Prefer', 'return=representation')
      .send(bare());
    expect([response.status, response.text.slice(0, 200)]).toEqual([
      201,
      expect.stringContaining('<composition'),
    ]);
    const uid = versionUidOf(response);
    expect(response.text).toContain(`<value>${uid}</value>`);
    const canonical = await request(app)
      .get(path(`/${uid}`))
      .set('Accept', 'application/json');
    expect(canonical.body._type).toBe('COMPOSITION');
    const json = await request(app)
      .post(path())
      .set('Content-Type', 'application/xml')
      .set('Prefer', 'return=representation')
      .send(bare());
    expect(json.body._type).toBe('COMPOSITION');
  });

  it.each([
    ['malformed', '<composition'],
    ['a DOCTYPE', `<!DOCTYPE x [<!ENTITY a "b">]><composition xmlns="http://schemas.openehr.org/v1"/>`],
    ['another root', '<folder xmlns="http://schemas.openehr.org/v1"/>'],
    ['the wrong structure', fixtureText('xml/nested.en.v1.invalid.xml')],
  ])('is refused when it is %s', async (_name, body) => {
    const before = await dump();
    const response = await request(app).post(path()).set('Content-Type', 'application/xml').send(body);
    expect(response.status).toBe(400);
    expect(await dump()).toBe(before);
  });

  it('gives errors in XML when only XML is acceptable', async () => {
    const response = await request(app).get(path('/x')).set('Accept', 'application/xml');
    expect(response.status).toBe(400);
    expect(response.text).toMatch(
      /<error><error>Bad Request<\/error><message>[^<]+<\/message><code>invalid<\/code>/,
    );
  });
});

describe('real compositions', () => {
  it.each([
    'nested.en.v1',
    'nested.en.v1.without-links',
    'persistent_minimal.en.v1',
    'minimal_instruction.en.v1',
    'minimal_action_2',
    'test_all_types.en.v1',
    'Corona_Anamnese',
    'conformance-ehrbase.de.v0.max',
    'conformance-ehrbase.de.v0.min',
    'ehrbase_blood_pressure_simple.de.v0',
  ])('%s is committed and read back as sent', async (name) => {
    const composition = json(`composition/${name}.json`);
    delete composition['uid'];
    await givenTemplate(app, composition['archetype_details'].template_id.value as string);
    const response = await request(app).post(path()).send(composition);
    expect([response.status, response.text]).toEqual([201, '']);
    const got = await request(app).get(path(`/${versionUidOf(response)}`));
    expect(got.body.archetype_node_id).toBe(composition['archetype_node_id']);
    expect(JSON.stringify(got.body).length).toBeGreaterThan(JSON.stringify(composition).length / 2);
  });
});
