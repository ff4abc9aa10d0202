import { beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestListener } from 'node:http';
import request from 'supertest';
import { A } from '../../support/aql/cases/aql-case.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { HILLTOP, versionUid } from '../../support/hilltop/hilltop.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';

useDatabase();

let app: RequestListener;
beforeAll(async () => {
  await loadReferenceData(HILLTOP);
  app = testApp();
});

const post = (q: string, more: object = {}) =>
  request(app)
    .post('/rest/openehr/v1/query/aql')
    .send({ q, ...more });

describe('the rubric of a code', () => {
  const RUBRIC = 'v/commit_audit/change_type/defining_code/preferred_term';
  const FROM = 'FROM EHR e CONTAINS VERSION v[ALL_VERSIONS] CONTAINS COMPOSITION c';

  it('is answered, and WHERE, ORDER BY and groups can use it', async () => {
    const changed = await post(`SELECT v/uid/value, ${RUBRIC} ${FROM} WHERE ${RUBRIC} = 'modification'`);
    expect(changed.body.rows).toEqual([[versionUid('C2', 2), 'modification']]);
    const counted = await post(`SELECT ${RUBRIC} AS change, COUNT(*) AS n ${FROM} ORDER BY change`);
    expect(counted.body.rows).toEqual([
      ['creation', 6],
      ['modification', 1],
    ]);
  });
});

describe('variables', () => {
  it('are found in another case when only one is meant, else 400 names them', async () => {
    const found = await post(
      'SELECT C/name/value FROM EHR E CONTAINS COMPOSITION c ORDER BY C/name/value LIMIT 1',
    );
    expect(found.body).toMatchObject({
      rows: [['Control']],
      columns: [{ name: '#0', path: 'C/name/value' }],
    });
    const both = await post('SELECT AB FROM COMPOSITION ab CONTAINS OBSERVATION aB');
    expect(both.status).toBe(400);
    expect(both.body.message).toContain("line 1:8: 'AB' may be ab or aB");
  });
});

describe('SUM and AVG', () => {
  const FROM = `FROM ADMIN_ENTRY a[${A.allTypes}]`;
  const value = (...nodes: string[]): string => `a/data[at0001]/items[${nodes.join(' or ')}]/value`;

  it('add a proportion, an ordinal and a duration by their numbers', async () => {
    const sums = [value('at0004'), value('at0002'), value('at0005')].map((path) => `SUM(${path})`);
    expect((await post(`SELECT ${sums.join(', ')} ${FROM}`)).body.rows).toEqual([[0.25, 2, 93_600]]);
  });

  it('refuse points in time, and name the column and why', async () => {
    const { status, body } = await post(`SELECT AVG(${value('at0003', 'at0007')}) AS mean ${FROM}`);
    expect(status).toBe(400);
    expect(body.message).toContain('column mean cannot be summed, as it has a DV_DATE');
  });
});
