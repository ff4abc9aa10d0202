import { randomUUID } from 'node:crypto';
import { trusted } from 'mongoose';
import { inSteps } from './access/in-steps.js';
import { COLLECTIONS } from './access/layout.js';
import { belongsTo, ownedBy } from './access/merge-job.js';
import type { InsertWrite, RemoveWrite } from './access/write.js';
import {
  ACCESS_TAG,
  accessTags,
  AFTER_ACCESS_TAG,
  tagValues,
  type AccessTags,
} from '../policy/attributes.js';
import { ItemTag, itemTagInsert, withoutBatch, type ItemTagDoc, type TagTarget } from './item-tag.js';

/** What policies of access see of tags: those of the whole EHR_STATUS container of an EHR. */
const OF_EHR = { target_type: 'EHR_STATUS', target_version: null, target_path: null } as const;

/** Tags of an EHR as a whole that policies see. docs/access.md#tags */
export async function accessTagsOf(ehrId: string): Promise<AccessTags> {
  const key = trusted({ $gte: ACCESS_TAG, $lt: AFTER_ACCESS_TAG });
  return accessTags(await ItemTag.find({ key, owner_id: ownedBy(ehrId), ...OF_EHR }).exec());
}

/** Whether policies see a tag, of the EHR that it is in. */
export function isAccessTag({
  key,
  target_type: type,
  target_version: version,
  target_path: path,
}: ItemTagDoc): boolean {
  return key.startsWith(ACCESS_TAG) && type === 'EHR_STATUS' && version === null && path === null;
}

/** Tags of one key, at most `most` in no order: of which EHRs, and their texts. `values`: that have one of these in them. */
export async function tagsOfKey(
  key: string,
  most: number,
  values?: readonly string[],
): Promise<{ readonly ehrId: string; readonly value: string | null }[]> {
  // A value of a tag has no blanks around it, and no comma: others are in none.
  const sought = values?.filter((value) => tagValues(value).join() === value && value !== '');
  if (sought?.length === 0) return [];
  const isIn = sought === undefined ? undefined : valuePattern(sought);
  const tags = await ItemTag.find(
    { key, ...OF_EHR, ...(isIn !== undefined && { value: trusted({ $regex: isIn }) }) },
    { owner_id: 1, value: 1 },
  )
    .limit(most)
    .exec();
  return tags.map(({ owner_id: owner, value }) => ({ ehrId: belongsTo(owner), value }));
}

/** What JavaScript trims, which is more than a regular expression of the database takes for blanks. */
const BLANKS =
  '[\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}]*+';

/** The texts that have one of these values, as `tagValues` finds them. Possessive: blanks are looked at once. */
function valuePattern(values: readonly string[]): string {
  return `(?:^|,)${BLANKS}(?:${values.map(inPattern).join('|')})${BLANKS}(?:,|$)`;
}

/** A text in a regular expression of the database, which takes no NUL. */
function inPattern(value: string): string {
  return value.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`).replaceAll('\0', String.raw`\x00`);
}

/**
 * The writes that give an EHR a copy of those of these tags, of the EHR that is merged into it, that policies see: what hides stays hidden.
 * A copy is on the EHR_STATUS that ends, beside whatever the EHR has on its own.
 */
export function carriedTagInserts(ended: readonly ItemTagDoc[], ehrId: string): InsertWrite<'item_tags'>[] {
  const copies = ended
    .filter(isAccessTag)
    .map((tag) => ({ ...withoutBatch(tag), _id: randomUUID(), owner_id: ehrId }));
  return copies.map(itemTagInsert);
}

/** The writes that take such copies away again, which have their own EHR_STATUS back. */
export function carriedTagRemovals(ended: readonly ItemTagDoc[], ehrId: string): RemoveWrite<'item_tags'>[] {
  const targets = [...new Set(ended.filter(isAccessTag).map(({ target }) => target))];
  return inSteps(targets).map((part) => ({
    collection: COLLECTIONS.itemTags,
    remove: { owner_id: ehrId, target: { $in: part } },
  }));
}

/** Ends the copies that merges brought of tags of these keys. Gives how many. Joins the caller's transaction, which holds the EHR. */
export async function endCarriedTags(own: TagTarget, keys: readonly string[]): Promise<number> {
  const { owner_id: ehrId, target } = own;
  const among = { key: trusted({ $in: [...keys] }), target: trusted({ $ne: target }) };
  return (await ItemTag.deleteMany({ owner_id: ehrId, ...OF_EHR, ...among }).exec()).deletedCount;
}
