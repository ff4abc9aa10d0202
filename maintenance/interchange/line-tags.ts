import type { JsonObject } from '../../openehr/base/json.js';
import { objectsAt } from '../../openehr/rm/access.js';
import type { ItemTagDoc, TagTarget } from '../../models/item-tag.js';
import { ehrIdOf, malformed, rootTypeOf, textOf, uuidOf } from './line-parts.js';

/** All item tags that some targets of an EHR have where they come from. docs/spec/interchange.md#item-tags-that-change */
export interface TagSet {
  readonly ehrId: string;
  readonly targets: readonly TagTarget[];
  /** Each on one of the targets. */
  readonly tags: readonly ItemTagDoc[];
}

/** Reads an item tag of a line. @throws invalid */
export function tagIn(line: JsonObject, given: JsonObject): ItemTagDoc {
  return {
    _id: uuidOf(given.id, 'item_tag/id'),
    ...targetIn(line, given),
    key: textOf(given, 'key'),
    value: typeof given.value === 'string' ? given.value : null,
    target_path: typeof given.target_path === 'string' ? given.target_path : null,
  };
}

function targetIn(line: JsonObject, given: JsonObject): TagTarget {
  const type = rootTypeOf(given.target_type);
  if (type === 'FOLDER') throw malformed('target_type of an item tag must be COMPOSITION or EHR_STATUS');
  return {
    owner_id: ehrIdOf(line.ehr_id),
    target: uuidOf(given.target, 'item_tag/target'),
    target_type: type,
    target_version: typeof given.target_version === 'number' ? given.target_version : null,
  };
}

/** Reads targets with all their tags. @throws invalid, also for a tag of another target, or two of which one would hide the other */
export function tagSetIn(line: JsonObject): TagSet {
  const targets = objectsAt(line, 'targets').map((given) => targetIn(line, given));
  const tags = objectsAt(line, 'item_tags').map((given) => tagIn(line, given));
  const known = new Set(targets.map(targetKey));
  if (tags.some((tag) => !known.has(targetKey(tag))))
    throw malformed('item_tags must be on the targets of their line');
  const isTwice = [tags.map(tagKey), tags.map(({ _id }) => _id)].some(
    (keys) => new Set(keys).size < keys.length,
  );
  if (isTwice) throw malformed('item_tags must differ by id, and on each target by key and target_path');
  return { ehrId: ehrIdOf(line.ehr_id), targets, tags };
}

/** One text for each target. */
export function targetKey({ target, target_version: version }: TagTarget): string {
  return JSON.stringify([target, version]);
}

/** One text for what must be unique: a key on a path of a target. */
export function tagKey(tag: ItemTagDoc): string {
  return JSON.stringify([tag.target, tag.target_version, tag.key, tag.target_path]);
}
