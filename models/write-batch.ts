import mongoose, { type ClientSession } from 'mongoose';
import { idempotentAnswer } from '../openehr/base/memoized.js';
import type { CollectionName } from './layout.js';

/** Adds one document. */
export interface InsertWrite {
  readonly collection: CollectionName;
  readonly insert: object;
}

/** Changes documents. */
interface UpdateWrite {
  readonly collection: CollectionName;
  readonly filter: object;
  readonly update: object;
  /**
   * `one`: exactly one document must match, else the state that the write was planned on is stale.
   * `any`: all documents that match, however many.
   */
  readonly matching: 'one' | 'any';
}

/** Removes all documents that match. */
interface RemoveWrite {
  readonly collection: CollectionName;
  readonly remove: object;
}

/** One write of a transaction, as data: plans are made without a database and read by tests. */
export type Write = InsertWrite | UpdateWrite | RemoveWrite;

/** Wire version of MongoDB 8.0, the first with the `bulkWrite` command. */
const BULK_WRITE_WIRE_VERSION = 25;
const WRITE_CONFLICT = 112;

const hasBulkWrite = idempotentAnswer(async () => {
  const hello = await mongoose.connection.getClient().db('admin').command({ hello: 1 });
  return Number(hello.maxWireVersion) >= BULK_WRITE_WIRE_VERSION;
});

/**
 * Runs the writes in their order inside the session's transaction and tells whether each `one` matched.
 * False: the caller must abort. Where the server has the `bulkWrite` command everything that a commit needs is
 * one round trip; writes matching `any` follow in a second one, since their count says nothing.
 * @throws the driver's own errors, retry labels kept; a duplicate key as code 11000
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

function isUncounted(write: Write): boolean {
  return 'remove' in write || ('update' in write && write.matching === 'any');
}

async function runBatch(session: ClientSession, writes: readonly Write[]): Promise<number> {
  return (await hasBulkWrite()) ? runCommand(session, writes) : runByCollection(session, writes);
}

async function runCommand(session: ClientSession, writes: readonly Write[]): Promise<number> {
  const client = mongoose.connection.getClient();
  const database = mongoose.connection.name;
  try {
    const result = await client.bulkWrite(
      writes.map((write) => clientModel(`${database}.${write.collection}`, write)),
      { session, ordered: true },
    );
    return result.matchedCount;
  } catch (error) {
    throw error instanceof mongoose.mongo.MongoClientBulkWriteError ? originalError(error) : error;
  }
}

function clientModel(namespace: string, write: Write): mongoose.mongo.AnyClientBulkWriteModel<object> {
  if ('insert' in write) return { name: 'insertOne', namespace, document: write.insert };
  if ('remove' in write) return { name: 'deleteMany', namespace, filter: write.remove };
  const name = write.matching === 'one' ? 'updateOne' : 'updateMany';
  return { name, namespace, filter: write.filter, update: write.update };
}

/** The driver hides the server's error with its code and retry labels behind one of its own. */
function originalError(error: mongoose.mongo.MongoClientBulkWriteError): Error {
  if (error.cause instanceof Error) return error.cause;
  const [first] = error.writeErrors.values();
  if (first === undefined) return error;
  const original = new mongoose.mongo.MongoServerError({ message: first.message, code: first.code });
  if (first.code === WRITE_CONFLICT) original.addErrorLabel('TransientTransactionError');
  return original;
}

/** MongoDB before 8.0: one command for each run of writes to one collection. */
async function runByCollection(session: ClientSession, writes: readonly Write[]): Promise<number> {
  let matched = 0;
  for (let start = 0; start < writes.length;) {
    const collection = writes[start]?.collection ?? '';
    let end = start;
    while (writes[end]?.collection === collection) end += 1;
    const result = await mongoose.connection
      .collection(collection)
      .bulkWrite(writes.slice(start, end).map(collectionModel), { session, ordered: true });
    matched += result.matchedCount;
    start = end;
  }
  return matched;
}

function collectionModel(write: Write): mongoose.mongo.AnyBulkWriteOperation {
  if ('insert' in write) return { insertOne: { document: write.insert } };
  if ('remove' in write) return { deleteMany: { filter: write.remove } };
  const change = { filter: write.filter, update: write.update };
  return write.matching === 'one' ? { updateOne: change } : { updateMany: change };
}
