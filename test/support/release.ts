import { readFileSync } from 'node:fs';
import mongoose from 'mongoose';
import type { Json } from './resources.js';

/** Makes the connected database what a release wrote: `test/fixtures/database`. */
export async function loadRelease(version: string): Promise<void> {
  await mongoose.connection.dropDatabase();
  const file = new URL(`../fixtures/database/${version}.ndjson`, import.meta.url);
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const { collection, indexes, document } = mongoose.mongo.BSON.EJSON.parse(line, {
      relaxed: false,
    }) as Json;
    const target = mongoose.connection.collection(collection as string);
    if (document !== undefined) await target.insertOne(document as object);
    else if ((indexes as object[]).length > 0) await target.createIndexes(indexes as never);
  }
}
