/** Replies of write commands: what they say of upserts, and several of them as one. */
import {
  asBigInt,
  asDocument,
  asDocuments,
  asNumber,
  fieldOf,
  fields,
  isSet,
} from '../protocol/bson-slice.js';
import { failureOf } from '../protocol/replies.js';
import { encode, rawValue, withFields, type BsonValue, type RawValue } from '../protocol/bson-write.js';
import { EngineError, type Engine } from '../engine/engine.js';

/** The reply to some of a command's statements. */
export interface PartReply {
  readonly reply: Buffer;
  /** Position of the part's first statement in the whole command. */
  readonly offset: number;
}

/** An upserted document as a reply reports it. */
export interface Upserted {
  /** Position of its statement within the command that was answered. */
  readonly index: number;
  readonly id: RawValue;
}

/** Upserts that a reply of `update`, `bulkWrite` or `findAndModify` reports. */
export function upsertsIn(reply: Buffer): Upserted[] {
  const result = asDocument(fieldOf(reply, 'lastErrorObject'));
  if (result !== undefined) {
    const id = fieldOf(result, 'upserted');
    return id === undefined ? [] : [{ index: 0, id: rawValue(id) }];
  }
  const listed = asDocuments(fieldOf(reply, 'upserted')).map((item) => upsert(item, item, 'index'));
  const results = resultsIn(reply).map((item) => upsert(item, asDocument(fieldOf(item, 'upserted')), 'idx'));
  return [...listed, ...results].filter((found) => found !== null);
}

function upsert(item: Buffer, holder: Buffer | undefined, indexName: string): Upserted | null {
  const id = holder === undefined ? undefined : fieldOf(holder, '_id');
  const index = asNumber(fieldOf(item, indexName));
  return id === undefined || index === undefined ? null : { index, id: rawValue(id) };
}

function resultsIn(reply: Buffer): Buffer[] {
  const cursor = asDocument(fieldOf(reply, 'cursor'));
  return cursor === undefined ? [] : asDocuments(fieldOf(cursor, 'firstBatch'));
}

/** A `bulkWrite` reply with all its results in the first batch. @throws EngineError */
export async function drained(engine: Engine, reply: Buffer): Promise<Buffer> {
  const cursor = asDocument(fieldOf(reply, 'cursor'));
  let id = cursor === undefined ? 0n : (asBigInt(fieldOf(cursor, 'id')) ?? 0n);
  if (cursor === undefined || id === 0n) return reply;
  const results = resultsIn(reply);
  while (id !== 0n) {
    const more = await engine.run({ getMore: id, collection: '$cmd.bulkWrite', $db: 'admin' });
    const next = asDocument(fieldOf(more, 'cursor')) ?? more;
    results.push(...asDocuments(fieldOf(next, 'nextBatch')));
    id = asBigInt(fieldOf(next, 'id')) ?? 0n;
  }
  return withFields(reply, { cursor: withFields(cursor, { id: 0n, firstBatch: results }) });
}

/** The drained reply of a `bulkWrite` as if it had been sent without its first `count` inserts. @throws EngineError of one of those */
export function withoutInserts(reply: Buffer, count: number): Buffer {
  const cursor = asDocument(fieldOf(reply, 'cursor'));
  if (cursor === undefined) return reply;
  const results = resultsIn(reply);
  const isOwn = (item: Buffer): boolean => (asNumber(fieldOf(item, 'idx')) ?? 0) < count;
  const failed = results.find((item) => isOwn(item) && !isSet(fieldOf(item, 'ok')));
  if (failed !== undefined) {
    const { code, message } = failureOf(failed);
    throw new EngineError(code, message);
  }
  const others = results.filter((item) => !isOwn(item));
  const nInserted = (asNumber(fieldOf(reply, 'nInserted')) ?? 0) - count;
  return withFields(reply, {
    cursor: withFields(cursor, { firstBatch: shifted(others, 'idx', -count) }),
    nInserted,
  });
}

/** The replies of `insert`, `update` or `delete` parts as the reply of the whole command. */
export function mergeReplies(parts: readonly PartReply[]): Buffer {
  const sums = new Map<string, number>();
  const lists: Record<string, Buffer[]> = {};
  for (const { reply, offset } of parts) {
    for (const field of fields(reply)) {
      const number = asNumber(field);
      if (field.name === 'n' || field.name === 'nModified') {
        sums.set(field.name, (sums.get(field.name) ?? 0) + (number ?? 0));
      } else if (field.name === 'upserted' || field.name === 'writeErrors') {
        (lists[field.name] ??= []).push(...shifted(asDocuments(field), 'index', offset));
      }
    }
  }
  return encode({ ...Object.fromEntries(sums), ...lists, ok: 1.0 });
}

const COUNTS = ['nErrors', 'nInserted', 'nMatched', 'nModified', 'nUpserted', 'nDeleted'];

/** The drained replies of `bulkWrite` parts as the reply of the whole command. */
export function mergeBulkReplies(parts: readonly PartReply[], isErrorsOnly: boolean): Buffer {
  const counts: Record<string, BsonValue> = {};
  for (const name of COUNTS) {
    counts[name] = parts.reduce((sum, part) => sum + (asNumber(fieldOf(part.reply, name)) ?? 0), 0);
  }
  const results = parts.flatMap(({ reply, offset }) => shifted(resultsIn(reply), 'idx', offset));
  const firstBatch = isErrorsOnly ? results.filter((item) => !isSet(fieldOf(item, 'ok'))) : results;
  return encode({ cursor: { id: 0n, firstBatch, ns: 'admin.$cmd.bulkWrite' }, ...counts, ok: 1.0 });
}

function shifted(items: readonly Buffer[], name: string, offset: number): Buffer[] {
  return items.map((item) => withFields(item, { [name]: (asNumber(fieldOf(item, name)) ?? 0) + offset }));
}
