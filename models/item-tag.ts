import { trusted, type ClientSession } from 'mongoose';

import { inSteps } from './access/in-steps.js';
import { COLLECTIONS } from './access/layout.js';
import { belongsTo, ownedBy } from './access/merge-job.js';
import { wholeList } from './access/one-snapshot.js';
import {
  collection,
  nullable,
  number,
  oneOf,
  optional,
  text,
  type Conditions,
  type DocumentOf,
} from './access/collection.js';
import { Version, type VersionDoc } from './version.js';
import { VersionedObject, type VersionedObjectDoc } from './versioned-object.js';
import type { InsertWrite, RemoveWrite, UpdateWrite, Write } from './access/write.js';
import { ACCESS_TAG, AFTER_ACCESS_TAG } from '../policy/attributes.js';

/** What can carry tags. */
export type TagTargetType = 'COMPOSITION' | 'EHR_STATUS';

const ITEM_TAG = {
  /** UUID. */
  _id: text,
  /** ehr_id of the owner. */
  owner_id: text,
  /** HIER_OBJECT_ID of the container. */
  target: text,
  target_type: oneOf<TagTargetType>(),
  /** Number of the tagged version; null: the container is tagged. */
  target_version: nullable(number),
  key: text,
  value: nullable(text),
  /** Path of the tagged node inside the target; null: all of it. */
  target_path: nullable(text),
  /** The import that restored it; absent: it was written here. */
  batch: optional(text),
};

/** One ITEM_TAG, not versioned. Fields: docs/spec/storage.md#other-collections. */
export type ItemTagDoc = DocumentOf<typeof ITEM_TAG>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.itemTags]: ItemTagDoc;
  }
}

/** What is tagged: a container, or one of its versions. */
export type TagTarget = Pick<ItemTagDoc, 'owner_id' | 'target' | 'target_type' | 'target_version'>;

/** What a list of tags is narrowed to; an empty list of ids or keys does not narrow it. */
export interface TagFilter {
  readonly ids?: readonly string[];
  readonly keys?: readonly string[];
  readonly values?: readonly string[];
  readonly targetPaths?: readonly string[];
  /** true: without those whose keys begin as policies of access may see them. */
  readonly sparesAccess?: boolean;
}

/** Tags that are read where only some of them are named. */
const NAMED = 20;

/** For the models that read and write it. */
export const ItemTag = collection(COLLECTIONS.itemTags, ITEM_TAG);

/** Tags of one container or version, by key, then path. */
export function tagsOfTarget(target: TagTarget, filter: TagFilter = {}): Promise<ItemTagDoc[]> {
  return sortedTags({ ...targetConditions(target), ...conditionsOf(filter) });
}

/**
 * Tags of a version and of its container, by key, then path; no read when there never were any: every GET of a
 * COMPOSITION and EHR_STATUS asks.
 */
export function tagsBesideVersion(version: VersionDoc): Promise<readonly ItemTagDoc[]> {
  if (version.has_item_tags !== true) return Promise.resolve([]);
  const target_version = trusted({ $in: [null, version.version] });
  return sortedTags({
    owner_id: ownedBy(belongsTo(version.ehr_id)),
    target: version.object_id,
    target_version,
  });
}

/** The uids of the versions that tags of an EHR are on, by the id of the tag; none of a tag that is on a container. */
export async function taggedVersionUids(
  ehrId: string,
  tags: readonly ItemTagDoc[],
): Promise<ReadonlyMap<string, string>> {
  const placeOf = (target: string, version: number | null): string => `${target}::${version ?? ''}`;
  const numbered = tags.filter(({ target_version: version }) => version !== null);
  const numbers = [...new Set(numbered.map(({ target_version: version }) => version ?? 0))];
  const uids = new Map<string, string>();
  for (const part of inSteps([...new Set(numbered.map(({ target }) => target))])) {
    const on = {
      ehr_id: ownedBy(ehrId),
      object_id: trusted({ $in: part }),
      version: trusted({ $in: numbers }),
    };
    const versions = await Version.find(on, { object_id: 1, version: 1 }).exec();
    for (const { _id, object_id: target, version } of versions) uids.set(placeOf(target, version), _id);
  }
  return new Map(
    numbered.map((tag) => [tag._id, uids.get(placeOf(tag.target, tag.target_version)) ?? tag.target]),
  );
}

/** A tag as it is said to others: not by which import it came. */
export function withoutBatch(tag: ItemTagDoc): ItemTagDoc {
  return Object.fromEntries(Object.entries(tag).filter(([name]) => name !== 'batch')) as ItemTagDoc;
}

/** How many tags a container or version has. */
export function countTags(target: TagTarget): Promise<number> {
  return ItemTag.countDocuments(targetConditions(target)).exec();
}

/** Tags of all targets in an EHR, by key, then path. */
export function tagsOfEhr(ehrId: string, filter: TagFilter = {}): Promise<ItemTagDoc[]> {
  return sortedTags({ owner_id: ownedBy(ehrId), ...conditionsOf(filter) });
}

/**
 * Stores tags of one target, inside the caller's transaction, which holds the EHR. A duplicate key error passes
 * untouched: it ends that transaction.
 */
export async function insertTags(tags: readonly ItemTagDoc[]): Promise<void> {
  const [first] = tags;
  if (first === undefined) return;
  await ItemTag.insertMany(tags);
  await markTagged(first);
}

/** From the first tag on, readers of the container's versions must look for tags. */
async function markTagged({ owner_id: ehrId, target }: TagTarget): Promise<void> {
  const set = { $set: { has_item_tags: true } } as const;
  const unmarked = { _id: target, ehr_id: ehrId, has_item_tags: null };
  const { modifiedCount } = await VersionedObject.updateOne(unmarked, set).exec();
  if (modifiedCount > 0) await Version.updateMany({ ehr_id: ehrId, object_id: target }, set).exec();
}

/** Removes those tags of a target that the filter names (all without one). Gives how many. */
export async function removeTags(target: TagTarget, filter: TagFilter = {}): Promise<number> {
  const { deletedCount } = await ItemTag.deleteMany({
    ...targetConditions(target),
    ...conditionsOf(filter),
  }).exec();
  return deletedCount;
}

/** Item tags of an EHR on these containers. */
export async function tagsOn(
  session: ClientSession,
  ehrId: string,
  versionedObjectUids: readonly string[],
): Promise<ItemTagDoc[]> {
  const found: ItemTagDoc[] = [];
  for (const part of inSteps(versionedObjectUids)) {
    const tags = ItemTag.collection.find<ItemTagDoc>({ owner_id: ehrId, target: { $in: part } }, { session });
    found.push(...(await tags.toArray()));
  }
  return found;
}

/** Item tags of an EHR on these containers and their versions, as they are stored. */
export async function tagsOnTargets(
  ehrId: string,
  versionedObjectUids: readonly string[],
): Promise<ItemTagDoc[]> {
  const found: ItemTagDoc[] = [];
  for (const part of inSteps(versionedObjectUids))
    found.push(...(await ItemTag.find({ owner_id: ehrId, target: trusted({ $in: part }) }).exec()));
  return found;
}

/** What in an EHR has item tags that none of these imports restored, some of it. Joins the caller's transaction. */
export async function taggedBeside(ehrId: string, batches: readonly string[]): Promise<string[]> {
  const $and = batches.map((batch) => ({ batch: trusted({ $ne: batch }) }));
  const found = await ItemTag.find({ owner_id: ehrId, $and }, { target: 1 }).limit(NAMED).exec();
  return [...new Set(found.map(({ target }) => target))];
}

/** How many item tags an EHR has on these containers, as many as one command can name. */
export function countTagsOn(
  session: ClientSession,
  ehrId: string,
  versionedObjectUids: readonly string[],
): Promise<number> {
  const on = { owner_id: ehrId, target: { $in: [...versionedObjectUids] } };
  return ItemTag.collection.countDocuments(on, { session });
}

/** Item tags of an EHR that a merge may end: on its EHR_STATUS, or on that of an EHR merged into it before, and on these containers. */
export function tagsOnEnding(ehrId: string, versionedObjectUids: readonly string[]): Promise<ItemTagDoc[]> {
  const onThese = [
    { target_type: 'EHR_STATUS' as const },
    { target: trusted({ $in: [...versionedObjectUids] }) },
  ];
  return sortedTags({ owner_id: ehrId, $or: onThese });
}

/** Item tags of an EHR, as they are read. */
export function itemTagsOf(ehrId: string): AsyncIterable<ItemTagDoc> {
  return ItemTag.collection.find<ItemTagDoc>({ owner_id: ehrId });
}

/** The writes that mark a container and its versions as tagged, whichever of them are there. */
export function taggedMarks({ _id, ehr_id: ehrId }: Pick<VersionedObjectDoc, '_id' | 'ehr_id'>): Write[] {
  const update = { $set: { has_item_tags: true as const } };
  const container = { _id, ehr_id: ehrId };
  return [
    { collection: COLLECTIONS.versionedObjects, filter: container, update, matching: 'any' },
    { collection: COLLECTIONS.versions, filter: { ehr_id: ehrId, object_id: _id }, update, matching: 'any' },
  ];
}

/** The write that adds a tag. */
export function itemTagInsert(insert: ItemTagDoc): InsertWrite<'item_tags'> {
  return { collection: COLLECTIONS.itemTags, insert };
}

/** The write that makes a tag which an import has restored, and nobody has changed since, another one. */
export function restoredTagChange(known: ItemTagDoc, tag: ItemTagDoc): UpdateWrite<'item_tags'> {
  const { _id, batch, key, value, target_path } = known;
  return {
    collection: COLLECTIONS.itemTags,
    filter: { _id, ...(batch !== undefined && { batch }), key, value, target_path },
    update: {
      $set: {
        ...{ key: tag.key, value: tag.value, target_path: tag.target_path },
        ...(tag.batch !== undefined && { batch: tag.batch }),
      },
    },
    matching: 'one',
  };
}

/** Removes of these tags those that are still as an import has restored them. */
export function restoredTagRemovals(ehrId: string, ids: readonly string[]): RemoveWrite<'item_tags'>[] {
  return inSteps(ids).map((part) => ({
    collection: COLLECTIONS.itemTags,
    remove: { _id: { $in: part }, owner_id: ehrId, batch: { $exists: true } },
  }));
}

/** Removes the tags with these ids. */
export function itemTagRemovals(ehrId: string, ids: readonly string[]): RemoveWrite<'item_tags'>[] {
  return inSteps(ids).map((part) => ({
    collection: COLLECTIONS.itemTags,
    remove: { _id: { $in: part }, owner_id: ehrId },
  }));
}

/** Removes all tags of a container and its versions, or of a whole EHR. */
export function itemTagRemoval(ehrId: string, versionedObjectUid?: string): RemoveWrite<'item_tags'> {
  const one = versionedObjectUid === undefined ? {} : { target: versionedObjectUid };
  return { collection: COLLECTIONS.itemTags, remove: { owner_id: ehrId, ...one } };
}

async function sortedTags(filter: Conditions<ItemTagDoc>): Promise<ItemTagDoc[]> {
  const tags = await ItemTag.find(filter)
    .sort({ key: 1, target_path: 1, target: 1, target_version: 1 })
    .setOptions(await wholeList())
    .exec();
  return tags.map((tag) => ({ ...tag, owner_id: belongsTo(tag.owner_id) }));
}

function targetConditions({
  owner_id,
  target,
  target_type,
  target_version,
}: TagTarget): Record<string, unknown> {
  return { owner_id: ownedBy(owner_id), target, target_type, target_version };
}

function conditionsOf(filter: TagFilter): Record<string, unknown> {
  const among = (field: string, values: readonly string[] | undefined): Record<string, unknown> =>
    values === undefined || values.length === 0 ? {} : { [field]: trusted({ $in: values }) };
  return {
    ...among('_id', filter.ids),
    ...among('key', filter.keys),
    ...among('value', filter.values),
    ...among('target_path', filter.targetPaths),
    ...(filter.sparesAccess === true && {
      $nor: [{ key: trusted({ $gte: ACCESS_TAG, $lt: AFTER_ACCESS_TAG }) }],
    }),
  };
}
