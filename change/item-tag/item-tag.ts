import { randomUUID } from 'node:crypto';

import { CdrError } from '../../openehr/base/errors.js';
import { formatObjectVersionId, parseObjectVersionId } from '../../openehr/base/object-version-id.js';
import { isDuplicateKey } from '../../database/mongo-error.js';
import type { ItemTagDoc, TagFilter, TagTarget, TagTargetType } from '../../models/item-tag.js';
import {
  countTags,
  insertTags,
  removeTags,
  taggedVersionUids,
  tagsOfEhr,
  tagsOfTarget,
} from '../../models/item-tag.js';
import { versionExists } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import { containerOf } from '../../models/versioned-object.js';
import { ambient } from '../../database/transaction.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';
import { viewing } from '../access/viewer.js';
import { holdWritable, inOneState, writableEhr } from '../commit/ehr-access.js';
import { objectNotFound } from '../commit/refusal.js';
import { ACCESS_TAG } from '../../policy/attributes.js';
import { besideAccessTags, endCarried, mindingAccessTags } from './access-tags.js';
import { noSuchVersion, requireSeenTarget, requireTaggable, seenTags, type TagAddress } from './seen-tags.js';
import type { TagContent } from './tag-content.js';
import { MAX_TAGS, requireTags, tooManyTags } from './tag-content.js';
import { zip } from '../../openehr/base/required.js';

export type { TagAddress } from './seen-tags.js';

/** One tag of a PUT: with the id of an existing tag, or null for a new one. */
export interface TagEntry extends TagContent {
  readonly id: string | null;
}

/** Tags of one target. @throws not-found for an unknown EHR or target */
export async function listTags(address: TagAddress, filter: TagFilter = {}): Promise<ItemTagDoc[]> {
  const viewer = viewing.getStore()?.viewer;
  return inOneState(address.ehrId, async () => {
    const target = await targetOf(address);
    if (viewer !== undefined) await requireSeenTarget(viewer, address);
    return tagsOfTarget(target, filter);
  });
}

/** A tag with the uid of the container or version that it is on. */
export interface PlacedTag {
  readonly tag: ItemTagDoc;
  readonly uid: string;
}

/** Tags of everything in an EHR. @throws not-found for an unknown EHR */
export async function listEhrTags(ehrId: string, filter: TagFilter): Promise<PlacedTag[]> {
  const viewer = viewing.getStore()?.viewer;
  return inOneState(
    ehrId,
    async () => {
      const all = await tagsOfEhr(ehrId, filter);
      const tags = viewer === undefined ? all : await seenTags(viewer, ehrId, all);
      const uids = await taggedVersionUids(ehrId, tags);
      return tags.map((tag) => ({ tag, uid: uids.get(tag._id) ?? tag.target }));
    },
    'merge_seq',
  );
}

/**
 * Adds tags to one target and changes those whose id is given.
 * @throws not-found for an unknown EHR, target or id; conflict for a merged EHR, or when the target has another
 * tag of the same key and path; unprocessable for a bad tag, none at all, or more than it may have; forbidden for a change to what
 * only administrators may change
 */
export function putTags(address: TagAddress, entries: readonly TagEntry[]): Promise<ItemTagDoc[]> {
  const newIds = entries.map(() => randomUUID());
  return writing(address, async (target) => {
    requireSome(entries);
    requireTags(entries, 'unprocessable');
    const given = idsOf(entries);
    if (new Set(given).size !== given.length)
      throw new CdrError('unprocessable', 'an item tag id is given twice');
    const before = entries.some(({ key }) => key.startsWith(ACCESS_TAG)) ? await tagsOfTarget(target) : [];
    const beside = besideAccessTags(entries, before, 'unprocessable');
    const changed = new Set(beside ?? entries);
    const ids = idsOf(changed);
    if (ids.length > 0) await takeOut(target, { ids, sparesAccess: beside !== null });
    const docs = zip(entries, newIds).map(
      ([entry, newId]) => [entry, tagDoc(target, entry.id ?? newId, entry)] as const,
    );
    await addTags(
      target,
      docs.flatMap(([entry, doc]) => (changed.has(entry) ? [doc] : [])),
    );
    return docs.map(([, doc]) => doc);
  });
}

/** Makes these the only tags of one target. @throws as `putTags`, but invalid for a bad tag */
export function replaceTags(address: TagAddress, contents: readonly TagContent[]): Promise<ItemTagDoc[]> {
  return writing(address, (target) => {
    requireTags(contents, 'invalid');
    return exchange(target, contents);
  });
}

/** Removes the tags of one target that have these ids; unknown ids are ignored. @throws as `putTags` */
export async function deleteTagsById(address: TagAddress, ids: readonly string[]): Promise<void> {
  const sparesAccess = ambient.getStore()?.accessTags === undefined;
  await writing(address, (target) => {
    requireSome(ids);
    return removeTags(target, { ids, sparesAccess });
  });
}

/** Removes the tags of one target that have this key, and what merges brought of it where policies see it. @throws as `putTags`; not-found when there is none */
export async function deleteTagsByKey(address: TagAddress, key: string): Promise<void> {
  const right = ambient.getStore()?.accessTags;
  await writing(address, async (target) => {
    const removed = await removeTags(target, { keys: [key], sparesAccess: right === undefined });
    const ended = right === undefined ? 0 : await endCarried(target, right, key);
    if (removed + ended === 0) throw new CdrError('not-found', 'the target has no item tag with this key');
  });
}

/**
 * Makes these the only tags of a target, inside the caller's transaction, which holds the EHR already. Tags
 * that stay as they are keep their id. @throws forbidden for a change to what only administrators may change
 */
export function exchangeTags(target: TagTarget, contents: readonly TagContent[]): Promise<ItemTagDoc[]> {
  const right = ambient.getStore()?.accessTags;
  const write = () => exchange(target, contents);
  return right === undefined ? write() : mindingAccessTags(target, right, write);
}

async function exchange(target: TagTarget, contents: readonly TagContent[]): Promise<ItemTagDoc[]> {
  const before = await tagsOfTarget(target);
  const idOf = (content: TagContent): string =>
    before.find((tag) => tag.key === content.key && tag.target_path === content.targetPath)?._id ??
    randomUUID();
  const beside = besideAccessTags(contents, before, 'invalid');
  const kept = beside === null ? [] : before.filter(({ key }) => key.startsWith(ACCESS_TAG));
  const docs = (beside ?? contents).map((content) => tagDoc(target, idOf(content), content));
  if (kept.length + docs.length > MAX_TAGS) throw tooManyTags('invalid');
  if (before.length > kept.length) await removeTags(target, { sparesAccess: beside !== null });
  await insertTags(docs);
  return [...kept, ...docs];
}

/** The tag address that a container or version uid of a committed object stands for. */
export function tagTarget(ehrId: string, type: TagTargetType, uid: string): TagTarget {
  const version = parseObjectVersionId(uid);
  return {
    owner_id: ehrId,
    target: version?.versionedObjectUid ?? uid.toLowerCase(),
    target_type: type,
    target_version: version?.version ?? null,
  };
}

async function writing<T>(address: TagAddress, work: (target: TagTarget) => Promise<T>): Promise<T> {
  const { viewer, accessTags: right } = ambient.getStore() ?? {};
  if (viewer !== undefined) {
    await writableEhr(address.ehrId);
    await targetOf(address);
    await requireTaggable(viewer, address);
  }
  try {
    return await inAuditedTransaction(
      async () => {
        await holdWritable(address.ehrId);
        const target = await targetOf(address);
        const write = () => work(target);
        return right === undefined ? write() : mindingAccessTags(target, right, write);
      },
      () => ({ ehr_id: address.ehrId }),
    );
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const message = 'the target has a tag with the same key and target_path';
    throw new CdrError('conflict', message, { cause: error });
  }
}

async function targetOf({ ehrId, type, versionedObjectUid, version }: TagAddress): Promise<TagTarget> {
  const container = await containerOf(ehrId, type, versionedObjectUid);
  if (container === null) throw objectNotFound(ehrId, type, versionedObjectUid);
  if (version !== null && !(await hasVersion(container, formatObjectVersionId(version))))
    throw noSuchVersion(type, versionedObjectUid, version);
  return {
    owner_id: ehrId,
    target: versionedObjectUid,
    target_type: type,
    target_version: version?.version ?? null,
  };
}

/** An earlier version may be of another system than the latest one. Joins the caller's transaction. */
async function hasVersion(container: VersionedObjectDoc, versionUid: string): Promise<boolean> {
  if (container.latest_version_uid === versionUid) return true;
  return versionExists(container.ehr_id, versionUid);
}

function idsOf(entries: Iterable<TagEntry>): string[] {
  return [...entries].flatMap(({ id }) => (id === null ? [] : [id]));
}

function requireSome(values: readonly unknown[]): void {
  if (values.length === 0) throw new CdrError('unprocessable', 'the array must not be empty');
}

/** Adds tags to those of a target unless it then has too many. */
async function addTags(target: TagTarget, docs: readonly ItemTagDoc[]): Promise<void> {
  if ((await countTags(target)) + docs.length > MAX_TAGS) throw tooManyTags('unprocessable');
  await insertTags(docs);
}

/** Takes the named tags away, to be inserted anew: so two of them may also exchange their keys. */
async function takeOut(
  target: TagTarget,
  named: { readonly ids: readonly string[]; readonly sparesAccess: boolean },
): Promise<void> {
  if ((await removeTags(target, named)) !== named.ids.length)
    throw new CdrError('not-found', 'a given id is no item tag of this target');
}

function tagDoc(target: TagTarget, id: string, content: TagContent): ItemTagDoc {
  const { key, value, targetPath } = content;
  return { _id: id, ...target, key, value, target_path: targetPath };
}
