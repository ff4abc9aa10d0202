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

/**
 * A read by id that many may ask for at once: those that come while one is under way share the next, so that each is answered by
 * one that was sent after it came. When the one before fails the database is away, and nobody waits for it twice.
 */
export function sharedRead<T>(read: (id: string) => Promise<T>): (id: string) => Promise<T> {
  const asked = new Map<string, { isSent: boolean; answer?: Promise<T> }>();
  return (id) => {
    const last = asked.get(id);
    if (last?.isSent === false && last.answer !== undefined) return last.answer;
    const question: { isSent: boolean; answer?: Promise<T> } = { isSent: false };
    asked.set(id, question);
    question.answer = (async () => {
      try {
        await last?.answer;
        question.isSent = true;
        return await read(id);
      } finally {
        if (asked.get(id) === question) asked.delete(id);
      }
    })();
    return question.answer;
  };
}
