import type { JsonObject } from '../../openehr/base/json.js';
import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { textAt } from '../../openehr/rm/access.js';
import type { OldServer } from './old-server.js';
import { numberIn, type OldVersion } from './old-version.js';

/** Item tags of an EHR, and of what they are all that there are. */
export interface OldTags {
  readonly tags: readonly OldTag[];
  /** `all`: of containers and of versions; `containers`: a server that tells of these only; `none`: it has no tags. */
  readonly of: 'all' | 'containers' | 'none';
}

/** What an item tag is on; `version`: its number, null: the container. */
export interface OldTagTarget {
  readonly target: string;
  readonly target_type: string;
  readonly target_version: number | null;
}

/** An item tag. */
interface OldTag extends OldTagTarget {
  readonly id: string;
  readonly key: string;
  readonly value: string | null;
  readonly target_path: string | null;
}

/** Reads the item tags of an EHR: of what a server lists, as everchart does; else of each container, as EHRbase has them. @throws AnswerError */
export async function readOldTags(
  server: OldServer,
  ehrId: string,
  versions: readonly OldVersion[],
): Promise<OldTags> {
  const types = new Map(versions.map(({ uid, type }) => [rootOfUid(uid), type]));
  const listed = await server.tagList(ehrId);
  const targets =
    listed === null ? [...types.keys()] : listed.map((tag) => textAt(tag, 'target', 'value') ?? '');
  const tags: OldTag[] = [];
  for (const uid of new Set(targets)) {
    const type = types.get(rootOfUid(uid)) ?? 'FOLDER';
    if (type === 'FOLDER') continue;
    const path = `/ehr/${ehrId}/${type.toLowerCase()}/${encodeURIComponent(uid)}/item_tag`;
    for (const tag of await server.tags(path)) tags.push(tagOf(tag, uid, type));
  }
  if (!server.hasTags) return { tags: [], of: 'none' };
  return { tags, of: listed === null ? 'containers' : 'all' };
}

/** `uid`: what it was asked for; a tag that names a version itself is on that one. */
function tagOf(tag: JsonObject, uid: string, type: string): OldTag {
  const named = textAt(tag, 'target') ?? '';
  return {
    id: textAt(tag, 'id') ?? '',
    target: rootOfUid(uid),
    target_type: type,
    target_version: numberIn(named) || numberIn(uid) || null,
    key: textAt(tag, 'key') ?? '',
    value: textAt(tag, 'value') ?? null,
    target_path: textAt(tag, 'target_path') ?? null,
  };
}

/**
 * The line by which the tags here become those of the old server: docs/spec/interchange.md#item-tags-that-change. null: there are none on either side.
 * `here`: what has tags here.
 */
export function tagsLine(ehrId: string, { tags, of }: OldTags, here: readonly OldTagTarget[]): string | null {
  const known = here.filter(({ target_version: version }) => of === 'all' || version === null);
  const targets = new Map(
    [...tags, ...known].map(({ target, target_type, target_version }) => [
      `${target} ${target_version ?? ''}`,
      { target, target_type, target_version },
    ]),
  );
  if (of === 'none' || targets.size === 0) return null;
  return JSON.stringify({
    kind: 'item_tags',
    ehr_id: ehrId,
    targets: [...targets.values()],
    item_tags: tags,
  });
}
