import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { evaluateQuery } from '../../../aql/evaluate/evaluate.js';
import { resolveScope } from '../../../aql/semantics/scope/scope.js';
import type { AggregateName, BoundQuery, ColumnExpression, IdentifiedPath } from '../../../aql/syntax/ast.js';
import type { JsonValue } from '../../../openehr/base/json.js';
import { prepareCase } from '../../support/aql/cases/prepare.js';
import { differenceOf } from '../../support/aql/compare.js';
import { randomCases, type RandomCase } from '../../support/aql/random.js';
import { RANDOM_SYSTEM_ID } from '../../support/aql/random-data.js';
import { naiveDistinct, naiveGroups, type NaiveAggregate } from '../../support/aql/naive-grouping.js';

const AT = { line: 1, column: 1 };
const ALL = { top: null, offset: 0, limit: null };

function queryOf({ aql, ehrId }: RandomCase): BoundQuery {
  const options = ehrId === null ? {} : { ehrId };
  return prepareCase({ group: 86, title: '', aql, options, expect: { count: 0 } }, RANDOM_SYSTEM_ID).scope
    .query;
}

/** The FROM and WHERE of a query with other columns. */
function selecting(
  query: BoundQuery,
  expressions: readonly ColumnExpression[],
  distinct = false,
): BoundQuery {
  const columns = expressions.map((expression) => ({ expression, alias: null, text: '', at: AT }));
  return { ...query, select: { distinct, top: null, columns }, orderBy: [], limit: null };
}

function evaluated(query: BoundQuery, { data, ehrId, asOf, subsumption }: RandomCase) {
  const options = { systemId: RANDOM_SYSTEM_ID, now: new Date(0), ehrId, asOf, subsumption };
  return evaluateQuery(resolveScope(query, { ehrId }), data, options);
}

function pathsOf({ select }: BoundQuery): readonly IdentifiedPath[] {
  return select.columns.flatMap(({ expression }) => (expression.kind === 'path' ? [expression] : []));
}

/** Every aggregate whose argument is a column; those of numbers only where all values are numbers. */
function aggregatesOf(rows: readonly (readonly JsonValue[])[], columns: number): readonly NaiveAggregate[] {
  const found: NaiveAggregate[] = [{ name: 'COUNT', distinct: false, column: null }];
  for (let column = 0; column < columns; column++) {
    for (const distinct of [false, true]) found.push({ name: 'COUNT', distinct, column });
    const isNumeric = rows.every((row) => row[column] === null || typeof row[column] === 'number');
    const names: readonly AggregateName[] = isNumeric ? ['MIN', 'MAX', 'SUM', 'AVG'] : [];
    for (const name of names) found.push({ name, distinct: false, column });
  }
  return found;
}

describe('grouping in the evaluator', () => {
  it('is that of a naive reading, of objects too', () => {
    let withObjects = 0;
    fc.assert(
      fc.property(randomCases, fc.integer({ min: 0, max: 2 }), (random, most) => {
        const query = queryOf(random);
        const paths = pathsOf(query);
        if (paths.length === 0) return;
        const { rows } = evaluated(selecting(query, paths), random);
        const keys = Math.min(most, paths.length);
        const aggregates = aggregatesOf(rows, paths.length);
        const grouped = selecting(query, [
          ...paths.slice(0, keys),
          ...aggregates.map(({ name, distinct, column }) => {
            const argument = column === null ? null : (paths[column] ?? null);
            return { kind: 'aggregate' as const, name, distinct, argument, at: AT };
          }),
        ]);
        const found = evaluated(grouped, random);
        expect(differenceOf(found, ALL, naiveGroups(rows, keys, aggregates))).toBeNull();
        if (rows.some(([cell]) => typeof cell === 'object' && cell !== null)) withObjects++;
      }),
      { numRuns: 150, seed: 86 },
    );
    expect(withObjects).toBeGreaterThan(10);
  });

  it('finds the different rows that a naive reading finds', () => {
    fc.assert(
      fc.property(randomCases, (random) => {
        const query = queryOf(random);
        const paths = pathsOf(query);
        if (paths.length === 0) return;
        const { rows } = evaluated(selecting(query, paths), random);
        const found = evaluated(selecting(query, paths, true), random);
        expect(differenceOf(found, ALL, naiveDistinct(rows))).toBeNull();
      }),
      { numRuns: 80, seed: 87 },
    );
  });
});
