import { beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureJson } from '../../support/fixture.js';
import { aComposition, givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';

const TEMPLATE = 'ehrbase_multi_occurrence.de.v1';
const TEMPERATURE = 'encounter/body_temperature:0/any_event:1/temperature';
const app = testApp({ strictParameters: true });

useDatabase();

let ehrId = '';

beforeAll(async () => {
  await givenTemplate(app, TEMPLATE);
  await givenTemplate(app);
  ehrId = await givenEhr(app);
});

function commit(
  body: object | string,
  query: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return request(app)
    .post(`${V1}/ehr/${ehrId}/composition${query}`)
    .set({ 'Content-Type': 'application/json', ...headers })
    .send(body);
}

function flat(changes: Json = {}): Json {
  const body: Json = { ...fixtureJson(`flat/${TEMPLATE}.json`), ...changes };
  delete body['encounter/_uid'];
  return body;
}

const commitFlat = (changes: Json): Promise<Response> =>
  commit(flat(changes), `?format=FLAT&templateId=${TEMPLATE}`);

/** Creates COMPOSITIONs in one CONTRIBUTION. */
function commitTogether(compositions: readonly Json[]): Promise<Response> {
  const changeType = {
    _type: 'DV_CODED_TEXT',
    value: 'creation',
    defining_code: {
      _type: 'CODE_PHRASE',
      terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
      code_string: '249',
    },
  };
  const audit = { change_type: changeType, committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada Moe' } };
  const versions = compositions.map((data) => ({
    _type: 'ORIGINAL_VERSION',
    data,
    commit_audit: audit,
    lifecycle_state: {
      ...changeType,
      value: 'complete',
      defining_code: { ...changeType.defining_code, code_string: '532' },
    },
  }));
  return request(app)
    .post(`${V1}/ehr/${ehrId}/contribution`)
    .send({ versions, audit: { ...audit, system_id: 'local.cdr' } });
}

describe('every error body', () => {
  it('has a code and the id of the request', async () => {
    for (const [path, code] of [
      [`${V1}/ehr/${ehrId}/composition/nonsense`, 'invalid'],
      [`${V1}/ehr/7d44b88c-4199-4bad-97dc-d78268e01398`, 'not-found'],
      ['/nowhere', 'not-found'],
      [`${V1}/ehr/${ehrId}/contribution`, 'method-not-allowed'],
    ] as const) {
      const { body, headers } = await request(app).get(path);
      expect(body).toMatchObject({ code, request_id: headers['x-request-id'] });
    }
  });

  it('has them in XML too', async () => {
    const { text, headers } = await request(app).get(`${V1}/ehr/x y`).set('Accept', 'application/xml');
    expect(text).toContain('<code>invalid</code>');
    expect(text).toContain(`<request_id>${String(headers['x-request-id'])}</request_id>`);
  });
});

describe('violations of canonical content', () => {
  it('say where, what was expected and what was found; the strings stay', async () => {
    const composition = aComposition(TEMPLATE);
    const quantity = composition.content[0].data.events[0].data.items[0].value as Json;
    quantity.units = 'C';
    const { status, body } = await commit(composition, '');
    expect(status).toBe(422);
    const [violation] = body.violations as Json[];
    expect(violation).toMatchObject({
      code: 'unit-not-allowed',
      expected: expect.arrayContaining(['Cel']),
      found: 'C',
    });
    expect(violation!.aqlPath).toMatch(
      /^\/content\[openEHR-EHR-OBSERVATION\.[\w.-]+\]\/data\[at0002\]\/events\[at0003\]\/data\[at0001\]\/items\[at0004\]\/value\/units$/,
    );
    expect(violation!.flatPath).toBe('encounter/body_temperature:0/any_event:0/temperature|unit');
    expect(body.validationErrors).toContain(`${violation!.path}: ${violation!.message}`);
    expect(body.code).toBe('unprocessable');
  });

  it('name a path that AQL takes', async () => {
    const composition = aComposition(TEMPLATE);
    composition.content[0].data.events[0].data.items[0].value.units = 'C';
    const { body } = await commit(composition, '');
    const { aqlPath } = body.violations[0] as { aqlPath: string };
    const answer = await request(app)
      .post(`${V1}/query/aql`)
      .send({ q: `SELECT c${aqlPath} FROM EHR e CONTAINS COMPOSITION c` });
    expect(answer.status).toBe(200);
  });

  it('of each COMPOSITION of a CONTRIBUTION name its field, and stand where they stand in the body', async () => {
    const wrongUnit = aComposition(TEMPLATE);
    wrongUnit.content[0].data.events[0].data.items[0].value.units = 'C';
    const { status, body } = await commitTogether([aComposition(TEMPLATE), wrongUnit]);
    expect(status).toBe(400);
    expect(body.violations).toMatchObject([
      {
        code: 'unit-not-allowed',
        path: '/versions[1]/data/content[0]/data/events[0]/data/items[0]/value',
        flatPath: 'encounter/body_temperature:0/any_event:0/temperature|unit',
      },
    ]);
    const anonymous: Json = { ...aComposition(TEMPLATE) };
    delete anonymous.composer;
    const missing = await commitTogether([anonymous]);
    expect(missing.body.violations).toMatchObject([
      { code: 'missing', path: '/versions[0]/data/composer', flatPath: 'ctx/composer_name' },
    ]);
  });

  it('are bounded in number and length', async () => {
    const content = Array.from({ length: 300 }, () => ({ _type: 'OBSERVATION', ['x'.repeat(5000)]: 1 }));
    const { body } = await commit({ ...aComposition(), content }, '');
    expect(body.violations).toHaveLength(100);
    expect(body.validationErrors).toHaveLength(300);
    expect((body.violations[0] as Json).found).toHaveLength(200);
    expect((body.violations[0] as Json).message.length).toBeLessThanOrEqual(1000);
    expect(JSON.stringify(body.violations).length).toBeLessThan(300_000);
  });
});

describe('violations of FLAT', () => {
  it('name the key that was sent', async () => {
    const { status, body } = await commitFlat({ [`${TEMPERATURE}|unit`]: 'C' });
    expect(status).toBe(422);
    expect(body.violations).toMatchObject([{ code: 'unit-not-allowed', flatPath: `${TEMPERATURE}|unit` }]);
  });

  it('name the key of a code', async () => {
    const key = 'encounter/body_temperature:0/any_event:1/body_exposure';
    const { body } = await commitFlat({ [`${key}|code`]: 'at9999' });
    expect(body.violations).toMatchObject([{ flatPath: `${key}|code`, found: 'at9999' }]);
  });

  it('name the key that would give what is missing', async () => {
    const body = Object.fromEntries(Object.entries(flat()).filter(([key]) => !key.includes('/composer')));
    const answer = await commit(body, `?format=FLAT&templateId=${TEMPLATE}`);
    expect(answer.body.violations).toMatchObject([
      { code: 'missing', path: '/composer', flatPath: 'ctx/composer_name' },
    ]);
  });

  it('name the keys of STRUCTURED as those of FLAT', async () => {
    const example = await request(app).get(
      `${V1}/definition/template/adl1.4/${TEMPLATE}/example?format=STRUCTURED&detail_level=complete`,
    );
    const body = JSON.parse(JSON.stringify(example.body).replaceAll('"Cel"', '"C"')) as object;
    const answer = await commit(body, `?format=STRUCTURED&templateId=${TEMPLATE}`);
    expect(answer.status).toBe(422);
    expect((answer.body.violations as Json[]).map(({ flatPath }) => flatPath as string)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^encounter\/.*\/temperature\|unit$/)]),
    );
  });

  it('name an unknown key with the nearest', async () => {
    const { status, body } = await commitFlat({ [`${TEMPERATURE}|unitt`]: 'C' });
    expect(status).toBe(400);
    expect(body.violations).toMatchObject([
      { code: 'unknown-key', flatPath: `${TEMPERATURE}|unitt`, expected: [`${TEMPERATURE}|unit`] },
    ]);
  });
});

describe('a body in another form than the request says', () => {
  it.each([
    ['FLAT without format', () => flat(), '', /^the body is FLAT .* format=FLAT and templateId$/],
    [
      'STRUCTURED without format',
      () => ({ encounter: { body_temperature: [{}] } }),
      '',
      /^the body is STRUCTURED .* format=STRUCTURED and templateId$/,
    ],
    [
      'canonical JSON as FLAT',
      () => aComposition(),
      `?format=FLAT&templateId=${TEMPLATE}`,
      /^the body is canonical JSON .*leave out format=FLAT/,
    ],
    [
      'STRUCTURED as FLAT',
      () => ({ encounter: { body_temperature: [{}] } }),
      `?format=FLAT&templateId=${TEMPLATE}`,
      /^the body is STRUCTURED /,
    ],
  ])('%s is recognised', async (_, body, query, message) => {
    const answer = await commit(body(), query);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(message);
    expect(answer.body.violations).toMatchObject([{ code: 'wrong-form' }]);
  });

  it('with the root of another template is told that first, with five keys', async () => {
    const other = Object.fromEntries(
      Object.entries(flat()).map(([key, value]) => [key.replace('encounter/', 'report/'), value]),
    );
    const { body } = await commit(other, `?format=FLAT&templateId=${TEMPLATE}`);
    expect(body.message).toMatch(
      /^every key but those of ctx\/ must begin with encounter\/; Could not consume Parts \[(?:report[^,]*, ){4}report[^,\]]*\] and \d+ more$/,
    );
  });
});

describe('suggestions', () => {
  it('name the nearest template', async () => {
    const { status, body } = await commit(flat(), '?format=FLAT&templateId=ehrbase_multi_occurence.de.v1');
    expect(status).toBe(422);
    expect(body.message).toContain(`did you mean '${TEMPLATE}'?`);
    expect(body.violations).toMatchObject([{ code: 'unknown-template', expected: [TEMPLATE] }]);
    const composition = aComposition();
    composition.archetype_details.template_id.value = 'minimal_evaluation.en.v2';
    expect((await commit(composition, '')).body.message).toContain(
      "did you mean 'minimal_evaluation.en.v1'?",
    );
  });

  it('name the nearest parameter', async () => {
    const { body } = await commit(flat(), `?format=FLAT&template_id=${TEMPLATE}`);
    expect(body.violations).toMatchObject([
      { code: 'unknown-parameter', path: '?template_id', expected: ['templateId'] },
    ]);
  });

  it('name the type that came', async () => {
    const { status, body } = await commit('a=b', '', { 'Content-Type': 'application/x-www-form-urlencoded' });
    expect(status).toBe(415);
    expect(body.message).toMatch(/^the content type application\/x-www-form-urlencoded is .*curl sends/);
  });
});

describe('texts that cannot be read', () => {
  it('JSON: line and column', async () => {
    const { body } = await commit('{"a":\n  b}', '');
    expect(body.violations).toMatchObject([{ code: 'syntax', line: 2, column: 3 }]);
    expect(body).not.toHaveProperty('validationErrors');
  });

  it('AQL: line and column', async () => {
    const { body } = await request(app)
      .post(`${V1}/query/aql`)
      .send({ q: 'SELECT e\nFROM EHR e WHERE x/y = 1' });
    expect(body.violations).toMatchObject([{ code: 'syntax', line: 2 }]);
  });
});

describe('addresses that look like others', () => {
  it('of the administration of the standard say where ours is', async () => {
    const { status, body } = await request(app).delete(`${V1}/admin/ehr/${ehrId}`);
    expect(status).toBe(404);
    expect(body.message).toMatch(/; the administration API of this server is below \/rest\/admin$/);
  });

  it.each(['all', 'undefined', 'null'])('%s is no EHR id', async (word) => {
    const { status, body } = await request(app).get(`${V1}/ehr/${word}`);
    expect(status).toBe(400);
    expect(body.message).toMatch(new RegExp(`^'${word}' is no ehr_id`));
  });
});
