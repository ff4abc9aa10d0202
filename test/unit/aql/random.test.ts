import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { evaluateQuery } from '../../../aql/evaluate/evaluate.js';
import { readRm } from '../../../openehr/rm/read.js';
import { validateRm } from '../../../openehr/rm/invariants/validate.js';
import { prepareCase } from '../../support/aql/cases/prepare.js';
import { differenceOf } from '../../support/aql/compare.js';
import { randomCases, type RandomCase } from '../../support/aql/random.js';
import { RANDOM_SYSTEM_ID } from '../../support/aql/random-data.js';

function evaluated(random: RandomCase): ReturnType<typeof evaluateQuery> {
  const options = random.ehrId === null ? {} : { ehrId: random.ehrId };
  const aqlCase = { group: 86, title: '', aql: random.aql, options, expect: { count: 0 } };
  const { scope, page } = prepareCase(aqlCase, RANDOM_SYSTEM_ID);
  const result = evaluateQuery(scope, random.data, {
    systemId: RANDOM_SYSTEM_ID,
    now: new Date(0),
    page,
    ehrId: random.ehrId,
    asOf: random.asOf,
    subsumption: random.subsumption,
  });
  expect(differenceOf(result, page, result.rows)).toBeNull();
  return result;
}

describe('random queries', () => {
  it('are valid, and a good part of them finds something', () => {
    let withRows = 0;
    fc.assert(
      fc.property(randomCases, (random) => {
        if (evaluated(random).ordered.length > 0) withRows++;
      }),
      { numRuns: 300, seed: 86 },
    );
    expect(withRows).toBeGreaterThan(100);
  });

  it('run over valid objects', () => {
    fc.assert(
      fc.property(randomCases, ({ data }) => {
        for (const { data: object, type } of data.versions) {
          if (object === null) continue;
          expect(readRm(object, type)).toEqual({ object, violations: [] });
          expect(validateRm(object)).toEqual([]);
        }
      }),
      { numRuns: 30, seed: 86 },
    );
  });
});

describe('the comparison of results', () => {
  const reference = {
    columns: [],
    rows: [],
    ordered: [
      { cells: [1, 'a'], group: 0 },
      { cells: [1, 'b'], group: 0 },
      { cells: [2, 'c'], group: 1 },
    ],
  };
  const all = { top: null, offset: 0, limit: null };

  it('takes rows with equal keys in any order', () => {
    expect(
      differenceOf(reference, all, [
        [1, 'b'],
        [1, 'a'],
        [2, 'c'],
      ]),
    ).toBeNull();
  });
  it('refuses a wrong order, a wrong row, a missing row and a row too often', () => {
    expect(
      differenceOf(reference, all, [
        [2, 'c'],
        [1, 'a'],
        [1, 'b'],
      ]),
    ).toContain('row 0');
    expect(
      differenceOf(reference, all, [
        [1, 'a'],
        [1, 'x'],
        [2, 'c'],
      ]),
    ).toContain('row 1');
    expect(
      differenceOf(reference, all, [
        [1, 'a'],
        [1, 'a'],
        [2, 'c'],
      ]),
    ).toContain('row 1');
    expect(differenceOf(reference, all, [[1, 'a']])).toContain('expected 3 rows');
  });
  it('takes either row of a group at the edge of a page', () => {
    expect(differenceOf(reference, { ...all, limit: 1 }, [[1, 'b']])).toBeNull();
    expect(differenceOf(reference, { ...all, offset: 2 }, [[2, 'c']])).toBeNull();
    expect(differenceOf(reference, { ...all, top: { count: 1, backward: true } }, [[2, 'c']])).toBeNull();
  });
});
