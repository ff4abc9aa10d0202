import { expect, it } from '@jest/globals';
import type { Condition } from '../../../policy/condition.js';
import { prepareCase } from '../../support/aql/cases/prepare.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';
import { pipelineRows, planOf } from '../../support/aql/pipeline.js';
import { randomCasesOverOneData } from '../../support/aql/random.js';
import { RANDOM_SYSTEM_ID } from '../../support/aql/random-data.js';
import { useDatabase } from '../../support/database.js';

useDatabase();

const AQL = 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c';
const { scope, page } = prepareCase(
  { group: 86, title: '', aql: AQL, options: {}, expect: { count: 0 } },
  RANDOM_SYSTEM_ID,
);
const [first] = randomCasesOverOneData(7, 4, 1);
const ehrs = first!.data.ehrs.map((ehr) => ({ ...ehr, isQueryable: true, isMerged: false }));
const data = { ...first!.data, ehrs };
const [source, target] = ehrs.map(({ ehrId }) => ehrId) as [string, string];
const rules = { systemId: RANDOM_SYSTEM_ID };

const ofEhr = (id: string): Condition => ({ kind: 'equals', attribute: 'ehr_id', among: [id] });
const permitted = (id: string) => ({ ehr: ofEhr(id), version: ofEhr(id) });
const rowsOf = async (options: Parameters<typeof pipelineRows>[2]) =>
  (await pipelineRows(scope, page, options)).map(([uid]) => JSON.stringify(uid)).sort();

it('what a merge in steps still has to move is permitted as what it belongs to already', async () => {
  await loadReferenceData(data);
  const own = await rowsOf({ ...rules, permitted: permitted(target) });
  const others = await rowsOf({ ...rules, permitted: permitted(source) });
  expect(own.length * others.length).toBeGreaterThan(0);
  const merges = { targets: new Map([[source, target]]), queryable: new Map([[source, true]]) };
  const both = await rowsOf({ ...rules, merges, permitted: permitted(target) });
  expect(both).toEqual([...own, ...others].sort());
  expect(await rowsOf({ ...rules, merges, permitted: permitted(source) })).toEqual([]);
});

it('a plan says that policies narrowed it, and without any it is as it was', async () => {
  const narrowed = await planOf(scope, page, { ...rules, permitted: permitted(target) });
  expect(narrowed.applied).toContain('permit');
  expect((await planOf(scope, page, rules)).applied).not.toContain('permit');
});
