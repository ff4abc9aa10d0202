import { setImmediate } from 'node:timers/promises';
import mongoose, { type ClientSession } from 'mongoose';
import { isDuplicateKey } from '../../database/mongo-error.js';
import { groupBy, memoizedAnswer } from '../../openehr/base/maps.js';
import type { COLLECTIONS } from './layout.js';
import type { AqlDocument } from '../../aql/index/document.js';

/** What the documents of each collection are: every file of this room adds the collection it is about. */
export interface Documents {
  readonly [COLLECTIONS.aql]: AqlDocument;
}

/** A collection that writes of a transaction go to. */
export type WrittenCollection = keyof Documents;

type OptionalField<D> = { [F in keyof D]-?: undefined extends D[F] ? F : never }[keyof D];
type FieldOfType<D, V> = { [F in keyof D]-?: NonNullable<D[F]> extends V ? F : never }[keyof D];

/** What a field of a document has to be; `null` also finds documents without it. */
type Condition<V> =
  V | null | { readonly $in: readonly V[] } | { readonly $lt: V } | { readonly $exists: boolean };

/** Which documents are meant; by fields of theirs. */
export type Filter<D> = { readonly [F in keyof D]?: Condition<NonNullable<D[F]>> };

/** How documents change. Only an optional field can be taken away. */
export interface Update<D> {
  readonly $set?: Partial<Omit<D, '_id'>>;
  readonly $unset?: { readonly [F in OptionalField<D>]?: 1 };
  readonly $inc?: { readonly [F in FieldOfType<D, number>]?: number };
  /** The larger of both stays. */
  readonly $max?: { readonly [F in FieldOfType<D, number>]?: number };
  readonly $push?: {
    readonly [F in FieldOfType<D, readonly unknown[]>]?: { readonly $each: NonNullable<D[F]> };
  };
}

/** Adds one document. */
export interface InsertWrite<C extends WrittenCollection = WrittenCollection> {
  readonly collection: C;
  readonly insert: Documents[C];
}

/** Changes documents. */
export interface UpdateWrite<C extends WrittenCollection = WrittenCollection> {
  readonly collection: C;
  readonly filter: Filter<Documents[C]>;
  readonly update: Update<Documents[C]>;
  /**
   * `one`: exactly one document must match, else the state that the write was planned on is stale.
   * `any`: all documents that match, however many.
   */
  readonly matching: 'one' | 'any';
}

/** Removes all documents that match. */
export interface RemoveWrite<C extends WrittenCollection = WrittenCollection> {
  readonly collection: C;
  readonly remove: Filter<Documents[C]>;
}

/**
 * One write of a transaction, as data: plans are made without a database and read by tests. Distributes over the
 * collections, so that a write is checked against the documents of its own one.
 */
export type Write<C extends WrittenCollection = WrittenCollection> = {
  readonly [Name in C]: InsertWrite<Name> | UpdateWrite<Name> | RemoveWrite<Name>;
}[C];

/** The session of a transaction, named without importing the driver. */
export type Session = ClientSession;

/** Runs reads that take a session, without a transaction. */
export function withSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
  return mongoose.connection.withSession<T>(work);
}

/** Wire version of MongoDB 8.0, the first with the `bulkWrite` command. */
const BULK_WRITE_WIRE_VERSION = 25;
const WRITE_CONFLICT = 112;

const hasBulkWrite = memoizedAnswer(async () => {
  const hello = await mongoose.connection.getClient().db('admin').command({ hello: 1 });
  return Number(hello.maxWireVersion) >= BULK_WRITE_WIRE_VERSION;
});

/**
 * Runs the writes in their order inside the session's transaction and returns whether each `one` matched.
 * False: the caller must abort. Where the server has the `bulkWrite` command everything that a commit needs is
 * one round trip; writes matching `any` follow in a second one, since their count says nothing.
 * @throws the driver's own errors, retry labels kept; a duplicate key as code 11000, of which `duplicateIn` gives the
 * collection
 */
export async function runWrites(session: ClientSession, writes: readonly Write[]): Promise<boolean> {
  const counted = writes.filter((write) => !isUncounted(write));
  const expected = counted.filter((write) => 'update' in write).length;
  const matched = counted.length === 0 ? 0 : await runBatch(session, counted);
  if (matched !== expected) return false;
  const uncounted = writes.filter(isUncounted);
  if (uncounted.length > 0) await runBatch(session, uncounted);
  return true;
}

/** Whether several commits can share a command that answers for each write whether it matched: MongoDB 8.0 and later. */
export function canRunTogether(): Promise<boolean> {
  return hasBulkWrite();
}

/**
 * Runs the writes of several commits inside the session's transaction as one command and gives the numbers of the
 * commits of which a `one` did not match; null: of some, and only `tellsWhich`, which costs an answer for each write, says of
 * which. Unless it is empty the caller must abort.
 * @throws as `runWrites`; `refusedAmong` gives the commit of which a write was refused
 */
export async function runTogether(
  session: ClientSession,
  commits: readonly (readonly Write[])[],
  tellsWhich: boolean,
): Promise<number[] | null> {
  const numbered = commits.flatMap((writes, commit) => writes.map((write) => ({ commit, write })));
  // Neighbouring inserts into one collection cost the database less.
  const ordered = [...groupBy(numbered, ({ write }) => write.collection).values()].flat();
  const writes = ordered.map(({ write }) => write);
  try {
    // Those that match any number of documents would make the sum say nothing.
    const isVerbose =
      tellsWhich ||
      writes.some((write) => !('insert' in write) && !('update' in write && write.matching === 'one'));
    const { matched, matchedCount } = await bulkWrite(session, writes, isVerbose);
    if (!isVerbose) {
      const isWhole = matchedCount === writes.filter((write) => 'update' in write).length;
      return isWhole ? [] : commits.length === 1 ? [0] : null;
    }
    const isStale = ({ write }: { write: Write }, index: number): boolean =>
      'update' in write && write.matching === 'one' && matched.get(index) !== 1;
    return [...new Set(ordered.filter(isStale).map(({ commit }) => commit))];
  } catch (error) {
    const commit = error instanceof Error ? ordered[refusedWrites.get(error) ?? -1]?.commit : undefined;
    if (error instanceof Error && commit !== undefined) refusals.set(error, commit);
    throw error;
  }
}

/** Of which commit a write was refused, by the error that was thrown. */
const refusals = new WeakMap<Error, number>();

/** Number of the commit of which the database refused a write of `runTogether`; undefined: it failed as a whole. */
export function refusedAmong(error: unknown): number | undefined {
  return error instanceof Error ? refusals.get(error) : undefined;
}

function isUncounted(write: Write): boolean {
  return 'remove' in write || ('update' in write && write.matching === 'any');
}

/** Which collection's unique index refused a batch, by the error that was thrown. */
const duplicates = new WeakMap<Error, WrittenCollection>();

/** The collection whose unique index refused a batch of `runWrites`; undefined: it failed for another reason. */
export function duplicateIn(error: unknown): WrittenCollection | undefined {
  return error instanceof Error ? duplicates.get(error) : undefined;
}

async function runBatch(session: ClientSession, writes: readonly Write[]): Promise<number> {
  if (!(await hasBulkWrite())) return runByCollection(session, writes);
  return (await bulkWrite(session, writes, false)).matchedCount;
}

/** What writes came to: how many documents matched, and each of which, by the number of its write. */
interface Written {
  readonly matchedCount: number;
  readonly matched: ReadonlyMap<number, number>;
}

/** Writes of one command: the driver encodes it in one go, which keeps everybody else waiting. */
const WRITES_AT_ONCE = 500;

/** `isVerbose`: the answer is about each write, not only about all. @throws as `runWrites`; `refusedWrites` has the write that was refused */
async function bulkWrite(
  session: ClientSession,
  writes: readonly Write[],
  isVerbose: boolean,
): Promise<Written> {
  const { name } = mongoose.connection;
  const options = { session, ordered: true, verboseResults: isVerbose };
  let matchedCount = 0;
  const matched = new Map<number, number>();
  for (let start = 0; start < writes.length; start += WRITES_AT_ONCE) {
    if (start > 0) await setImmediate();
    const part = writes.length <= WRITES_AT_ONCE ? writes : writes.slice(start, start + WRITES_AT_ONCE);
    const models = part.map((write) => clientModel(`${name}.${write.collection}`, write));
    try {
      const result = await mongoose.connection.getClient().bulkWrite(models, options);
      matchedCount += result.matchedCount;
      for (const [index, each] of result.updateResults ?? []) matched.set(start + index, each.matchedCount);
    } catch (error) {
      throw originalOf(error, part, start);
    }
  }
  return { matchedCount, matched };
}

/** A write as the driver takes it, which knows nothing of the documents of this server. */
type DriverWrite =
  | { readonly insert: object }
  | { readonly filter: object; readonly update: object; readonly matching: 'one' | 'any' }
  | { readonly remove: object };

function clientModel(namespace: string, write: DriverWrite): mongoose.mongo.AnyClientBulkWriteModel<object> {
  if ('insert' in write) return { name: 'insertOne', namespace, document: write.insert };
  if ('remove' in write) return { name: 'deleteMany', namespace, filter: write.remove };
  const name = write.matching === 'one' ? 'updateOne' : 'updateMany';
  return { name, namespace, filter: write.filter, update: write.update };
}

/** Which write was refused, by the error that was thrown. */
const refusedWrites = new WeakMap<Error, number>();

/**
 * The driver hides the server's error with its code and retry labels behind one of its own. `start`: the number of the first of
 * these writes.
 */
function originalOf(error: unknown, writes: readonly Write[], start: number): unknown {
  if (!(error instanceof mongoose.mongo.MongoClientBulkWriteError)) return error;
  const [failed] = error.writeErrors;
  const original = error.cause instanceof Error ? error.cause : refusalOf(failed?.[1]);
  if (failed === undefined || original === null) return original ?? error;
  const [index] = failed;
  refusedWrites.set(original, start + index);
  if (original !== error.cause) noteDuplicate(original, writes[index]?.collection);
  return original;
}

function refusalOf(failed: { readonly message: string; readonly code: number } | undefined): Error | null {
  if (failed === undefined) return null;
  const { message, code } = failed;
  const original = new mongoose.mongo.MongoServerError({ message, code });
  if (code === WRITE_CONFLICT) original.addErrorLabel('TransientTransactionError');
  return original;
}

function noteDuplicate(error: unknown, collection: WrittenCollection | undefined): void {
  if (error instanceof Error && collection !== undefined && isDuplicateKey(error))
    duplicates.set(error, collection);
}

/** MongoDB before 8.0: one command for each run of writes to one collection. */
async function runByCollection(session: ClientSession, writes: readonly Write[]): Promise<number> {
  let matched = 0;
  for (let start = 0; start < writes.length;) {
    const collection = writes[start]?.collection;
    if (collection === undefined) break;
    let end = start;
    while (writes[end]?.collection === collection) end += 1;
    matched += await runInCollection(session, collection, writes.slice(start, end));
    start = end;
  }
  return matched;
}

async function runInCollection(
  session: ClientSession,
  collection: WrittenCollection,
  writes: readonly Write[],
): Promise<number> {
  try {
    const result = await mongoose.connection
      .collection(collection)
      .bulkWrite(writes.map(collectionModel), { session, ordered: true });
    return result.matchedCount;
  } catch (error) {
    noteDuplicate(error, collection);
    throw error;
  }
}

function collectionModel(write: DriverWrite): mongoose.mongo.AnyBulkWriteOperation {
  if ('insert' in write) return { insertOne: { document: write.insert } };
  if ('remove' in write) return { deleteMany: { filter: write.remove } };
  const change = { filter: write.filter, update: write.update };
  return write.matching === 'one' ? { updateOne: change } : { updateMany: change };
}
