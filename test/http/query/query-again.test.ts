import { beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestListener } from 'node:http';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { HILLTOP } from '../../support/hilltop/hilltop.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';
import { givenEhr, givenTemplate } from '../../support/resources.js';

useDatabase();

const AQL = '/rest/openehr/v1/query/aql';
const TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';
const BP = 'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1';

let app: RequestListener;
beforeAll(async () => {
  await loadReferenceData(HILLTOP);
  app = testApp();
});

const post = (q: string, more: object = {}) =>
  request(app)
    .post(AQL)
    .send({ q, ...more });
const rows = async (q: string, more: object = {}): Promise<unknown> => {
  const { status, body } = await post(q, more);
  expect(status).toBe(200);
  return body.rows;
};

describe('a query that is asked again', () => {
  it('answers what has been stored since', async () => {
    const count = 'SELECT COUNT(*) FROM EHR e';
    const [[before]] = (await rows(count)) as [[number]];
    await givenEhr(app);
    expect(await rows(count)).toEqual([[before + 1]]);
  });

  it('takes the values, their types and the page that it is given', async () => {
    const q = 'SELECT c/name/value FROM COMPOSITION c WHERE c/name/value >= $least ORDER BY c/name/value';
    const all = (await rows(q, { query_parameters: { least: 'A' } })) as [string][];
    const last = all.at(-1)?.[0] ?? '';
    const sameName = all.filter(([name]) => name === last);
    expect(await rows(q, { query_parameters: { least: last } })).toEqual(sameName);
    expect(await rows(q, { query_parameters: { least: 'A' }, fetch: 1 })).toEqual(all.slice(0, 1));
    expect(await rows(q, { query_parameters: { least: 'A' }, fetch: 1, offset: 1 })).toEqual(all.slice(1, 2));
    expect(await rows(q, { query_parameters: { least: 'A' } })).toEqual(all);
    for (const least of [1, true]) expect(await rows(q, { query_parameters: { least } })).not.toEqual(all);
  });

  it('keeps to the EHR and the time of its request', async () => {
    const q = 'SELECT e/ehr_id/value FROM EHR e';
    const all = (await rows(q)) as [string][];
    for (const [ehrId] of all) expect(await rows(q, { ehr_id: ehrId })).toEqual([[ehrId]]);
    expect(await rows('SELECT c FROM COMPOSITION c', { as_of: '1990-01-01T00:00:00Z' })).toEqual([]);
    expect(await rows('SELECT c FROM COMPOSITION c')).not.toEqual([]);
  });

  it.each(['SELECT DISTINCT n/name/value', 'SELECT n/name/value, COUNT(*)'])(
    'gives its groups in their own order: %s',
    async (select) => {
      const found = (await rows(`${select} FROM EHR e CONTAINS LOCATABLE n`)) as [string][];
      const names = found.map(([name]) => name);
      expect(names.length).toBeGreaterThan(20);
      expect(names).toEqual([...names].sort((a, b) => (a < b ? -1 : 1)));
    },
  );

  it.each([
    'SELECT DISTINCT n/name/value, n/archetype_node_id FROM EHR e CONTAINS LOCATABLE n',
    'SELECT n/name, COUNT(*) FROM EHR e CONTAINS COMPOSITION c CONTAINS LOCATABLE n',
    'SELECT n/name/value FROM EHR e CONTAINS LOCATABLE n ORDER BY n/name/value',
  ])('has one order in every form, and as it was carried out: %s', async (q) => {
    const { body } = await post(q);
    const executed = String(body.meta._executed_aql);
    for (let time = 0; time < 3; time++) expect(await rows(executed)).toEqual(body.rows);
    const streamed = await post(q)
      .set('Accept', 'application/x-ndjson')
      .buffer(true)
      .parse((res, done) => {
        let text = '';
        res.on('data', (piece: Buffer) => (text += piece.toString()));
        res.on('end', () => done(null, text));
      });
    const [, ...lines] = String(streamed.body).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(body.rows);
    const pages: unknown[] = [];
    for (let offset = 0; offset < body.rows.length; offset += 20)
      pages.push(...((await rows(q, { fetch: 20, offset })) as unknown[]));
    expect(pages).toEqual(body.rows);
  });

  it('has another present time', async () => {
    const q = 'SELECT CURRENT_DATE_TIME() AS present FROM EHR e LIMIT 1';
    const [[first]] = (await rows(q)) as [[string]];
    await new Promise((later) => setTimeout(later, 5));
    const [[second]] = (await rows(q)) as [[string]];
    expect(new Date(second).getTime()).toBeGreaterThan(new Date(first).getTime());
  });

  it('is refused again', async () => {
    const statuses = [await post('SELECT x FROM EHR e'), await post('SELECT x FROM EHR e')].map(
      (answer) => answer.status,
    );
    expect(statuses).toEqual([400, 400]);
  });

  it('is warned about with the templates of now', async () => {
    const q = `SELECT o/data[at9999]/origin FROM OBSERVATION o[${BP}]`;
    expect((await post(q)).body.meta.warnings).toBeUndefined();
    await givenTemplate(app, TEMPLATE);
    expect((await post(q)).body.meta.warnings).toMatchObject([{ code: 'unknown_node' }]);
  });
});
