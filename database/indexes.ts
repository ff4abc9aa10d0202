/** Building collections and indexes at start, from data. */
import mongoose from 'mongoose';
import { CdrError } from '../openehr/base/errors.js';

/** One index: key pattern in order, and the options of `createIndexes`. */
interface IndexDefinition {
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** One collection and the indexes it needs beside that on `_id`. */
export interface CollectionDefinition {
  readonly name: string;
  readonly indexes: readonly IndexDefinition[];
}

const NAMESPACE_EXISTS = 48;

/**
 * Documents beside one another are alike, and so are keys of an index: zstd leaves a tenth of them on disk. The memory is
 * as without it.
 */
const COMPRESSED = { wiredTiger: { configString: 'block_compressor=zstd' } } as const;

/**
 * Makes the collections, compressed where the server can, and the indexes that are missing in the connected database.
 * What exists stays.
 * @throws CdrError `unavailable` without a connection; the driver's error when an index contradicts an old one
 */
export async function createCollections(layout: readonly CollectionDefinition[]): Promise<void> {
  const { db } = mongoose.connection;
  if (db === undefined) throw new CdrError('unavailable', 'The database is not connected');
  const listed = await db.listCollections({}, { nameOnly: true }).toArray();
  const existing = new Set(listed.map(({ name }) => name));
  await Promise.all(
    layout.map(async ({ name, indexes }) => {
      if (!existing.has(name)) await createCompressed(db, name);
      if (indexes.length > 0) await createIndexes(db, name, indexes);
    }),
  );
}

/** Falls back to what a server without zstd, or with another storage engine, does by itself. */
async function createCompressed(db: mongoose.mongo.Db, name: string): Promise<void> {
  try {
    await db.createCollection(name, { storageEngine: COMPRESSED });
  } catch (error) {
    if (!(error instanceof mongoose.mongo.MongoServerError)) throw error;
    if (error.code !== NAMESPACE_EXISTS) await db.createCollection(name).catch(unlessItExists);
  }
}

async function createIndexes(
  db: mongoose.mongo.Db,
  collection: string,
  definitions: readonly IndexDefinition[],
): Promise<void> {
  const wanted = definitions.map(({ key, options }) => ({ key, ...options, name: indexName(key, options) }));
  const present = new Map((await db.collection(collection).indexes()).map((index) => [index.name, index]));
  // An index that is there with another compression would be refused as a contradiction.
  const compressed = wanted.map((index) => ({
    ...index,
    storageEngine: present.has(index.name) ? present.get(index.name)?.['storageEngine'] : COMPRESSED,
  }));
  try {
    await db.command({ createIndexes: collection, indexes: compressed }, { ignoreUndefined: true });
  } catch (error) {
    if (!(error instanceof mongoose.mongo.MongoServerError)) throw error;
    await db.command({ createIndexes: collection, indexes: wanted });
  }
}

/** Another process may have made the collection meanwhile. */
function unlessItExists(error: unknown): void {
  if (!(error instanceof mongoose.mongo.MongoServerError) || error.code !== NAMESPACE_EXISTS) throw error;
}

/** Two indexes may share a key pattern and differ in what they cover. */
function indexName(key: Readonly<Record<string, 1 | -1>>, options: IndexDefinition['options']): string {
  const pattern = Object.entries(key)
    .map(([field, direction]) => `${field}_${direction}`)
    .join('_');
  const partial = options?.['partialFilterExpression'];
  return partial === undefined
    ? pattern
    : `${pattern}_where_${JSON.stringify(partial).replaceAll(/[^\w.]+/g, '_')}`;
}
