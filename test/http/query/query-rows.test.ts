import { beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestListener } from 'node:http';
import request from 'supertest';
import { A, P } from '../../support/aql/cases/aql-case.js';
import { rowCases } from '../../support/aql/cases/row-cases.js';
import { ROW_DATA } from '../../support/aql/cases/row-data.js';
import { describeCases } from '../../support/aql/cases/run-cases.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';

useDatabase();

let app: RequestListener;
beforeAll(async () => {
  await loadReferenceData(ROW_DATA);
  app = testApp();
});

const post = (q: string) => request(app).post('/rest/openehr/v1/query/aql').send({ q });

describeCases(rowCases, async ({ aql }) => {
  const { body, status } = await post(aql);
  expect(status).toBe(200);
  return body;
});

describe('rows of the three ELEMENTs of an event, of which one is null-flavoured', () => {
  const items =
    "p/data[at0001]/events[at0006 and time/value < '2021-03-01T09:00:00Z']/data[at0003]/items[at0008]";

  it('are three, whichever of their attributes is asked', async () => {
    for (const path of ['value/magnitude', 'value/units', 'value', 'null_flavour/value', 'name/value', '']) {
      const { body } = await post(`SELECT ${items}${path === '' ? '' : `/${path}`} FROM ${P}`);
      expect(body.rows).toHaveLength(3);
    }
    const { body } = await post(`SELECT ${items}/value/magnitude FROM ${P}`);
    expect(body.rows).toEqual([[22], [null], [82]]);
  });

  it('are counted and exported', async () => {
    const counted = await post(
      `SELECT o/name/value, COUNT(*), COUNT(${items.replace('p/', 'o/')}/value/magnitude) FROM OBSERVATION o[${A.pulse}]`,
    );
    expect(counted.body.rows).toEqual([['Pulse', 3, 2]]);
    const csv = await post(`SELECT ${items}/value/magnitude AS rate FROM ${P}`).set('Accept', 'text/csv');
    expect(csv.text.trimEnd().split(/\r?\n/)).toEqual(['rate', '22', '', '82']);
  });
});
