import { model, Schema, trusted } from 'mongoose';
import { COLLECTIONS } from './layout.js';
import { SCHEMA_OPTIONS } from './access/schema.js';
import type { RemoveWrite } from './access/write.js';

/** An EHR that a user wants to find again. Fields: docs/spec/storage.md#other-collections. */
export interface FavouriteDoc {
  /** Owner and EHR, from `favouriteKey`. */
  readonly _id: string;
  /** As of `draftOwner`. */
  readonly owner: string;
  /** The EHR that it was; merges leave it as it is. */
  readonly ehr_id: string;
  readonly since: Date;
}

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.favourites]: FavouriteDoc;
  }
}

const Favourite = model(
  'Favourite',
  new Schema<FavouriteDoc>({ _id: String, owner: String, ehr_id: String, since: Date }, SCHEMA_OPTIONS),
  COLLECTIONS.favourites,
);

/** `_id` of a favourite. */
export function favouriteKey(owner: string, ehrId: string): string {
  return JSON.stringify([owner, ehrId]);
}

/** The favourites of an owner, newest first, at most `count`. */
export function favouritesOf(owner: string, count: number): Promise<FavouriteDoc[]> {
  return Favourite.find({ owner }).sort({ since: -1, _id: 1 }).limit(count).lean<FavouriteDoc[]>().exec();
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
