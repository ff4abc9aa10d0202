import type { ReferenceResult } from '../../../aql/evaluate/evaluate.js';
import type { Page } from '../../../aql/semantics/page.js';
import { canonicalText } from '../../../aql/evaluate/canonical-text.js';
import { isJsonObject, type JsonValue } from '../../../openehr/base/json.js';

type Row = readonly JsonValue[];

/**
 * What is wrong with the rows of a pipeline, null when they are right: each page position must hold a row of
 * the group of equal ORDER BY keys that stands there, no row more often than the evaluator has it. Real
 * numbers may differ in the last digits, since sums are built in any order.
 */
export function differenceOf(
  reference: ReferenceResult,
  page: Pick<Page, 'top' | 'offset' | 'limit'>,
  rows: readonly Row[],
): string | null {
  const { ordered } = reference;
  const [from, to] = window(ordered.length, page);
  if (rows.length !== to - from)
    return `expected ${to - from} rows, found ${rows.length}${sample(reference, rows)}`;
  const pools = new Map<number, Map<string, number>>();
  for (const { cells, group } of ordered) {
    const pool = pools.get(group) ?? new Map<string, number>();
    pools.set(group, pool);
    pool.set(rowKey(cells), (pool.get(rowKey(cells)) ?? 0) + 1);
  }
  for (const [index, row] of rows.entries()) {
    const pool = pools.get(ordered[from + index]?.group ?? -1);
    const left = pool?.get(rowKey(row)) ?? 0;
    if (left === 0) return `row ${index} is not expected there: ${rowKey(row)}${sample(reference, rows)}`;
    pool?.set(rowKey(row), left - 1);
  }
  return null;
}

/** First and last position (exclusive) of the page in all rows. */
function window(
  count: number,
  { top, offset, limit }: Pick<Page, 'top' | 'offset' | 'limit'>,
): [number, number] {
  const start = top?.backward === true ? Math.max(0, count - top.count) : 0;
  const end = top === null ? count : Math.min(count, start + top.count);
  const from = Math.min(end, start + offset);
  return [from, limit === null ? end : Math.min(end, from + limit)];
}

function rowKey(row: Row): string {
  return canonicalText(row.map(rounded));
}

function rounded(value: JsonValue): JsonValue {
  if (typeof value === 'number') return Number(value.toPrecision(12));
  if (Array.isArray(value)) return value.map(rounded);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rounded(member)]));
}

function sample(reference: ReferenceResult, rows: readonly Row[]): string {
  const shown = (list: readonly Row[]): string => list.slice(0, 8).map(rowKey).join('\n  ').slice(0, 2000);
  return `\nexpected\n  ${shown(reference.ordered.map(({ cells }) => cells))}\nfound\n  ${shown(rows)}`;
}
