import { trusted } from 'mongoose';
import { COLLECTIONS } from '../access/layout.js';
import { collection, date, text, type DocumentOf } from '../access/collection.js';
import type { RemoveWrite } from '../access/write.js';

const DISTINCT = {
  /** Both ids, the lower first, from `distinctKey`. */
  _id: text,
  /** The lower id. */
  ehr_id: text,
  other_ehr: text,
  reason: text,
  /** Name of the administrator. */
  said_by: text,
  said_at: date,
};

/** That two EHRs are of two persons, as somebody found out. Fields: docs/spec/storage.md#other-collections. */
export type DistinctDoc = DocumentOf<typeof DISTINCT>;

declare module '../access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.distinctPersons]: DistinctDoc;
  }
}

const Distinct = collection(COLLECTIONS.distinctPersons, DISTINCT);

/** `_id` of a pair, in whatever order it is given. */
export function distinctKey(pair: readonly [string, string]): string {
  return JSON.stringify([...pair].sort());
}

/** Stores what is said of a pair in place of what was said before. Joins the caller's transaction. */
export async function putDistinct({ _id, ...fields }: DistinctDoc): Promise<void> {
  await Distinct.replaceOne({ _id }, fields, { upsert: true }).exec();
}

/** Takes back what was said of a pair; whether anything was. Joins the caller's transaction. */
export async function removeDistinct(key: string): Promise<boolean> {
  return (await Distinct.deleteOne({ _id: key }).exec()).deletedCount > 0;
}

/** What is said, newest first, at most `count`. */
export function distinctPairs(count: number): Promise<DistinctDoc[]> {
  return Distinct.find({}).sort({ said_at: -1, _id: 1 }).limit(count).exec();
}

/** Those of the pairs of which it is said, by their keys. */
export async function distinctAmong(keys: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await Distinct.find({ _id: trusted({ $in: keys }) }, { _id: 1 }).exec();
  return new Set(found.map(({ _id: key }) => key));
}

/** Takes back what is said of pairs with one of these EHRs. */
export function distinctRemovals(ehrIds: readonly string[]): RemoveWrite<'distinct_persons'>[] {
  return (['ehr_id', 'other_ehr'] as const).map((field) => ({
    collection: COLLECTIONS.distinctPersons,
    remove: { [field]: { $in: ehrIds } },
  }));
}
