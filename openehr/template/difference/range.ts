import type { Interval } from '../opt/constraint.js';

/** An interval that holds every number. */
export const UNBOUNDED: Interval<number> = {
  lower: null,
  upper: null,
  lowerIncluded: true,
  upperIncluded: true,
};

/** The same whole numbers by bounds that belong to the interval. */
export function wholeRange({
  lower,
  upper,
  lowerIncluded,
  upperIncluded,
}: Interval<number>): Interval<number> {
  return {
    lower: lower === null ? null : lowerIncluded ? Math.ceil(lower) : Math.floor(lower) + 1,
    upper: upper === null ? null : upperIncluded ? Math.floor(upper) : Math.ceil(upper) - 1,
    lowerIncluded: true,
    upperIncluded: true,
  };
}

/** Whether every number of one interval is one of the other. */
export function isRangeWithin(inner: Interval<number>, outer: Interval<number>): boolean {
  return isEmptyRange(inner) || (isLowerWithin(inner, outer) && isUpperWithin(inner, outer));
}

function isEmptyRange({ lower, upper, lowerIncluded, upperIncluded }: Interval<number>): boolean {
  if (lower === null || upper === null) return false;
  return lower > upper || (lower === upper && !(lowerIncluded && upperIncluded));
}

function isLowerWithin(inner: Interval<number>, outer: Interval<number>): boolean {
  if (outer.lower === null) return true;
  if (inner.lower === null || inner.lower < outer.lower) return false;
  return inner.lower > outer.lower || outer.lowerIncluded || !inner.lowerIncluded;
}

function isUpperWithin(inner: Interval<number>, outer: Interval<number>): boolean {
  if (outer.upper === null) return true;
  if (inner.upper === null || inner.upper > outer.upper) return false;
  return inner.upper < outer.upper || outer.upperIncluded || !inner.upperIncluded;
}

/** Numbers of which one is in the first interval and not in the second, where there is one. */
export function rangeSamples(before: Interval<number>, after: Interval<number>): number[] {
  const bounds = [before.lower, before.upper, after.lower, after.upper].filter((bound) => bound !== null);
  const near = bounds.flatMap((bound) => [bound, bound - 1, bound + 1]);
  const between = [
    middle(before.lower, after.lower),
    middle(before.upper, after.upper),
    middle(before.lower, before.upper),
  ].filter((number) => number !== null);
  return [...near, ...between, 0, 1];
}

function middle(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : (one + other) / 2;
}
