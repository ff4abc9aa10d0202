import mongoose from 'mongoose';
import type { JsonObject } from '../../openehr/base/json.js';
import type { CollectionName } from './layout.js';

const { EJSON } = mongoose.mongo.BSON;

/** A document of which the reader says what it is: `find<T>`. */
export interface StoredDocument {
  readonly _id: string;
  readonly [field: string]: unknown;
}

/** A collection for what mongoose's models would make slower or refuse; none of ours has ids of ObjectId. */
export function documents<D extends { _id: string } = StoredDocument>(
  name: CollectionName,
): mongoose.mongo.Collection<D> {
  return mongoose.connection.collection<D>(name);
}

/** A document in MongoDB's relaxed Extended JSON. */
export function storedText(document: object): string {
  return EJSON.stringify(document, { relaxed: true });
}

/** A document of its relaxed Extended JSON. */
export function storedDocumentOf(value: JsonObject): StoredDocument {
  return EJSON.deserialize(value, { relaxed: true }) as StoredDocument;
}
