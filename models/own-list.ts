import { collection, number, text } from './access/collection.js';
import { COLLECTIONS } from './access/layout.js';

const OWNER = {
  /** The owner, as a key that no document of his has. */
  _id: text,
  /** How often he saved something. */
  saves: number,
};

const OWNERS = {
  favourites: collection(COLLECTIONS.favourites, OWNER, 'owner of favourites'),
  dashboards: collection(COLLECTIONS.dashboards, OWNER, 'owner of dashboards'),
};

/**
 * Lets of two savings into one list of an owner only one through at a time: what both count would else be below its limit for
 * both. Joins the caller's transaction.
 */
export async function holdOwnList(list: keyof typeof OWNERS, owner: string): Promise<void> {
  await OWNERS[list]
    .updateOne({ _id: JSON.stringify([owner]) }, { $inc: { saves: 1 } }, { upsert: true })
    .exec();
}
