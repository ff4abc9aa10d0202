import { beforeAll, describe, expect, it } from '@jest/globals';
import type { ReferenceData } from '../../../aql/evaluate/data.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import { BENCH_SYSTEM_ID, vitalSigns } from '../../../bench/vital-signs.js';
import { explainPipeline } from '../../../models/cross-collection/run-pipeline.js';
import { O, SYS } from '../../support/aql/cases/aql-case.js';
import { prepareCase, type PreparedCase } from '../../support/aql/cases/prepare.js';
import { pipelineRows, planOf } from '../../support/aql/pipeline.js';
import { useOwnDatabase } from '../../support/database.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';

const PAGE = 7;
const DAYS = 3;
const SYSTEM = { systemId: BENCH_SYSTEM_ID };
const ORDER = 'ORDER BY c/context/start_time DESC';

/** Vital signs with only a few different start times and times of creation. */
function tied(): ReferenceData {
  const { ehrs, versions } = vitalSigns({ ehrs: 50, compositionsPerEhr: 5, seed: 1 });
  const day = (index: number): string => `2024-01-0${1 + (index % DAYS)}T00:00:00.000Z`;
  return {
    ehrs: ehrs.map((ehr, index) => ({ ...ehr, timeCreated: new Date(day(index)) })),
    versions: versions.map((version, index) =>
      version.type === 'COMPOSITION' ? { ...version, data: startingAt(version.data!, day(index)) } : version,
    ),
  };
}

function startingAt(composition: JsonObject, value: string): JsonObject {
  const start_time = { _type: 'DV_DATE_TIME', value };
  return { ...composition, context: { ...(composition['context'] as JsonObject), start_time } };
}

function prepared(aql: string): PreparedCase {
  return prepareCase({ group: 73, title: '', aql, expect: { count: 0 } }, BENCH_SYSTEM_ID);
}

async function rowsOf(aql: string): Promise<string[]> {
  const { scope, page } = prepared(aql);
  return (await pipelineRows(scope, page, SYSTEM)).map((row) => JSON.stringify(row));
}

/** All rows, page after page. */
async function pagesOf(aql: string): Promise<string[]> {
  const rows: string[] = [];
  for (let isLast = false; !isLast;) {
    const page = await rowsOf(`${aql} LIMIT ${PAGE} OFFSET ${rows.length}`);
    rows.push(...page);
    isLast = page.length < PAGE;
  }
  return rows;
}

useOwnDatabase();
beforeAll(() => loadReferenceData(tied()));

describe('pages over equal sort keys', () => {
  it.each([
    ['all compositions', 'FROM EHR e CONTAINS COMPOSITION c', ORDER],
    ['all compositions, oldest first', 'FROM EHR e CONTAINS COMPOSITION c', 'ORDER BY c/context/start_time'],
    ['one class', `FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O}`, ORDER],
    ['most readings', `FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O} WHERE ${SYS} > 100`, ORDER],
    ['few readings', `FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O} WHERE ${SYS} > 135`, ORDER],
    [
      'readings, highest first',
      `FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O} WHERE ${SYS} > 90`,
      `ORDER BY ${SYS} DESC`,
    ],
    ['EHRs', 'FROM EHR e CONTAINS COMPOSITION c', 'ORDER BY e/time_created DESC'],
    ['all compositions, in no order', 'FROM EHR e CONTAINS COMPOSITION c', ''],
    ['most readings, in no order', `FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O} WHERE ${SYS} > 100`, ''],
    ['few readings, in no order', `FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O} WHERE ${SYS} > 135`, ''],
    ['objects of EHRs, in no order', 'FROM EHR e CONTAINS EHR_STATUS c', ''],
  ])('hold each row once: %s', async (_, from, order) => {
    const columns = from.includes(O) ? `c/uid/value, ${SYS}` : 'c/uid/value';
    const all = await rowsOf(`SELECT ${columns} ${from}`);
    expect(all.length).toBeGreaterThan(PAGE);
    const paged = await pagesOf(`SELECT ${columns} ${from} ${order}`);
    expect([...paged].sort()).toEqual([...all].sort());
    expect(await pagesOf(`SELECT ${columns} ${from} ${order}`)).toEqual(paged);
  });

  it.each([ORDER, ''])('are read from the index, no more than are wanted: %s', async (order) => {
    const { scope, page } = prepared(`SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c ${order} LIMIT 5`);
    const explained = await explainPipeline(await planOf(scope, page, SYSTEM), { timeoutMs: 10_000 });
    const plan = JSON.stringify(explained);
    expect(plan).toContain('"indexName":"keys_1_start_-1');
    expect(plan).toContain('"totalDocsExamined":5,');
  });
});
