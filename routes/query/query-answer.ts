import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Context } from 'koa';
import { stringify, type Options } from 'csv-stringify/sync';
import { columnObjects, metaObject, rowText, type ResultMeta } from '../../aql/result/result-set.js';
import { viewing } from '../../change/access/viewer.js';
import { CdrError } from '../../openehr/base/errors.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import type { BodyType } from '../http/negotiation/media-type.js';
import type { CompiledQuery } from '../../query/compile.js';
import { begunRows } from '../../query/one-moment.js';
import { writeText, absoluteUrl } from '../http/exchange.js';
import { PRODUCT, PRODUCT_VERSION } from '../http/product.js';
import type { JsonValue } from '../../openehr/base/json.js';

/** Characters of a RESULT_SET that is built in memory; larger results go as NDJSON or CSV streams. */
export const MAX_RESULT_LENGTH = 128 * 1024 * 1024;

/** Characters of a RESULT_SET after which other requests, health first of all, get their turn. */
const TURN_LENGTH = 256 * 1024;

/** What is answered about one execution. */
export interface QueryAnswer {
  readonly compiled: CompiledQuery;
  /** As submitted or stored. */
  readonly q: string;
  /** `{name}/{version}` of a stored query. */
  readonly name: string | null;
  /** All that was committed up to then is among what the rows were found in: `as_of` of it has one answer. */
  readonly certain: Date;
  /** false: each EHR is of one moment, and others may be of another. */
  readonly isOneMoment?: boolean;
  /** Whether CSV starts with a byte order mark. */
  readonly csvBom: boolean;
}

/** RESULT_SET as one JSON body. @throws unprocessable when it is too large to be built in memory */
export async function answerResultSet(
  ctx: Context,
  form: BodyType,
  answer: QueryAnswer,
  rows: AsyncIterable<readonly string[]>,
): Promise<void> {
  const pieces: Buffer[] = [];
  const hash = createHash('sha256').update(answer.q);
  let [count, length] = [0, 0];
  let turnEnds = TURN_LENGTH;
  for await (const batch of rows) {
    const text = `${batch.join(',')},`;
    length += text.length;
    if (length > MAX_RESULT_LENGTH) throw tooLarge();
    count += batch.length;
    for (const piece of encoded(text)) {
      hash.update(piece);
      pieces.push(piece);
      if (text.length >= TURN_LENGTH) await setImmediate();
    }
    if (length < turnEnds) continue;
    turnEnds = length + TURN_LENGTH;
    await setImmediate();
  }
  const head = headText(ctx, answer, count);
  ctx.set('ETag', `"${hash.digest('hex').slice(0, 32)}"`);
  writePieces(ctx, form, [Buffer.from(`${head.slice(0, -1)},"rows":[`), ...withoutComma(pieces), END]);
}

const END = Buffer.from(']}');

function tooLarge(): CdrError {
  return new CdrError(
    'unprocessable',
    'the result is too large for one answer: use LIMIT, or Accept: application/x-ndjson',
  );
}

/** A text in UTF-8, a piece at a time: of a row of a hundred megabytes all at once would hold everybody up. */
function* encoded(text: string): Generator<Buffer> {
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + TURN_LENGTH, text.length);
    // Two halves of a letter stay together.
    if (end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1))) end -= 1;
    yield Buffer.from(text.slice(start, end));
    start = end;
  }
}

/** The last piece without the comma that ends each row. */
function withoutComma(pieces: readonly Buffer[]): Buffer[] {
  const last = pieces.at(-1);
  return last === undefined ? [] : [...pieces.slice(0, -1), last.subarray(0, -1)];
}

/** A small answer is one buffer; a large one goes out as it is taken. */
function writePieces(ctx: Context, form: BodyType, pieces: readonly Buffer[]): void {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length <= 4 * TURN_LENGTH) {
    writeText(ctx, form, Buffer.concat(pieces, length));
    return;
  }
  ctx.type = `${form.mediaType}; charset=utf-8`;
  ctx.body = Readable.from(pieces, { objectMode: false });
  ctx.length = length;
}

/** `meta`, `q`, `name`, `columns` as a JSON object. */
function headText(
  ctx: Context,
  { compiled, q, name, certain, isOneMoment = true }: QueryAnswer,
  resultSize: number | null,
): string {
  const now = new Date();
  const { leastPatients } = compiled.request;
  const meta: ResultMeta = {
    href: ctx.method === 'POST' ? null : absoluteUrl(ctx, decodedPath(ctx)),
    created: now,
    generator: `${PRODUCT}/${PRODUCT_VERSION}`,
    executedAql: compiled.executedAql,
    page: compiled.page.meta,
    warnings: compiled.warnings,
  };
  return JSON.stringify({
    meta: {
      ...metaObject(meta, resultSize, formatUtc(now)),
      _certain_until: formatUtc(certain),
      ...(!isOneMoment && { _snapshot: false }),
      ...(leastPatients !== undefined && { _least_patients: leastPatients }),
      ...(viewing.getStore()?.viewer?.isWithheld === true && { _withheld: true }),
    },
    q,
    ...(name === null ? {} : { name }),
    columns: columnObjects(compiled.columns),
  });
}

function decodedPath(ctx: Context): string {
  const { path } = ctx;
  return path.slice(path.indexOf('/query'));
}

/**
 * The rows as a stream: NDJSON (first line `meta`, `q` and columns) or CSV, from when the first of them are there.
 * @throws what the rows throw until then
 */
export async function answerStream(
  ctx: Context,
  form: BodyType,
  answer: QueryAnswer,
  rows: AsyncGenerator<readonly string[], void, undefined>,
): Promise<void> {
  const begun = await begunRows(rows);
  ctx.set('ETag', `"${randomUUID()}"`);
  ctx.type = `${form.mediaType}; charset=utf-8`;
  const lines =
    form.format === 'CSV' ? csvLines(answer, begun) : jsonLines(headText(ctx, answer, null), begun);
  ctx.body = Readable.from(chunks(lines), { objectMode: false });
}

async function* jsonLines(head: string, rows: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  yield `${head}\n`;
  for await (const batch of rows) yield `${batch.join('\n')}\n`;
}

async function* csvLines(
  answer: QueryAnswer,
  rows: AsyncIterable<readonly string[]>,
): AsyncGenerator<string> {
  const names = answer.compiled.columns.map(({ name }) => name);
  yield csvHeader(names, answer.csvBom);
  for await (const batch of rows) yield batch.map(csvLine).join('');
}

const CHUNK_LENGTH = 64 * 1024;

/** Few large chunks instead of one a row. */
async function* chunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = '';
  for await (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

/** The text of a row in its final form. */
export function textOfRow(answer: QueryAnswer): (row: Parameters<typeof rowText>[0]) => string {
  const { columns } = answer.compiled.plan;
  return (row) => rowText(row, columns);
}

/**
 * A sheet opens a text that starts like a formula as text, by an apostrophe before it. What some sheet takes for a separator
 * stands in quotes, so that no cell begins behind it. RFC 4180 else.
 */
const OPTIONS: Options = {
  escape_formulas: true,
  record_delimiter: 'windows',
  quoted_match: /[\r\n;\t|]/,
  cast: { boolean: String },
};
const BYTE_ORDER_MARK = '\ufeff';

/** The header line of a CSV answer; `bom`: after a byte order mark, by which Excel knows UTF-8. */
export function csvHeader(names: readonly string[], bom: boolean): string {
  return (bom ? BYTE_ORDER_MARK : '') + csvRecord(names);
}

/** A row of cells as JSON text becomes a CSV line: objects as JSON, missing values empty. */
export function csvLine(rowText: string): string {
  return csvRecord(JSON.parse(rowText) as JsonValue[]);
}

function csvRecord(cells: readonly JsonValue[]): string {
  return stringify([cells], OPTIONS);
}
