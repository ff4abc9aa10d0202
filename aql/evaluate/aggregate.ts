import { isJsonObject, type JsonValue } from '../../openehr/base/json.js';
import { counted, step } from '../../openehr/base/work.js';
import { orderedValue } from '../../openehr/rm/ordered-value.js';
import { DURATION, isSummable, POINTS_IN_TIME, refusedTotal } from '../semantics/summable.js';
import type { Aggregate } from '../syntax/ast.js';
import type { Identities } from './canonical-text.js';
import { compareForOrder } from './order.js';
import { plain, readingOf, type Found } from './value.js';

/**
 * An aggregate over the values of a group that are not NULL (docs/spec/aql.md#aggregates). `column`: its name.
 * @throws invalid for a sum of what cannot be added
 */
export function aggregate(
  { name, distinct }: Aggregate,
  values: readonly Found[],
  column: string,
  identities: Identities,
): Found | null {
  step(values.length);
  switch (name) {
    case 'COUNT':
      return plain(
        distinct ? new Set(counted(values).map(({ value }) => identities.of(value))).size : values.length,
      );
    case 'MIN':
      return extremeValue(values, -1);
    case 'MAX':
      return extremeValue(values, 1);
    case 'SUM':
    case 'AVG':
      return sumOrAverage(name, values, column);
  }
}

/** The least or greatest value itself; objects stay objects; what never compares does not take part. */
function extremeValue(values: readonly Found[], sign: 1 | -1): Found | null {
  return counted(values)
    .filter((value) => readingOf(value) !== null)
    .reduce<Found | null>(
      (best, value) => (best === null || compareForOrder(value, best) * sign > 0 ? value : best),
      null,
    );
}

function sumOrAverage(name: 'SUM' | 'AVG', values: readonly Found[], column: string): Found | null {
  const point = counted(values)
    .map(({ value }) => rmClassName(value))
    .filter((type) => POINTS_IN_TIME.includes(type));
  const last = point.sort().at(-1);
  if (last !== undefined) throw refusedTotal(column, last);
  const numbers = counted(values)
    .map(summand)
    .filter((number) => number !== null);
  const seconds = counted(values)
    .map(durationSeconds)
    .filter((number) => number !== null);
  if (numbers.length > 0 && seconds.length > 0) throw refusedTotal(column, DURATION);
  const added = [...numbers, ...seconds];
  if (added.length === 0) return null;
  const sum = counted(added).reduce((all, number) => all + number, 0);
  return plain(name === 'SUM' ? sum : sum / added.length);
}

/** A number, and the number of an object that has one; all else is left out. */
function summand({ value }: Found): number | null {
  if (typeof value === 'number') return value;
  return isJsonObject(value) && isSummable(rmClassName(value)) ? orderedValue(value) : null;
}

function durationSeconds({ value }: Found): number | null {
  return isJsonObject(value) && rmClassName(value) === DURATION ? orderedValue(value) : null;
}

function rmClassName(value: JsonValue): string {
  const type = isJsonObject(value) ? value['_type'] : null;
  return typeof type === 'string' ? type : '';
}
