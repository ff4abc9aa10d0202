import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../openehr/base/json.js';
import { subjectOf } from '../../change/commit/ehr-flags.js';
import { withFields } from '../plan/choices.js';
import { contentOf } from '../content.js';
import type { MadeVersion, UnmergeSnapshot } from './snapshot.js';

/** The EHR_STATUS that an unmerge gives back to the target. */
export interface StatusUndo {
  readonly made: MadeVersion;
  readonly object: JsonObject;
}

/**
 * The target's EHR_STATUS with what the merge took from the source as it was before; what others changed since stays.
 * null: the merge took nothing, or others changed all of it. Pure. docs/spec/merge.md#unmerge
 */
export function statusUndo({ made, target }: Pick<UnmergeSnapshot, 'made' | 'target'>): StatusUndo | null {
  const status = made.get(target.ehr_status_id);
  if (status?.before == null) return null;
  const [before, merged, now] = [status.before, status.version, status.latest].map(contentOf) as [
    JsonObject,
    JsonObject,
    JsonObject,
  ];
  const fields = [...new Set([...Object.keys(before), ...Object.keys(merged)])]
    .filter((field) => field !== 'uid' && !isDeepStrictEqual(before[field], merged[field]))
    .filter((field) => isDeepStrictEqual(merged[field], now[field]));
  if (fields.length === 0) return null;
  return {
    made: status,
    object: withFields(
      now,
      fields.map((field) => [field, before[field] ?? null]),
    ),
  };
}

/** Whether the unmerge takes the subject that the target has now away from it. */
export function givesSubjectBack(snapshot: Pick<UnmergeSnapshot, 'made' | 'target'>): boolean {
  const undo = statusUndo(snapshot);
  return undo !== null && !isDeepStrictEqual(subjectOf(undo.object), snapshot.target.subject ?? null);
}
