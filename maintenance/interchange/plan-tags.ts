import { isDeepStrictEqual } from 'node:util';
import { CdrError } from '../../openehr/base/errors.js';
import { isAccessTag } from '../../models/access-tag.js';
import {
  itemTagInsert,
  restoredTagChange,
  restoredTagRemovals,
  taggedMarks,
  withoutBatch,
  type ItemTagDoc,
} from '../../models/item-tag.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import type { Write } from '../../models/access/write.js';
import type { Chains } from './chain.js';
import { tagKey, targetKey, type TagSet } from './line-tags.js';
import type { EhrPart, RestoreState } from './part.js';

/** What tags are restored beside. */
interface Beside {
  readonly chains: Chains;
  readonly state: Pick<RestoreState, 'containers' | 'tags'>;
  /** Id of the import. */
  readonly batch: string;
  /** Gets the tags, and sets of tags, that are there already. */
  readonly there: Set<object>;
}

/** The writes that restore tags, and mark what they are on. @throws invalid, conflict */
export function tagWrites(
  { tags, tagSets = [] }: Pick<EhrPart, 'tags' | 'tagSets'>,
  beside: Beside,
): { readonly writes: readonly Write[] } {
  const heads = new Map(beside.chains.changed.map(({ head }) => [head._id, head]));
  const writes: Write[] = [];
  const tagged = new Map<string, VersionedObjectDoc>();
  const add = (tag: ItemTagDoc): void => {
    const container = heads.get(tag.target) ?? beside.state.containers.get(tag.target);
    const insert = itemTagInsert({ ...tag, batch: beside.batch });
    // A merge brought it: its EHR_STATUS ended, and may be in no file.
    if (isAccessTag(tag) && container?.ehr_id !== tag.owner_id) {
      writes.push(insert);
      return;
    }
    requireTarget(tag, container);
    writes.push(insert);
    if (container.has_item_tags !== true) tagged.set(container._id, container);
  };
  for (const tag of tags) if (!tagIsThere(tag, beside)) add(tag);
  for (const set of tagSets) {
    const { added, changes } = setChanges(set, beside);
    for (const tag of added) add(tag);
    writes.push(...changes);
    if (added.length + changes.length === 0) beside.there.add(set);
  }
  return { writes: [...writes, ...[...tagged.values()].flatMap(taggedMarks)] };
}

function tagIsThere(tag: ItemTagDoc, { state, there }: Beside): boolean {
  const known = state.tags.get(tag._id);
  if (known === undefined) return false;
  if (!isDeepStrictEqual(withoutBatch(known), tag)) throw refused('conflict', tag, 'here it is another one');
  there.add(tag);
  return true;
}

function requireTarget(
  tag: ItemTagDoc,
  container: VersionedObjectDoc | undefined,
): asserts container is VersionedObjectDoc {
  if (container?.ehr_id !== tag.owner_id || container.type !== tag.target_type)
    throw refused('invalid', tag, 'what it is on is neither here nor before it in the file');
  if ((tag.target_version ?? 0) > container.latest_version)
    throw refused('invalid', tag, 'the version it is on is neither here nor before it in the file');
}

/**
 * What makes the tags of some targets those of where they come from: a tag that an import has brought, and nobody has changed
 * since, follows; others stay. docs/spec/interchange.md#item-tags-that-change @throws conflict for one that was written here
 */
function setChanges(
  { ehrId, targets, tags }: TagSet,
  { state, batch }: Beside,
): { readonly added: readonly ItemTagDoc[]; readonly changes: readonly Write[] } {
  const own = new Set(targets.map(targetKey));
  const here = [...state.tags.values()].filter((tag) => tag.owner_id === ehrId && own.has(targetKey(tag)));
  const open = new Map(here.map((tag) => [tagKey(tag), tag]));
  const changes: Write[] = [];
  const change = (known: ItemTagDoc, tag: ItemTagDoc): void => {
    open.delete(tagKey(known));
    if (isSameTag(known, tag)) return;
    if (known.batch === undefined) throw refused('conflict', tag, 'here somebody has written another one');
    changes.push(restoredTagChange(known, { ...tag, batch }));
  };
  const others = tags.filter((tag) => {
    const known = open.get(tagKey(tag));
    if (known !== undefined) change(known, tag);
    return known === undefined;
  });
  const added = others.filter((tag) => {
    const known = [...open.values()].find((one) => one._id === tag._id && targetKey(one) === targetKey(tag));
    if (known !== undefined) change(known, tag);
    else if (state.tags.has(tag._id)) throw refused('conflict', tag, 'here its id is that of another one');
    return known === undefined;
  });
  const gone = [...open.values()].filter((tag) => tag.batch !== undefined).map(({ _id }) => _id);
  return { added, changes: [...changes, ...restoredTagRemovals(ehrId, gone)] };
}

/** Whether two tags of one target say the same. */
function isSameTag(one: ItemTagDoc, other: ItemTagDoc): boolean {
  return tagKey(one) === tagKey(other) && one.value === other.value;
}

function refused(code: 'invalid' | 'conflict', { _id, key }: ItemTagDoc, why: string): CdrError {
  return new CdrError(code, `item tag ${key} (${_id}) cannot be restored: ${why}`);
}
