import mongoose from 'mongoose';
import type { CollectionName } from './layout.js';

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
