import { randomUUID } from 'node:crypto';
import { trusted } from 'mongoose';
import { inSteps } from './access/in-steps.js';
import { COLLECTIONS } from './access/layout.js';
import { belongsTo, ownedBy, ownersNow } from './access/merge-job.js';
import type { InsertWrite, RemoveWrite } from './access/write.js';
import {
  ACCESS_TAG,
  accessTags,
  AFTER_ACCESS_TAG,
  tagTextPatterns,
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

/** Tags of some EHRs as `accessTagsOf` finds them, by EHR; of one without any nothing. */
export async function accessTagsAmong(ehrIds: readonly string[]): Promise<ReadonlyMap<string, AccessTags>> {
  const key = trusted({ $gte: ACCESS_TAG, $lt: AFTER_ACCESS_TAG });
  const stored = new Map<string, ItemTagDoc[]>();
  for (const part of inSteps([...new Set(ehrIds.flatMap((ehrId) => ownersNow(ehrId)))]))
    for (const tag of await ItemTag.find({ key, owner_id: trusted({ $in: part }), ...OF_EHR }).exec()) {
      const ehrId = belongsTo(tag.owner_id);
      stored.set(ehrId, [...(stored.get(ehrId) ?? []), tag]);
    }
  return new Map([...stored].map(([ehrId, tags]) => [ehrId, accessTags(tags)]));
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
  const patterns = values === undefined ? undefined : tagTextPatterns(values);
  const tags: { readonly owner_id: string; readonly value: string | null }[] = [];
  for (const isIn of patterns ?? [undefined]) {
    const found = await ItemTag.find(
      { key, ...OF_EHR, ...(isIn !== undefined && { value: trusted({ $regex: isIn }) }) },
      { owner_id: 1, value: 1 },
    )
      .limit(most - tags.length)
      .exec();
    tags.push(...found);
    if (tags.length >= most) break;
  }
  return tags.map(({ owner_id: owner, value }) => ({ ehrId: belongsTo(owner), value }));
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
