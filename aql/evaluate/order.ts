import type { Domain } from '../semantics/scope-types.js';
import { compareKeys, readingOf, type Found } from './value.js';

/**
 * Order of the domains in a column of mixed types (docs/spec/aql.md#order-by); what never compares comes
 * after them.
 */
const RANK: Readonly<Record<Domain, number>> = {
  number: 0,
  duration: 1,
  time: 2,
  date: 3,
  instant: 4,
  boolean: 5,
  text: 6,
};

/** Ascending order of two cells, NULL last; what never compares is equal among itself. */
export function compareForOrder(a: Found | null, b: Found | null): number {
  const ranks = rankOf(a) - rankOf(b);
  if (ranks !== 0) return ranks;
  const [left, right] = [readingOf(a), readingOf(b)];
  return left === null || right === null ? 0 : compareKeys(left.key, right.key);
}

function rankOf(found: Found | null): number {
  if (found === null) return 8;
  const reading = readingOf(found);
  return reading === null ? 7 : RANK[reading.domain];
}
