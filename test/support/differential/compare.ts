import { canonicalText } from '../../../aql/reference/canonical-text.js';
import { isJsonObject, type JsonValue } from '../../../base/json.js';

/** Rows in order, each with the number of its group of equal ORDER BY keys. */
export type OrderedRows = readonly { readonly cells: readonly JsonValue[]; readonly group: number }[];

/**
 * What is wrong with a page of rows, null when nothing is: each row must belong to the group that stands at its
 * position, and no row may come more often than it is there. Sums may differ in their last digits.
 */
export function pageFault(
  rows: readonly (readonly JsonValue[])[],
  ordered: OrderedRows,
  page: { readonly offset: number; readonly limit: number | null },
): string | null {
  const wanted = ordered.slice(page.offset, page.limit === null ? undefined : page.offset + page.limit);
  if (rows.length !== wanted.length) return `${rows.length} rows instead of ${wanted.length}`;
  const left = new Map<string, number>();
  for (const { cells, group } of ordered) {
    const key = `${group} ${rowText(cells)}`;
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  for (const [index, row] of rows.entries()) {
    const key = `${wanted[index]?.group ?? ''} ${rowText(row)}`;
    const count = left.get(key) ?? 0;
    if (count === 0) return `row ${index} is ${rowText(row)}`;
    left.set(key, count - 1);
  }
  return null;
}

function rowText(cells: readonly JsonValue[]): string {
  return canonicalText(cells.map(rounded));
}

function rounded(value: JsonValue): JsonValue {
  if (typeof value === 'number') return Number(value.toPrecision(12));
  if (Array.isArray(value)) return value.map(rounded);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rounded(member)]));
}
