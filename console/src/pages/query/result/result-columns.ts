import { at, isObject } from '../../../api/json.js';
import type { Json, ResultSet } from '../../../api/types.js';
import { byEpoch, instantOf, instantText, type InstantText } from '../../../record/values/instant.js';
import { PLAIN_READER } from '../../../record/values/plain-reader.js';
import { wholeText, type ValueReader } from '../../../record/values/value-reader.js';
import { valueText } from '../../../record/values/value-text.js';

/** Rows that are asked for where the query sets no limit: what a grid still holds easily. */
export const MOST_ROWS = 100_000;

/** What the values of a column are. */
type ColumnKind = 'number' | 'time' | 'text' | 'object';

/** A column of a result with what was seen in it. */
export interface ResultColumn {
  readonly name: string;
  readonly index: number;
  readonly kind: ColumnKind;
  /** Of the path that it was asked by, '' for others. */
  readonly path: string;
  /** Pixels that most of its values need. */
  readonly width: number;
}

/** Of a character, on average, with what stands around a text. */
const CHARACTER_PX = 7.3;
const PADDING_PX = 26;
const LEAST_PX = 72;
export const MOST_PX = 420;

/** Rows that are looked at to find what a column holds. */
export const SAMPLE = 200;

/** The columns of a result, as wide as what `reader` sees of them. */
export function columnsOf({ columns, rows }: ResultSet, reader: ValueReader = PLAIN_READER): ResultColumn[] {
  return columns.map(({ name, path = '' }, index) => {
    const values = rows.slice(0, SAMPLE).map((row) => row[index] ?? null);
    const kind = kindOf(values);
    const longest = values.reduce<number>(
      (most, value) => Math.max(most, shownText(value, kind, reader).text.length),
      name.length + 2,
    );
    const width = Math.min(MOST_PX, Math.max(LEAST_PX, Math.ceil(longest * CHARACTER_PX + PADDING_PX)));
    return { name, index, path, width, kind };
  });
}

/** Where a cell leads: the EHR or the COMPOSITION that its text is the id of; `ehr`: the column of the row's EHR. */
export function targetOf(
  row: readonly Json[],
  { index, path }: ResultColumn,
  ehr: ResultColumn | undefined,
): { readonly ehrId: string; readonly uid?: string } | null {
  const value = row[index];
  if (typeof value !== 'string') return null;
  if (EHR_ID.test(path)) return { ehrId: value };
  const ehrId = ehr === undefined ? null : (row[ehr.index] ?? null);
  return typeof ehrId === 'string' && UID.test(path) && VERSION_UID.test(value)
    ? { ehrId, uid: value }
    : null;
}

/** The column that tells the EHR of each row. */
export function ehrColumn(columns: readonly ResultColumn[]): ResultColumn | undefined {
  return columns.find(({ path }) => EHR_ID.test(path));
}

const EHR_ID = /^\w+\/ehr_id(?:\/value)?$/;
const UID = /^\w+\/uid(?:\/value)?$/;
const VERSION_UID = /^[^:]+::[^:]+::\d+$/;

/** What values are, as far as all of them are of one kind. */
export function kindOf(values: readonly Json[]): ColumnKind {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return 'text';
  if (known.every((value) => typeof value === 'number')) return 'number';
  if (known.every(isTime)) return 'time';
  return known.some(isObject) ? 'object' : 'text';
}

/** A whole date, with a time or without; eight digits alone may be anything. */
function isTime(value: Json): value is string {
  return typeof value === 'string' && /^\d{4}(-\d{2}-\d{2}|\d{4}T)/.test(value) && instantOf(value) !== null;
}

/** A cell as text: a primitive as it is, an RM object in words. */
function cellText(value: Json | undefined, reader: ValueReader = PLAIN_READER): string {
  if (value === null || value === undefined) return '';
  if (!isObject(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  return wholeText(valueText(value, reader));
}

/** A cell as it is read: a time of a column of times in the zone of the reader, with a note how it was `stored`. */
export function shownText(
  value: Json,
  kind: ColumnKind,
  reader: ValueReader,
): InstantText & { readonly stored?: string } {
  if (kind !== 'time' || typeof value !== 'string') return { text: cellText(value, reader) };
  return { ...instantText(value, reader, { isExact: true }), stored: value };
}

/** The rows by the values of one column; missing values last. */
export function sortedRows(
  rows: ResultSet['rows'],
  column: number,
  isDescending: boolean,
): ResultSet['rows'] {
  const sign = isDescending ? -1 : 1;
  return [...rows].sort((left, right) => {
    const [a = null, b = null] = [left[column], right[column]];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
    if (isTime(a) && isTime(b)) return sign * byEpoch(a, b);
    const [x, y] = [cellText(a), cellText(b)];
    return sign * (x < y ? -1 : x > y ? 1 : 0);
  });
}

/**
 * CSV by RFC 4180. A column of plain quantities is two, the unit in the second; what a spreadsheet would take for a formula
 * begins with an apostrophe.
 */
export function csvOf({ columns, rows }: ResultSet): string {
  const fields = columns.flatMap(({ name }, index): Field[] => {
    const value = (row: readonly Json[]): Json => row[index] ?? null;
    if (!hasQuantities(rows.map(value))) return [{ name, value }];
    const part = (key: string) => (row: readonly Json[]) => at(value(row), key) ?? null;
    return [
      { name, value: part('magnitude') },
      { name: `${name} unit`, value: part('units') },
    ];
  });
  const lines = [
    fields.map(({ name }) => csvCell(name)),
    ...rows.map((row) => fields.map(({ value }) => csvCell(value(row)))),
  ];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

/** A column of the file. */
interface Field {
  readonly name: string;
  readonly value: (row: readonly Json[]) => Json;
}

/** Whether they are DV_QUANTITY that say no more than a number and a unit. */
function hasQuantities(values: readonly Json[]): boolean {
  const known = values.filter((value) => value !== null);
  return known.length > 0 && known.every(isPlainQuantity);
}

const QUANTITY_KEYS: ReadonlySet<string> = new Set(['_type', 'magnitude', 'units', 'precision']);

function isPlainQuantity(value: Json): boolean {
  if (!isObject(value)) return false;
  const isQuantity = typeof at(value, 'magnitude') === 'number' && typeof at(value, 'units') === 'string';
  return isQuantity && Object.keys(value).every((key) => QUANTITY_KEYS.has(key));
}

function csvCell(value: Json): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : cellText(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",;|\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
