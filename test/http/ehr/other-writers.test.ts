import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';

/** What clients of other servers and other libraries write. */
const app = testApp();
const FLAT = 'application/openehr.wt.flat+json';
const OPEN_LIST = 'ehrbase_multi_occurrence.de.v1';
let ehrId = '';
useDatabase();
beforeAll(async () => {
  for (const name of ['nested.en.v1', 'minimal_evaluation.en.v1', OPEN_LIST]) await givenTemplate(app, name);
  ehrId = await givenEhr(app);
});

const compositions = (): string => `${V1}/ehr/${ehrId}/composition`;

const postFlat = (template: string, body: Json) =>
  request(app)
    .post(compositions())
    .set('Content-Type', FLAT)
    .set('Accept', FLAT)
    .set('openEHR-TEMPLATE_ID', template)
    .set('Prefer', 'return=representation')
    .send(JSON.stringify(body));

describe('the FLAT cases of validation-cases.json', () => {
  interface FlatCase {
    readonly flat?: string;
    readonly template: string;
    readonly set: Json;
    readonly status: number;
    readonly message?: string;
    readonly warning?: string;
  }
  const { cases } = JSON.parse(fixtureText('validation-cases.json')) as { cases: FlatCase[] };

  it.each(cases.filter((one) => one.flat !== undefined))(
    '$flat with $set',
    async ({ flat = '', template, set, status, message = '', warning }) => {
      const body = Object.entries(JSON.parse(fixtureText(`flat/${flat}`)) as Json).filter(
        ([key]) => !key.endsWith('/_uid'),
      );
      const before = await dump();
      const response = await postFlat(template, { ...Object.fromEntries(body), ...set });
      expect([response.status, response.text]).toEqual([status, expect.stringContaining(message)]);
      if (status >= 400) expect(await dump()).toBe(before);
      if (warning !== undefined) expect(response.headers['warning']).toContain(warning);
    },
  );
});

describe('a code in FLAT', () => {
  const NODE = 'encounter/body_temperature:0/any_event:0/body_exposure';
  const given = (code: Json): Json => ({
    'ctx/language': 'de',
    'ctx/territory': 'DE',
    'ctx/composer_name': 'Ada',
    'encounter/body_temperature:0/any_event:0/temperature|magnitude': 37.1,
    'encounter/body_temperature:0/any_event:0/temperature|unit': 'Cel',
    ...Object.fromEntries(Object.entries(code).map(([key, value]) => [`${NODE}${key}`, value])),
  });

  it('that is listed gets the label of the template, and a warning says so', async () => {
    const response = await postFlat(
      OPEN_LIST,
      given({ '|code': 'at0032', '|value': 'Naked', '|terminology': 'local' }),
    );
    expect([response.status, response.text]).toEqual([201, expect.any(String)]);
    const stored =
      response.body[Object.keys(response.body).find((key) => key.endsWith('body_exposure|value')) ?? ''];
    expect(stored).not.toBe('Naked');
    expect(response.headers['warning']).toMatch(/^299 everchart "the label .*Naked.* at0032/);
  });

  it('of the archetype that no list has is taken with its own label only', async () => {
    const unknown = await postFlat(
      OPEN_LIST,
      given({ '|code': 'at9999', '|value': 'Naked', '|terminology': 'local' }),
    );
    expect(unknown.status).toBe(422);
    expect(unknown.body.message).toMatch(/at9999 \(expected: /);
  });

  it('of another terminology is free where text is allowed, and so is text', async () => {
    const coded = given({ '|code': '248152002', '|value': 'Female', '|terminology': 'SNOMED-CT' });
    expect((await postFlat(OPEN_LIST, coded)).status).toBe(201);
    expect((await postFlat(OPEN_LIST, given({ '|other': 'covered' }))).status).toBe(201);
  });
});

describe('keys of the context below the root of a FLAT body', () => {
  const body: Json = {
    'minimal/language|code': 'en',
    'minimal/territory|code': 'UY',
    'minimal/composer|name': 'Ada',
    'minimal/minimal:0/quantity|magnitude': 353.8,
    'minimal/minimal:0/quantity|unit': 'kg',
    'minimal/start_time': '2021-05-20T16:26:44Z',
    'minimal/setting|code': '228',
    'minimal/_end_time': '2021-05-20T17:00:00Z',
    'minimal/_participation:1|name': 'Bob',
    'minimal/_participation:1|function': 'nurse',
  };

  it('are read as those of the context where the template has none', async () => {
    const response = await postFlat('minimal_evaluation.en.v1', {
      ...body,
      'minimal/context/_participation:0|name': 'Eve',
      'minimal/context/_participation:0|function': 'witness',
      'minimal/context/start_time': '2021-05-20T16:26:44Z',
    });
    expect([response.status, response.text]).toEqual([201, expect.any(String)]);
    expect(response.body).toMatchObject({
      'minimal/context/start_time': '2021-05-20T16:26:44Z',
      'minimal/context/setting|value': 'primary medical care',
      'minimal/context/_end_time': '2021-05-20T17:00:00Z',
      'minimal/context/_participation:0|name': 'Eve',
      'minimal/context/_participation:1|name': 'Bob',
    });
  });

  it('must not contradict those of the context', async () => {
    const response = await postFlat('minimal_evaluation.en.v1', {
      ...body,
      'minimal/context/start_time': '2022-05-20T16:26:44Z',
    });
    expect([response.status, response.body.message]).toEqual([
      400,
      expect.stringContaining('minimal/context/start_time and minimal/start_time give different values'),
    ]);
  });
});

describe('an archetype id with the functions that Archie writes beside its value', () => {
  const DERIVED = {
    qualifiedRmEntity: 'openEHR-EHR-COMPOSITION',
    domainConcept: 'minimal',
    rmOriginator: 'openEHR',
    rmName: 'EHR',
    rmEntity: 'COMPOSITION',
    specialisation: '',
    versionId: 'v1',
    qualified_rm_entity: 'openEHR-EHR-COMPOSITION',
    domain_concept: 'minimal',
    version_id: 'v1',
  };

  it('is read from JSON, and stored without them', async () => {
    const composition = aComposition();
    Object.assign(composition['archetype_details'].archetype_id, DERIVED);
    const response = await request(app)
      .post(compositions())
      .set('Prefer', 'return=representation')
      .send(composition);
    expect([response.status, response.text]).toEqual([201, expect.not.stringContaining('omainConcept')]);
  });

  it('is read from XML', async () => {
    const created = await request(app)
      .post(compositions())
      .set('Accept', 'application/xml')
      .set('Prefer', 'return=representation')
      .send(aComposition());
    const elements = Object.entries(DERIVED).map(([name, text]) => `<${name}>${text}</${name}>`);
    const xml = created.text
      .replace(/<uid[\s\S]*?<\/uid>/, '')
      .replaceAll('</archetype_id>', `${elements.join('')}</archetype_id>`);
    expect(xml).toContain('<rmOriginator>');
    const response = await request(app).post(compositions()).set('Content-Type', 'application/xml').send(xml);
    expect([response.status, response.text]).toEqual([201, expect.any(String)]);
  });

  it('may have no other members', async () => {
    const composition = aComposition();
    Object.assign(composition['archetype_details'].archetype_id, { rmFlavour: 'x' });
    expect((await request(app).post(compositions()).send(composition)).status).toBe(400);
  });
});

describe("EHRbase's Java SDK", () => {
  it('creates an EHR without EHR_STATUS by the body null', async () => {
    const response = await request(app)
      .post(`${V1}/ehr/`)
      .set('Content-Type', 'application/json; charset=UTF-8')
      .send('null');
    expect([response.status, response.text]).toEqual([201, expect.any(String)]);
  });

  it('reads the time of a template with three fractional digits', async () => {
    const response = await request(app).get(`${V1}/definition/template/adl1.4`);
    for (const { created_timestamp: time } of response.body)
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
});

describe('a CONTRIBUTION of another system', () => {
  it('may name the uids that its versions had there', async () => {
    const uid = '8849182c-82ad-4088-a07f-48ead4180515::old.cdr::3';
    const response = await request(app)
      .post(`${V1}/ehr/${ehrId}/contribution`)
      .set('Prefer', 'return=representation')
      .send({
        versions: [
          {
            _type: 'ORIGINAL_VERSION',
            uid: { _type: 'OBJECT_VERSION_ID', value: uid },
            data: aComposition(),
            commit_audit: {
              change_type: {
                value: 'creation',
                defining_code: { terminology_id: { value: 'openehr' }, code_string: '249' },
              },
              committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada' },
            },
            lifecycle_state: {
              value: 'complete',
              defining_code: { terminology_id: { value: 'openehr' }, code_string: '532' },
            },
          },
        ],
      });
    expect([response.status, response.text]).toEqual([201, expect.any(String)]);
    expect(response.text).not.toContain('old.cdr');
  });
});

it.each(['148.01210165023805', '0.10000000000000001', '9007199254740992'])(
  'a number of %s is taken',
  async (number) => {
    const text = JSON.stringify({ q: 'SELECT e/ehr_id/value FROM EHR e', query_parameters: { n: 1 } });
    const response = await request(app)
      .post(`${V1}/query/aql`)
      .set('Content-Type', 'application/json')
      .send(text.replace('{"n":1}', `{"n":${number}}`));
    expect(response.status).toBe(200);
  },
);

describe('what the standard and its clients expect', () => {
  it('binds $ehr_id from the ehr_id of the request, and refuses two different ones', async () => {
    const other = await givenEhr(app);
    const q = 'SELECT e/ehr_id/value AS id FROM EHR e WHERE e/ehr_id/value = $ehr_id';
    const byGet = await request(app).get(`${V1}/query/aql`).query({ q, ehr_id: ehrId });
    expect([byGet.status, byGet.body.rows]).toEqual([200, [[ehrId]]]);
    const byHeader = await request(app).post(`${V1}/query/aql`).set('openEHR-EHR-id', ehrId).send({ q });
    expect(byHeader.body.rows).toEqual([[ehrId]]);
    const differing = { q, ehr_id: ehrId, query_parameters: { ehr_id: other } };
    expect((await request(app).post(`${V1}/query/aql`).send(differing)).status).toBe(400);
    const alone = { q, query_parameters: { ehr_id: other } };
    expect((await request(app).post(`${V1}/query/aql`).send(alone)).body.rows).toEqual([[other]]);
  });

  it.each([
    [{ template_id: 'nested.en.v1' }, ['nested.en.v1']],
    [{ template_id: 'NESTED*' }, ['nested.en.v1']],
    [{ template_id: 'nothing' }, []],
    [{ concept: '*evaluation*' }, ['minimal_evaluation.en.v1']],
    [{ version: 'v0' }, []],
    [{ version: '1', offset: 1, fetch: 1 }, ['minimal_evaluation.en.v1']],
  ])('lists the templates of %j', async (query, ids) => {
    const { body } = await request(app).get(`${V1}/definition/template/adl1.4`).query(query);
    expect(body.map((one: Json) => one.template_id)).toEqual(ids);
  });

  it('answers 412 to an If-Match that is an entity tag but no version uid, and 400 to one that is none', async () => {
    const uid = await givenComposition(app, ehrId);
    const put = (ifMatch: string) =>
      request(app)
        .put(`${compositions()}/${versionedObjectUidOf(uid)}`)
        .set('If-Match', ifMatch)
        .send(aComposition());
    expect((await put('"abc"')).status).toBe(412);
    expect((await put('*')).status).toBe(400);
    expect((await put('"a", "b"')).status).toBe(400);
    expect((await put(`"${uid}"`)).status).toBe(200);
  });

  it('answers 404 to a version of another object', async () => {
    const [one, other] = [await givenComposition(app, ehrId), await givenComposition(app, ehrId)];
    const path = `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(one)}/version`;
    expect((await request(app).get(`${path}/${other}`)).status).toBe(404);
    expect((await request(app).get(`${path}/${one}`)).status).toBe(200);
  });

  it('ignores the uid of another object in an EHR_STATUS, with a warning', async () => {
    const before = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`);
    const status = { ...before.body, uid: { ...before.body.uid, value: `${randomUUID()}::local.cdr::1` } };
    const response = await request(app)
      .put(`${V1}/ehr/${ehrId}/ehr_status`)
      .set('If-Match', before.headers.etag ?? '')
      .send(status);
    expect(response.status).toBe(200);
    expect(response.headers['warning']).toContain('of another object');
  });

  it('deletes whatever lifecycle state the client names', async () => {
    const uid = await givenComposition(app, ehrId);
    const response = await request(app)
      .delete(`${compositions()}/${uid}`)
      .set('openEHR-VERSION', 'lifecycle_state.code_string="532"');
    expect(response.status).toBe(204);
  });

  it('takes the system_id of another system in an audit and stores its own, unless told not to', async () => {
    const header = { 'openEHR-AUDIT_DETAILS': 'system_id="old.cdr"' };
    const post = (server: typeof app) =>
      request(server).post(compositions()).set(header).send(aComposition());
    const created = await post(app);
    expect(created.status).toBe(201);
    const version = `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(versionUidOf(created))}/version`;
    expect((await request(app).get(version)).body.commit_audit.system_id).toBe('local.cdr');
    expect((await post(testApp({ acceptForeignSystemId: false }))).status).toBe(400);
    const empty = { 'openEHR-AUDIT_DETAILS': 'system_id=""' };
    expect((await request(app).post(compositions()).set(empty).send(aComposition())).status).toBe(400);
  });

  it('ignores the foreign uid of a new COMPOSITION with a warning, in a CONTRIBUTION too', async () => {
    const uid = { _type: 'OBJECT_VERSION_ID', value: `${randomUUID()}::old.cdr::4` };
    const body = { ...aComposition(), uid };
    const response = await request(app).post(compositions()).send(body);
    expect(response.status).toBe(201);
    expect(response.headers['warning']).toContain('old.cdr');
    expect(versionUidOf(response)).toContain('::local.cdr::1');
    const versions = [{ commit_audit: { change_type: { value: 'creation' } }, data: body }];
    const together = await request(app).post(`${V1}/ehr/${ehrId}/contribution`).send({ versions });
    expect(together.status).toBe(201);
    expect(together.headers['warning']).toContain('old.cdr');
  });

  it.each(['flat', 'structured'])('ignores the foreign uid of a new COMPOSITION in %s too', async (form) => {
    const type = `application/openehr.wt.${form}+json`;
    const templateId = 'minimal_evaluation.en.v1';
    const example = await request(app)
      .get(`${V1}/definition/template/adl1.4/${templateId}/example`)
      .set('Accept', type);
    const value = `${randomUUID()}::old.cdr::4`;
    const body = JSON.parse(example.text) as Json;
    const root =
      Object.keys(body)
        .find((key) => !key.startsWith('ctx'))
        ?.split('/')[0] ?? '';
    if (form === 'flat') body[`${root}/_uid`] = value;
    else body[root]._uid = [value];
    const response = await request(app)
      .post(compositions())
      .set({ 'Content-Type': type, 'openEHR-TEMPLATE_ID': templateId })
      .send(JSON.stringify(body));
    expect([response.status, response.text]).toEqual([201, '']);
    expect(response.headers['warning']).toContain('old.cdr');
    expect(versionUidOf(response)).toContain('::local.cdr::1');
  });

  it('has the index of a first identifier of a participation in STRUCTURED, as clients read it', async () => {
    const body = aComposition();
    const identifier = { _type: 'DV_IDENTIFIER', id: '7', issuer: 'i', assigner: 'a', type: 't' };
    body['content'][0].other_participations = [
      {
        _type: 'PARTICIPATION',
        function: { _type: 'DV_TEXT', value: 'nurse' },
        performer: { _type: 'PARTY_IDENTIFIED', name: 'N', identifiers: [identifier] },
      },
    ];
    const posted = await request(app).post(compositions()).send(body);
    expect([posted.status, posted.text]).toEqual([201, '']);
    const read = await request(app)
      .get(`${compositions()}/${versionUidOf(posted)}`)
      .set('Accept', 'application/openehr.wt.structured+json');
    expect(read.text).toContain('"|identifiers_id:0":"7"');
  });

  it('takes a template again whose text is the same, although it is in use', async () => {
    const open = testApp({ templateAllowOverwrite: true });
    await givenComposition(app, ehrId);
    const upload = (text: string) =>
      request(open)
        .post(`${V1}/definition/template/adl1.4`)
        .set('Content-Type', 'application/xml')
        .send(text);
    const opt = fixtureText('opt/minimal_evaluation.en.v1.opt');
    const before = await dump();
    expect((await upload(opt)).status).toBe(201);
    expect((await upload(`${opt}\n<!-- changed -->`)).status).toBe(422);
    expect(await dump()).toBe(before);
  });
});
