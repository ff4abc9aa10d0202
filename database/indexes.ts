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

/** An index by collection and name. */
export interface NamedIndex {
  readonly collection: string;
  readonly name: string;
}

/** Those of the indexes of the layout that the connected database does not have; `createCollections` makes them. */
export async function missingIndexes(layout: readonly CollectionDefinition[]): Promise<NamedIndex[]> {
  const wanted = layout.flatMap(({ name: collection, indexes }) =>
    indexes.map(({ key, options }) => ({ collection, name: indexName(key, options) })),
  );
  const present = await presentIndexes(wanted);
  return wanted.filter((index) => !present.has(textOf(index)));
}

/** Drops those of the indexes that are there and gives them. `dryRun`: gives them only. */
export async function dropIndexes(former: readonly NamedIndex[], dryRun: boolean): Promise<NamedIndex[]> {
  const present = await presentIndexes(former);
  const found = former.filter((index) => present.has(textOf(index)));
  if (!dryRun)
    for (const { collection, name } of found)
      await mongoose.connection.collection(collection).dropIndex(name);
  return found;
}

async function presentIndexes(wanted: readonly NamedIndex[]): Promise<Set<string>> {
  const listed = await mongoose.connection.listCollections();
  const asked = new Set(wanted.map(({ collection }) => collection));
  const present = new Set<string>();
  for (const { name: collection } of listed) {
    if (!asked.has(collection)) continue;
    for (const { name = '' } of await mongoose.connection.collection(collection).indexes())
      present.add(textOf({ collection, name }));
  }
  return present;
}

function textOf({ collection, name }: NamedIndex): string {
  return `${collection}.${name}`;
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
