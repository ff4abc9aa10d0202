import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import type { JsonObject } from '../../../openehr/base/json.js';
import { fromXml } from '../../../openehr/format/canonical-xml.js';
import { readRm } from '../../../openehr/rm/read.js';
import { testApp } from '../../support/app.js';
import { archieJson, archieXml, ARCHIE_STYLES } from '../../support/openehr/archie.js';
import { useDatabase } from '../../support/database.js';
import { fixtureJson, fixtureNames, fixtureText, templateNames } from '../../support/fixture.js';
import { aComposition, givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';

/** What Archie writes of public data, which is much of what other servers hold. */
// The public template cardinality_of_section has no composition that its container cardinality lets pass.
const app = testApp({ checkContainerCardinality: false });
const FLAT = 'application/openehr.wt.flat+json';
const XML = 'application/xml';
const JSON_TYPE = 'application/json';
/** Cannot be read in any format: malformed, a DV_COUNT that is no whole number, unknown attributes. */
const UNREADABLE = /\.invalid|alternative_types|feeder-audit\.json/;
/** Break their template in every format. */
const INVALID = /proportion_open|datetimes|durations|(?:minimal_observation|test_all_types)\.en\.v1\.xml/;
let ehrId = '';
useDatabase();
beforeAll(async () => {
  for (const name of templateNames()) await givenTemplate(app, name);
  ehrId = await givenEhr(app);
});

/** The answer to a new COMPOSITION, without what differs from one to the next. */
async function answer(body: string, type: string, template = ''): Promise<[number, Json]> {
  const response = await request(app)
    .post(`${V1}/ehr/${ehrId}/composition`)
    .set('Content-Type', type)
    .set('Accept', JSON_TYPE)
    .set('Prefer', 'return=representation')
    .set(template === '' ? {} : { 'openEHR-TEMPLATE_ID': template })
    .send(body);
  const { uid, request_id: requestId, ...rest } = response.body as Json;
  expect(uid ?? requestId ?? null).not.toBe('');
  return [response.status, rest];
}

/** Whatever the canonical form gets, its Archie forms get as well. */
async function expectSameAnswer(composition: JsonObject): Promise<number> {
  const canonical = await answer(JSON.stringify(composition), JSON_TYPE);
  for (const style of Object.values(ARCHIE_STYLES))
    expect(await answer(archieXml(composition, 'composition', style), XML)).toEqual(canonical);
  expect(await answer(JSON.stringify(archieJson(composition)), JSON_TYPE)).toEqual(canonical);
  return canonical[0];
}

function withoutUid(composition: Json): JsonObject {
  delete composition['uid'];
  return composition;
}

function readable(composition: Json): JsonObject {
  const { object, violations } = readRm(withoutUid(composition), 'COMPOSITION');
  expect(violations).toEqual([]);
  return object ?? {};
}

const readableOf = (folder: string) => fixtureNames(folder).filter((name) => !UNREADABLE.test(name));

describe('a COMPOSITION that Archie writes gets the answer of the canonical one:', () => {
  it.each(readableOf('composition'))('%s', async (name) => {
    const given = JSON.parse(fixtureText(`composition/${name}`).replace(/^\ufeff/, '')) as Json;
    expect(await expectSameAnswer(readable(given))).toBe(INVALID.test(name) ? 422 : 201);
  });

  it.each(readableOf('xml').filter((name) => name.endsWith('.xml')))('%s', async (name) => {
    const given = fromXml(fixtureText(`xml/${name}`), 'COMPOSITION');
    expect(await expectSameAnswer(readable(given))).toBe(INVALID.test(name) ? 422 : 201);
  });

  it.each([
    ...readableOf('flat').filter((name) => !['conformance', 'test_all_types.en.v1.json'].includes(name)),
    ...readableOf('flat/conformance').map((name) => `conformance/${name}`),
  ])('of FLAT %s', async (name) => {
    const body = Object.entries(fixtureJson(`flat/${name}`)).filter(([key]) => !key.endsWith('/_uid'));
    const template = name.startsWith('conformance/')
      ? 'conformance-ehrbase.de.v0'
      : templateNames().find((known) => name.startsWith(`${known}.`));
    const [status, composition] = await answer(JSON.stringify(Object.fromEntries(body)), FLAT, template);
    expect([status, composition]).toEqual([201, expect.any(Object)]);
    expect(await expectSameAnswer(composition)).toBe(201);
  });
});

describe.each(Object.entries(ARCHIE_STYLES))('Archie XML %s', (_, style) => {
  it('is read of an EHR_STATUS and a FOLDER', async () => {
    const id = await givenEhr(app);
    const before = await request(app).get(`${V1}/ehr/${id}/ehr_status`);
    const changed = await request(app)
      .put(`${V1}/ehr/${id}/ehr_status`)
      .set('Content-Type', XML)
      .set('If-Match', String(before.headers['etag']))
      .send(archieXml({ ...withoutUid(before.body as Json), is_queryable: false }, 'ehr_status', style));
    expect([changed.status, changed.text]).toEqual([200, '']);
    const folder = {
      _type: 'FOLDER',
      archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
      name: { _type: 'DV_TEXT', value: 'root' },
    };
    const made = await request(app)
      .post(`${V1}/ehr/${id}/directory`)
      .set('Content-Type', XML)
      .send(archieXml(folder, 'folder', style));
    expect([made.status, made.text]).toEqual([201, '']);
  });

  it('is read of a CONTRIBUTION with its VERSIONs', async () => {
    const code = (value: string, code_string: string) => ({
      _type: 'DV_CODED_TEXT',
      value,
      defining_code: {
        _type: 'CODE_PHRASE',
        terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
        code_string,
      },
    });
    const audit = {
      _type: 'AUDIT_DETAILS',
      system_id: 'old.cdr',
      committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada' },
      time_committed: { _type: 'DV_DATE_TIME', value: '2020-01-01T10:00:00Z' },
      change_type: code('creation', '249'),
    };
    const version = {
      _type: 'ORIGINAL_VERSION',
      commit_audit: audit,
      data: readable(aComposition()),
      lifecycle_state: code('complete', '532'),
    };
    const response = await request(app)
      .post(`${V1}/ehr/${ehrId}/contribution`)
      .set('Content-Type', XML)
      .send(archieXml({ _type: 'CONTRIBUTION', versions: [version], audit }, 'contribution', style));
    expect([response.status, response.text]).toEqual([201, expect.any(String)]);
  });
});

it.each([
  ['ARCHETYPE_ID', 'rmFlavour'],
  ['DV_TEXT', 'path'],
  ['DV_PROPORTION', 'isRatio'],
])('a member of %s that no function gives is refused: %s', async (type, name) => {
  const composition = aComposition();
  if (type === 'ARCHETYPE_ID') composition['archetype_details'].archetype_id[name] = 'x';
  else if (type === 'DV_TEXT') composition['name'][name] = 'x';
  else composition['content'][0].data.items[0].value = { _type: type, numerator: 1, [name]: true };
  const [status, body] = await answer(JSON.stringify(composition), JSON_TYPE);
  expect([status, body['message']]).toEqual([400, expect.stringContaining(name)]);
});
