import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionUidOf,
  type Json,
} from '../../support/resources.js';

/** What Archie, and EHRbase with it, has beside the attributes of the published reference model. */
const app = testApp();
let ehrId = '';
useDatabase();
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
});

const FORMATS = {
  'application/json': 'application/json',
  'application/xml': 'application/xml',
  FLAT: 'application/openehr.wt.flat+json',
  STRUCTURED: 'application/openehr.wt.structured+json',
} as const;

const read = (uid: string, accept: string): request.Test =>
  request(app).get(`${V1}/ehr/${ehrId}/composition/${uid}`).set('Accept', accept);

async function posted(body: string | object, type: string): Promise<string> {
  const response = await request(app)
    .post(`${V1}/ehr/${ehrId}/composition`)
    .set({ 'Content-Type': type, 'openEHR-TEMPLATE_ID': 'minimal_evaluation.en.v1' })
    .send(body);
  expect([response.status, response.body.message, response.body.validationErrors]).toEqual([
    201,
    undefined,
    undefined,
  ]);
  return versionUidOf(response);
}

async function entryOf(uid: string): Promise<Json> {
  return ((await read(uid, 'application/json')).body as Json)['content'][0] as Json;
}

describe('EVALUATION.time_asserted', () => {
  const TIME = '2024-01-01T10:00:00Z';
  const asserted = (value: string = TIME): Json => {
    const composition = aComposition();
    composition['content'][0].time_asserted = { _type: 'DV_DATE_TIME', value };
    return composition;
  };
  const rows = async (q: string): Promise<Json> =>
    (await request(app).post(`${V1}/query/aql`).send({ q, ehr_id: ehrId })).body as Json;

  it.each(Object.entries(FORMATS))('is written as %s, and kept when that is given again', async (_, type) => {
    const uid = await posted(asserted(), 'application/json');
    expect((await entryOf(uid))['time_asserted']).toEqual({ _type: 'DV_DATE_TIME', value: TIME });
    const written = await read(uid, type);
    expect([written.status, written.text]).toEqual([200, expect.stringContaining(TIME)]);
    const body = written.text
      .replace(/<uid.*?<\/uid>/s, '')
      .replace(/"uid":\{"_type":"OBJECT_VERSION_ID"[^}]*\},?/, '')
      .replace(/"(minimal\/)?_uid":(\[[^\]]*\]|[^,]*),/, '');
    const again = await posted(body, type);
    expect((await entryOf(again))['time_asserted']).toEqual({ _type: 'DV_DATE_TIME', value: TIME });
  });

  it('is checked as the time that it is', async () => {
    for (const value of ['yesterday', '2024-13-01T10:00:00Z']) {
      const refused = await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(asserted(value));
      expect([refused.status, refused.text]).toEqual([
        refused.status,
        expect.stringContaining('time_asserted'),
      ]);
      expect([400, 422]).toContain(refused.status);
    }
  });

  it('is selected, compared and ordered by in AQL', async () => {
    const from = 'FROM EHR e CONTAINS COMPOSITION c CONTAINS EVALUATION v';
    const uid = await posted(asserted('2031-05-06T07:08:09+02:00'), 'application/json');
    const earlier = await posted(asserted('2030-01-01T00:00:00Z'), 'application/json');
    const found = await rows(
      `SELECT c/uid/value, v/time_asserted, v/time_asserted/value ${from} WHERE v/time_asserted/value > '2029' ORDER BY v/time_asserted/value DESC`,
    );
    expect(found['rows']).toEqual([
      [uid, { _type: 'DV_DATE_TIME', value: '2031-05-06T07:08:09+02:00' }, '2031-05-06T07:08:09+02:00'],
      [earlier, { _type: 'DV_DATE_TIME', value: '2030-01-01T00:00:00Z' }, '2030-01-01T00:00:00Z'],
    ]);
    const atThatTime = await rows(
      `SELECT c/uid/value ${from} WHERE v/time_asserted/value = '2031-05-06T05:08:09Z' AND EXISTS v/time_asserted`,
    );
    expect([atThatTime['rows'], atThatTime['meta'].warnings]).toEqual([[[uid]], undefined]);
  });
});

describe('ARCHETYPE_ID.namespace', () => {
  it('is dropped unread beside the value, which has it, in JSON and XML', async () => {
    const composition = aComposition();
    const id = composition['content'][0].archetype_details.archetype_id as Json;
    const plain = await posted(composition, 'application/json');
    const xml = (await read(plain, 'application/xml')).text.replace(/<uid.*?<\/uid>/s, '');
    const ofXml = await posted(
      xml.replaceAll('</value></archetype_id>', '</value><namespace>org.openehr</namespace></archetype_id>'),
      'application/xml',
    );
    id['namespace'] = 'org.openehr';
    const ofJson = await posted(composition, 'application/json');
    const [expected, ...others] = await Promise.all([plain, ofXml, ofJson].map(entryOf));
    expect(expected?.['archetype_details'].archetype_id.namespace).toBeUndefined();
    for (const entry of others) expect(entry).toEqual(expected);
  });
});
