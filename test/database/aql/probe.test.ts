import { beforeAll, describe, expect, it } from '@jest/globals';
import { explainedStages } from '../../../aql/result/explain.js';
import type { QueryPlan } from '../../../aql/plan/query-plan.js';
import type { JsonValue } from '../../../openehr/base/json.js';
import { vitalSigns } from '../../../bench/vital-signs.js';
import { explainPipeline, runPipelineRows } from '../../../models/cross-collection/run-pipeline.js';
import { O, SYS } from '../../support/aql/cases/aql-case.js';
import { prepareCase } from '../../support/aql/cases/prepare.js';
import { planOf } from '../../support/aql/pipeline.js';
import { useOwnDatabase } from '../../support/database.js';
import { SYSTEM_ID } from '../../support/hilltop/hilltop.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';

useOwnDatabase();

beforeAll(() => loadReferenceData(vitalSigns({ ehrs: 20, compositionsPerEhr: 20, seed: 1 })));

const LIMITS = { timeoutMs: 20_000 };

function planned(select: string, rest: string): Promise<QueryPlan> {
  const aql = `SELECT ${select} FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O} ${rest}`;
  const { scope, page } = prepareCase({ group: 0, title: '', aql, expect: { count: 0 } }, SYSTEM_ID);
  return planOf(scope, page, { systemId: SYSTEM_ID });
}

async function rowsOf(plan: QueryPlan): Promise<readonly (readonly JsonValue[])[]> {
  return (await runPipelineRows(plan, LIMITS)).map(({ row }) => row);
}

const PROBED: readonly (readonly [name: string, select: string, rest: string])[] = [
  ['the highest values', `c/uid/value, ${SYS} AS sys`, `WHERE ${SYS} > 110 ORDER BY sys DESC LIMIT 20`],
  ['a later page', `c/uid/value, ${SYS} AS sys`, `WHERE ${SYS} > 110 ORDER BY sys DESC LIMIT 7 OFFSET 12`],
  [
    'more rows than there are',
    `c/uid/value, ${SYS} AS sys`,
    `WHERE ${SYS} > 140 ORDER BY sys DESC LIMIT 100`,
  ],
  ['few documents', `c/uid/value, ${SYS} AS sys`, `WHERE ${SYS} > 160 ORDER BY sys DESC LIMIT 20`],
  ['no document', `c/uid/value, ${SYS} AS sys`, `WHERE ${SYS} > 900 ORDER BY sys DESC LIMIT 20`],
  ['an upper bound', `c/uid/value, ${SYS} AS sys`, `WHERE ${SYS} < 130 ORDER BY sys DESC LIMIT 20`],
  [
    'a condition that most documents fail',
    `c/uid/value, ${SYS} AS sys`,
    `WHERE ${SYS} > 100 AND c/composer/name = 'Dr 7' ORDER BY sys DESC LIMIT 20`,
  ],
  ['whole objects', `c, o, ${SYS} AS sys`, `WHERE ${SYS} > 110 ORDER BY sys DESC LIMIT 5`],
  [
    'a value that is not selected, and a second key',
    'c/uid/value',
    `WHERE ${SYS} > 110 ORDER BY ${SYS} DESC, c/composer/name LIMIT 20`,
  ],
];

describe('ORDER BY … DESC LIMIT over a leaf that WHERE compares', () => {
  it.each(PROBED.map(([name, select, rest]) => ({ name, select, rest })))(
    '$name: the rows are those of the whole pipeline',
    async ({ select, rest }) => {
      const plan = await planned(select, rest);
      expect(plan.probe).not.toBeNull();
      expect(await rowsOf(plan)).toEqual(await rowsOf({ ...plan, probe: null }));
    },
  );

  it('reads no more documents than the probe may', async () => {
    const { probe, collection } = await planned(SYS, `WHERE ${SYS} > 100 ORDER BY ${SYS} DESC LIMIT 20`);
    const explained = await explainPipeline({ collection, pipeline: probe?.pipeline ?? [] }, LIMITS);
    const [first] = explainedStages(JSON.parse(JSON.stringify(explained)) as JsonValue);
    expect(first?.index).toMatch(/lv\.k/);
    expect(first?.documentsExamined).toBe(50);
  });

  it('explains what is read in the end', async () => {
    const plan = await planned(SYS, `WHERE ${SYS} > 100 ORDER BY ${SYS} DESC LIMIT 5`);
    const examined = async (each: QueryPlan): Promise<number> => {
      const explained = JSON.parse(JSON.stringify(await explainPipeline(each, LIMITS))) as JsonValue;
      return explainedStages(explained)[0]?.documentsExamined ?? 0;
    };
    expect(await examined(plan)).toBeLessThan(20);
    expect(await examined({ ...plan, probe: null })).toBeGreaterThan(100);
  });

  it('runs the whole pipeline when the rows of the probe are gone by then', async () => {
    const plan = await planned(SYS, `WHERE ${SYS} > 100 ORDER BY ${SYS} DESC LIMIT 20`);
    if (plan.probe === null) throw new Error('there is no probe');
    const pipeline = [...plan.probe.pipeline, { $set: { top: 10_000 } }];
    const rows = await rowsOf({ ...plan, probe: { ...plan.probe, pipeline } });
    expect(rows).toEqual(await rowsOf({ ...plan, probe: null }));
  });

  it.each([
    ['ascending order', SYS, `WHERE ${SYS} > 110 ORDER BY ${SYS} LIMIT 20`],
    ['all rows', SYS, `WHERE ${SYS} > 110 ORDER BY ${SYS} DESC`],
    ['very many rows', SYS, `WHERE ${SYS} > 110 ORDER BY ${SYS} DESC LIMIT 101`],
    ['another path', SYS, `WHERE ${SYS} > 110 ORDER BY c/uid/value DESC LIMIT 20`],
    ['no condition', SYS, `ORDER BY ${SYS} DESC LIMIT 20`],
    ['one value', SYS, `WHERE ${SYS} = 120 ORDER BY ${SYS} DESC LIMIT 20`],
    ['an alternative', SYS, `WHERE ${SYS} > 110 OR EXISTS c/context ORDER BY ${SYS} DESC LIMIT 20`],
  ])('%s: there is nothing to probe', async (_name, select, rest) => {
    expect((await planned(select, rest)).probe).toBeNull();
  });
});
