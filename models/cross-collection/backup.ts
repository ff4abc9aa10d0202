import mongoose, { type ClientSession } from 'mongoose';
import { documents, type StoredDocument } from '../access/documents.js';
import { COLLECTIONS, type CollectionName } from '../access/layout.js';
import { documentsIn } from '../access/one-snapshot.js';
import { movesOfContent } from '../merge/moves.js';

const { EJSON } = mongoose.mongo.BSON;

/** Documents of one answer of the database: they may have megabytes. */
const LARGE_AT_ONCE = 50;

const { contributions: FIRST, settings: LAST } = COLLECTIONS;

/** Every collection: CONTRIBUTIONs first, for a server takes a store without any for a new one, and the settings last. */
export const BACKED_UP: readonly CollectionName[] = [
  FIRST,
  ...Object.values(COLLECTIONS).filter((name) => name !== FIRST && name !== LAST),
  LAST,
];

/** All documents of a collection as MongoDB's canonical Extended JSON, in which nothing is lost. */
export async function* backedUp(session: ClientSession, collection: CollectionName): AsyncGenerator<string> {
  const found = documentsIn(session, collection).find<StoredDocument>(
    {},
    { session, batchSize: LARGE_AT_ONCE },
  );
  for await (const document of found) yield EJSON.stringify(document, { relaxed: false });
}

/**
 * A text that commits, administration and sealing change. On a replica set a session has one moment, so that it stays the
 * same; on the embedded engine it tells whether something was written meanwhile.
 */
export async function writtenSoFar(session: ClientSession): Promise<string> {
  const newest = (name: CollectionName, field: string): Promise<StoredDocument | null> =>
    documentsIn(session, name)
      .find({}, { session, projection: { _id: 1 } })
      .sort({ [field]: -1, _id: -1 })
      .limit(1)
      .next();
  const marks = [
    await newest(COLLECTIONS.contributions, 'time_committed'),
    await newest(COLLECTIONS.audit, '_id'),
    await newest(COLLECTIONS.removals, '_id'),
    await newest(COLLECTIONS.sealBlocks, '_id'),
  ];
  return JSON.stringify([...marks, await movesOfContent({ session })]);
}

/** The first collection that holds anything; null: the database is empty. */
export async function filledCollection(): Promise<CollectionName | null> {
  for (const name of BACKED_UP) if ((await documents(name).findOne({})) !== null) return name;
  return null;
}

/** Stores documents as `backedUp` gave them. @throws SyntaxError, TypeError for what is no document; the errors of the database */
export async function insertBackedUp(collection: CollectionName, texts: readonly string[]): Promise<void> {
  if (texts.length === 0) return;
  const stored = texts.map((text) => EJSON.parse(text, { relaxed: false }) as StoredDocument);
  await documents(collection).insertMany(stored);
}

/** What makes a server refuse to start: a store of a layout that is none. */
const UNFINISHED = { _id: 'storage', system_id: 'unfinished.restore', layout: Number.MAX_SAFE_INTEGER };

/** Keeps servers from starting on a database that is being filled. */
export async function beginFilling(): Promise<void> {
  await documents(COLLECTIONS.settings).insertOne(UNFINISHED);
}

/** Takes that away; the settings of the backup come next. */
export async function endFilling(): Promise<void> {
  await documents(COLLECTIONS.settings).deleteOne({ _id: UNFINISHED._id });
}
