import { describe, expect, it } from '@jest/globals';
import type { LeafIndex } from '../../../aql/index/document.js';
import type { ExplainedStage } from '../../../aql/result/explain.js';
import { hintsOf } from '../../../aql/result/explain-hints.js';
import type { QueryPlan } from '../../../aql/plan/query-plan.js';
import { prepareCase } from '../../support/aql/cases/prepare.js';

const BP = 'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1';
const PLAN = { probe: null, inProcess: null, readsLeaves: false } as unknown as QueryPlan;
const VALUE = 'o/data[at0001]/events[at0006]/data[at0003]/items[at0004]/value';

function stage(examined: number, returned: number, name = 'IXSCAN'): ExplainedStage {
  return {
    stage: name,
    index: null,
    documentsExamined: examined,
    keysExamined: examined,
    returned,
    milliseconds: 1,
  };
}

interface Run {
  readonly from?: string;
  readonly plan?: Partial<QueryPlan>;
  readonly stages?: readonly ExplainedStage[];
  readonly leafIndex?: LeafIndex;
  readonly subsumption?: boolean;
}

function hints(where: string, run: Run = {}) {
  const { from = `OBSERVATION o[${BP}]`, plan = {}, stages = [stage(9604, 12)] } = run;
  const { leafIndex = 'all', subsumption = false } = run;
  const aql = `SELECT o/name/value FROM ${from}${where === '' ? '' : ` WHERE ${where}`}`;
  const { scope } = prepareCase({ group: 0, title: '', aql, expect: { count: 0 } }, 'local.cdr');
  return hintsOf(scope, { ...PLAN, ...plan }, stages, { leafIndex, subsumption, systemId: 'local.cdr' });
}

describe('the advice of explain', () => {
  it.each<[title: string, where: string, expected: readonly [reason: string, detail: string], run?: Run]>([
    [
      'nodes without at-code',
      'o/data[at0001]/events/data/items[at0004]/value/magnitude > 140',
      ['at_code', 'events, data'],
    ],
    [
      'what an EHR says of itself',
      "e/ehr_status/subject/external_ref/namespace = 'a'",
      ['ending', 'ehr_status/subject/external_ref/namespace'],
      { from: `EHR e CONTAINS OBSERVATION o[${BP}]` },
    ],
    ['no archetype', `${VALUE}/magnitude > 140`, ['archetype', 'o'], { from: 'OBSERVATION o' }],
    ['another path', `${VALUE}/magnitude > ${VALUE}/precision`, ['no_literal', '']],
    ['an attribute that has no leaf', `${VALUE}/units = 'mm[Hg]'`, ['ending', 'value/units']],
    ['a range of texts', `${VALUE}/value > 'm'`, ['ending', 'value/value']],
    ['!=', `${VALUE}/magnitude != 140`, ['operator', '!=']],
    ['LIKE', `${VALUE}/value LIKE 'a*'`, ['operator', 'LIKE']],
    ['NOT', `NOT ${VALUE}/magnitude > 140`, ['operator', 'NOT']],
    ['one side of an OR', `(${VALUE}/magnitude > 140 OR ${VALUE}/units = 'x')`, ['or', '']],
    ['a database without leaves', `${VALUE}/magnitude > 140`, ['off', ''], { leafIndex: 'none' }],
    ['archetypes with their children', `${VALUE}/magnitude > 140`, ['off', ''], { subsumption: true }],
  ])('names the condition that no index serves, and why: %s', (_, where, [reason, detail], run = {}) => {
    const [hint] = hints(where, run);
    expect(hint).toMatchObject({
      code: `waste_${reason}`,
      values: { examined: 9604, rows: 12, detail },
    });
    expect(hint!.message).toMatch(/^reads 9604 documents for 12 rows because no index serves /);
    expect(hint!.message).toContain(String(hint!.values['condition']));
  });

  it('is of the condition that is easiest to mend, where several use no index', () => {
    const bare = 'o/data[at0001]/events/data/items[at0004]/value/magnitude > 140';
    const [hint] = hints(`${VALUE}/units = 'x' AND ${bare} AND ${VALUE}/magnitude > 100`);
    expect(hint!.values['condition']).toBe(bare);
    expect(hint!.message).toContain('with one at each node this condition would use the index');
  });

  it('says that WHERE is missing, or too wide', () => {
    expect(hints('')).toMatchObject([{ code: 'waste_no_where' }]);
    const from = `EHR e CONTAINS OBSERVATION o[${BP}]`;
    const fixed = "e/ehr_id/value = '7d44b88c-4199-4bad-97dc-d78268e01398'";
    expect(hints(fixed, { from })).toMatchObject([{ code: 'waste_no_where' }]);
    expect(hints(`${VALUE}/magnitude > 1`)).toMatchObject([{ code: 'waste_wide' }]);
  });

  it('is silent of what reads little, or gives what it reads', () => {
    for (const stages of [[stage(900, 1)], [stage(9604, 9000)]]) expect(hints('', { stages })).toEqual([]);
  });

  it('tells of whole collections, of the server, of the index, of old versions, and of many rows', () => {
    const codes = (run: Run): string[] =>
      hints('', { stages: [stage(1, 1)], ...run }).map(({ code }) => code);
    expect(codes({ stages: [stage(1, 1, 'COLLSCAN')] })).toEqual(['whole_read']);
    expect(codes({ stages: [stage(20_000, 20_000)] })).toEqual(['all_rows']);
    expect(codes({ plan: { inProcess: { kind: 'distinct' } as never } })).toEqual(['in_process_distinct']);
    expect(codes({ plan: { inProcess: { kind: 'evaluate' } as never } })).toEqual(['in_process_evaluate']);
    expect(codes({ plan: { readsLeaves: true } })).toEqual(['reads_leaves']);
    expect(codes({ plan: { probe: { documents: 50 } as never } })).toEqual(['probe']);
    expect(codes({ from: `VERSION v[ALL_VERSIONS] CONTAINS OBSERVATION o[${BP}]` })).toEqual(['superseded']);
  });
});
