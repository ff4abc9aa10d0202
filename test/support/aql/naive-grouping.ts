import type { JsonValue } from '../../../openehr/base/json.js';
import type { AggregateName } from '../../../aql/syntax/ast.js';

type Row = readonly JsonValue[];

/** An aggregate over a column of ungrouped rows; null: COUNT(*). */
export interface NaiveAggregate {
  readonly name: AggregateName;
  readonly distinct: boolean;
  readonly column: number | null;
}

/**
 * GROUP BY as AQL means it, written a second time to check the evaluator, which production uses too: rows with equal
 * cells in the first `keys` columns are a group; each becomes those cells and one cell for each aggregate.
 */
export function naiveGroups(
  rows: readonly Row[],
  keys: number,
  aggregates: readonly NaiveAggregate[],
): Row[] {
  const groups: Row[][] = keys === 0 ? [[...rows]] : [];
  if (keys > 0)
    for (const row of rows) {
      const same = groups.find(([first]) => isSame(first?.slice(0, keys) ?? [], row.slice(0, keys)));
      if (same === undefined) groups.push([row]);
      else same.push(row);
    }
  return groups.map((group) => [
    ...(group[0]?.slice(0, keys) ?? []),
    ...aggregates.map((aggregate) => naiveAggregate(aggregate, group)),
  ]);
}

/** The different rows. */
export function naiveDistinct(rows: readonly Row[]): Row[] {
  return naiveGroups(rows, rows[0]?.length ?? 1, []);
}

function naiveAggregate({ name, distinct, column }: NaiveAggregate, group: readonly Row[]): JsonValue {
  if (column === null) return group.length;
  const values = group.map((row) => row[column] ?? null).filter((value) => value !== null);
  if (name === 'COUNT')
    return distinct
      ? values.filter((value, i) => values.findIndex((each) => isSame(each, value)) === i).length
      : values.length;
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === 0) return null;
  if (name === 'MIN') return Math.min(...numbers);
  if (name === 'MAX') return Math.max(...numbers);
  const sum = numbers.reduce((total, number) => total + number, 0);
  return name === 'SUM' ? sum : sum / numbers.length;
}

/** Equality of JSON values, whatever the order of their members. */
function isSame(a: JsonValue | Row, b: JsonValue | Row): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = Object.entries<JsonValue>(a);
  const right = new Map(Object.entries<JsonValue>(b));
  return (
    left.length === right.size &&
    left.every(([name, value]) => {
      const other = right.get(name);
      return other !== undefined && isSame(value, other);
    })
  );
}
