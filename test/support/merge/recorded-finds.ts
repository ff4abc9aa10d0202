import { jest } from '@jest/globals';
import mongoose from 'mongoose';

/**
 * The finds that are made from now on, of these collections, each to be cloned and explained. They go on being made.
 * Ends with `jest.restoreAllMocks()`.
 */
export function recordedFinds(collections: readonly string[]): mongoose.mongo.FindCursor[] {
  const cursors: mongoose.mongo.FindCursor[] = [];
  const { Collection } = mongoose.mongo;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the collection below
  const original = Collection.prototype.find;
  jest.spyOn(Collection.prototype, 'find').mockImplementation(function (
    this: mongoose.mongo.Collection,
    ...args: Parameters<typeof original>
  ) {
    const cursor = original.apply(this, args);
    if (collections.includes(this.collectionName)) cursors.push(cursor as never);
    return cursor;
  } as never);
  return cursors;
}
