import { isJsonObject } from '../../openehr/base/json.js';
import type { Aggregate } from '../syntax/ast.js';
import { canonicalText } from './canonical-text.js';
import { compareForOrder } from './order.js';
import { plain, readingOf, type Found } from './value.js';

/** An aggregate over the values of a group that are not NULL (docs/spec/aql.md#aggregates). */
export function aggregate({ name, distinct }: Aggregate, values: readonly Found[]): Found | null {
  switch (name) {
    case 'COUNT':
      return plain(distinct ? new Set(values.map(({ value }) => canonicalText(value))).size : values.length);
    case 'MIN':
      return extreme(values, -1);
    case 'MAX':
      return extreme(values, 1);
    case 'SUM':
    case 'AVG': {
      const numbers = values.map(numberOf).filter((number) => number !== null);
      if (numbers.length === 0) return null;
      const sum = numbers.reduce((total, number) => total + number, 0);
      return plain(name === 'SUM' ? sum : sum / numbers.length);
    }
  }
}

/** The least or greatest value itself; objects stay objects; what never compares does not take part. */
function extreme(values: readonly Found[], sign: 1 | -1): Found | null {
  return values
    .filter((value) => readingOf(value) !== null)
    .reduce<Found | null>(
      (best, value) => (best === null || compareForOrder(value, best) * sign > 0 ? value : best),
      null,
    );
}

/** Numbers, and DV_QUANTITY and DV_COUNT by their magnitude; all else is left out. */
function numberOf({ value }: Found): number | null {
  if (typeof value === 'number') return value;
  if (!isJsonObject(value)) return null;
  const isSummable = value['_type'] === 'DV_QUANTITY' || value['_type'] === 'DV_COUNT';
  const magnitude = value['magnitude'];
  return isSummable && typeof magnitude === 'number' ? magnitude : null;
}
