import { trusted } from 'mongoose';
import { collection, date, text, type DocumentOf } from './access/collection.js';
import { COLLECTIONS } from './access/layout.js';
import type { RemoveWrite } from './access/write.js';

const FAVOURITE = {
  /** Owner and EHR, from `favouriteKey`. */
  _id: text,
  /** As of `draftOwner`. */
  owner: text,
  /** The EHR that it was; merges leave it as it is. */
  ehr_id: text,
  since: date,
};

/** An EHR that a user wants to find again. Fields: docs/spec/storage.md#other-collections. */
export type FavouriteDoc = DocumentOf<typeof FAVOURITE>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.favourites]: FavouriteDoc;
  }
}

const Favourite = collection(COLLECTIONS.favourites, FAVOURITE);

/** `_id` of a favourite. */
export function favouriteKey(owner: string, ehrId: string): string {
  return JSON.stringify([owner, ehrId]);
}

/** The favourites of an owner, newest first, at most `count`. */
export function favouritesOf(owner: string, count: number): Promise<FavouriteDoc[]> {
  return Favourite.find({ owner }).sort({ since: -1, _id: 1 }).limit(count).exec();
}

/** Stores a favourite in place of the one with its key. Joins the caller's transaction. */
export async function putFavourite({ _id, ...fields }: FavouriteDoc): Promise<void> {
  await Favourite.replaceOne({ _id }, fields, { upsert: true }).exec();
}

/** Removes favourites by their keys. Joins the caller's transaction. */
export async function removeFavourites(keys: readonly string[]): Promise<void> {
  await Favourite.deleteMany({ _id: trusted({ $in: keys }) }).exec();
}

/** Removes the favourites that are one of these EHRs. */
export function favouriteRemoval(ehrIds: readonly string[]): RemoveWrite<'favourites'> {
  return { collection: COLLECTIONS.favourites, remove: { ehr_id: { $in: ehrIds } } };
}
