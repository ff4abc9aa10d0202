import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, jsonOf, type JsonValue } from '../../openehr/base/json.js';
import type { PlanColumn } from '../plan/logical-plan.js';
import { importedVersion } from '../semantics/imported-version.js';
import { refusedTotal } from '../semantics/summable.js';
import { warningObject, type QueryWarning } from './warning.js';
import { counted, step, resultBytes, tuple, within, type Work } from '../../openehr/base/work.js';

/** A row as it comes from a pipeline. */
export interface RawRow {
  readonly row: readonly JsonValue[];
  readonly segs?: readonly (readonly Segment[] | null)[];
  readonly ehrs?: readonly (string | null)[];
}

/** The part of an `aql` segment that makes objects whole again. */
export interface Segment {
  readonly s: number;
  readonly o: JsonValue;
}

/** Canonical JSON of an object from a segment: nested segments put back, internal fields left out. */
export function wholeObject(value: JsonValue, segments: readonly Segment[]): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return counted(value).map((member) => wholeObject(member, segments));
  const nested = value.seg;
  if (typeof nested === 'number') return wholeObject(segmentObject(segments, nested), segments);
  const object: JsonObject = {};
  for (const name in value) {
    step();
    const member = value[name];
    if (name === '_m' || member === undefined) continue;
    object[name] = typeof member === 'object' && member !== null ? wholeObject(member, segments) : member;
  }
  return object;
}

function segmentObject(segments: readonly Segment[], number: number): JsonValue {
  const direct = segments[number];
  const segment = direct?.s === number ? direct : counted(segments).find(({ s }) => s === number);
  return segment?.o ?? null;
}

/**
 * The JSON text of one row: `[cell, …]`. Texts of whole objects are spliced in as they are stored.
 * @throws invalid for a sum of what cannot be added
 */
export function rowText({ row, segs }: RawRow, columns: readonly PlanColumn[]): string {
  let text = '[';
  step(columns.length);
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i];
    if (column === undefined) break;
    const value = row[i] ?? null;
    if (i > 0) text += ',';
    text += resultCellText(value, column, segs);
  }
  return `${text}]`;
}

function resultCellText(value: JsonValue, { kind, name, segs }: PlanColumn, all: RawRow['segs']): string {
  if (value === null) return 'null';
  switch (kind) {
    case 'text':
      return typeof value === 'string' ? value : 'null';
    case 'version':
      return cellVersionText(value);
    case 'object':
      return JSON.stringify(wholeObject(value, (segs === null ? null : all?.[segs]) ?? []));
    case 'total':
      return totalText(value, name);
    case 'plain':
      return JSON.stringify(typeof value === 'object' ? wholeObject(value, []) : value);
  }
}

function totalText(value: JsonValue, column: string): string {
  if (typeof value === 'string') throw refusedTotal(column, value);
  return JSON.stringify(value);
}

/** A VERSION whose `data` is the stored text. `item`: what an IMPORTED_VERSION has there beside what both have. */
function cellVersionText(value: JsonValue): string {
  if (!isJsonObject(value)) return 'null';
  const { data, item, ...rest } = value;
  const version = wholeObject(rest, []);
  if (!isJsonObject(item) || !isJsonObject(version)) return withData(version, data);
  const { item: original, ...own } = importedVersion(version, item);
  return `${JSON.stringify(own).slice(0, -1)},"item":${withData(original ?? null, data)}}`;
}

function withData(version: JsonValue, data: JsonValue | undefined): string {
  const head = JSON.stringify(version);
  return typeof data === 'string' ? `${head.slice(0, -1)},"data":${data}}` : head;
}

/** JSON text with the attributes of every object in alphabetical order: equal objects have equal texts. */
export function comparableText(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${counted(value).map(comparableText).join(',')}]`;
  const members = counted(Object.keys(value).sort()).map(
    (name) => `${JSON.stringify(name)}:${comparableText(value[name] ?? null)}`,
  );
  return `{${members.join(',')}}`;
}

/** What `meta` says of an execution. docs/spec/aql.md#result-set */
export interface ResultMeta {
  /** Only for GET. */
  readonly href: string | null;
  readonly created: Date;
  readonly generator: string;
  readonly executedAql: string;
  readonly page: { readonly fetch: number; readonly offset: number } | null;
  readonly warnings: readonly QueryWarning[];
}

/** `meta` of a RESULT_SET; `resultSize` null while it is not known yet (streams). */
export function metaObject(meta: ResultMeta, resultSize: number | null, created: string): JsonObject {
  return {
    ...(meta.href === null ? {} : { _href: meta.href }),
    _type: 'RESULTSET',
    _schema_version: '1.0.3',
    _created: created,
    _generator: meta.generator,
    _executed_aql: meta.executedAql,
    ...(resultSize === null ? {} : { resultsize: resultSize }),
    ...(meta.page === null ? {} : { fetch: meta.page.fetch, offset: meta.page.offset }),
    ...(meta.warnings.length === 0 ? {} : { warnings: counted(meta.warnings).map(warningObject) }),
  };
}

/** `columns` of a RESULT_SET. */
export function columnObjects(columns: readonly PlanColumn[]): JsonObject[] {
  return counted(columns).map(({ name, path }) => (path === null ? { name } : { name, path }));
}

/**
 * Rows that differ as a whole, then the page of them: what a plan leaves to the server (`inProcess`). Of a row its hash is
 * kept, not its text. @throws CdrError of a budget of `work` that is used up
 */
export async function* distinctRows(
  rows: AsyncIterable<RawRow>,
  columns: readonly PlanColumn[],
  { offset, limit, work }: DistinctPage,
): AsyncGenerator<string> {
  const seen = new Set<string>();
  let given = 0;
  for await (const row of rows) {
    if (limit !== null && given >= limit) return;
    const { text, key } = within(work, () => compared(row, columns));
    if (seen.has(key)) continue;
    seen.add(key);
    if (seen.size <= offset) continue;
    given++;
    yield text;
  }
}

/** The page of different rows that is wanted, and what finding it may use. */
interface DistinctPage {
  readonly offset: number;
  readonly limit: number | null;
  readonly work: Work | null;
}

function compared(row: RawRow, columns: readonly PlanColumn[]): { text: string; key: string } {
  tuple();
  const text = rowText(row, columns);
  resultBytes(text.length);
  const key = createHash('sha256')
    .update(comparableText(jsonOf(text)))
    .digest('base64');
  return { text, key };
}
