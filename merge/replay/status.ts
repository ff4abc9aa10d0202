import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import type { MergeRecordDoc } from '../../models/merge/record.js';
import type { VersionDoc } from '../../models/version.js';
import { contentOf, withFields } from '../content.js';
import { makerOf, type MergeStory } from './story.js';

/**
 * The EHR_STATUS of an EHR by what persons wrote and by the merges that stand, but for one; null: it is so already. Pure.
 * `versions`: all of them, oldest first. docs/spec/merge.md#undo-is-replay
 */
export function statusWithout(
  versions: readonly VersionDoc[],
  story: MergeStory,
  mergeId: string | null,
): JsonObject | null {
  const fields = new Map<string, JsonValue>();
  let before: JsonObject = {};
  for (const version of versions) {
    const content = contentOf(version);
    const maker = makerOf(story, version);
    for (const field of maker === null ? differing(before, content) : [])
      fields.set(field, content[field] ?? null);
    for (const merge of story.into) {
      if (merge._id === mergeId) continue;
      for (const field of takenFields(merge, version, { before, content }))
        fields.set(field, content[field] ?? null);
    }
    before = content;
  }
  const wanted = withFields(before, [...fields]);
  return isDeepStrictEqual(wanted, before) ? null : wanted;
}

/** What a merge took from its source that this version is the first to have after it. */
function takenFields(
  { status_taken: taken, contribution_uid: made }: MergeRecordDoc,
  version: VersionDoc,
  { before, content }: { readonly before: JsonObject; readonly content: JsonObject },
): readonly string[] {
  if (taken !== undefined) return taken.version_uid === version._id ? taken.fields : [];
  // Merges of older releases did not note it: what they changed they took.
  return made === version.contribution_uid ? differing(before, content) : [];
}

/** Attributes but `uid` in which two EHR_STATUS differ. */
function differing(one: JsonObject, other: JsonObject): string[] {
  const fields = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...fields].filter((field) => field !== 'uid' && !isDeepStrictEqual(one[field], other[field]));
}
