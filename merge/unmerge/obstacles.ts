import { isDeepStrictEqual } from 'node:util';
import type { ErrorObstacle } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { parseObjectVersionId, rootOfUid } from '../../openehr/base/object-version-id.js';
import { mergedMessage, notModifiable } from '../../change/commit/refusal.js';
import type { ItemTagDoc } from '../../models/item-tag.js';
import type { VersionDoc } from '../../models/version.js';
import { givesSubjectBack } from './status-undo.js';
import type { MadeVersion, UnmergeSnapshot } from './snapshot.js';

/** Why a merge cannot be taken back just so. docs/spec/merge.md#obstacles */
export interface Obstacle extends ErrorObstacle {
  readonly code: ObstacleCode;
}

/** Kinds of obstacles. */
export type ObstacleCode =
  | 'not_reversible'
  | 'target_merged'
  | 'target_not_modifiable'
  | 'subject_in_use'
  | 'joined_changed'
  | 'joined_tagged'
  | 'directory_changed'
  | 'contribution_mixed'
  | 'source_not_modifiable';

/** All obstacles to an unmerge; none: it can be done. Pure. */
export function obstaclesTo(snapshot: UnmergeSnapshot): Obstacle[] {
  const { record, target, targetMergedInto, subjectHolders } = snapshot;
  const found = obstaclesAtOnce(snapshot);
  if (targetMergedInto !== null) return found;
  found.push(...joinObstacles(snapshot), ...directoryObstacles(snapshot), ...mixedContributions(snapshot));
  const isGivenBack = givesSubjectBack(snapshot);
  for (const { ehrId, holder } of subjectHolders) {
    if (isGivenBack && holder === target._id) continue;
    const whose = ehrId === record.source_ehr ? 'the source' : `EHR ${ehrId}, whose data go back with it,`;
    found.push(whole('subject_in_use', `the subject of ${whose} is now used by EHR ${holder}`));
  }
  if (!target.is_modifiable) found.push(whole('target_not_modifiable', notModifiable(target._id).message));
  return [...found, ...lockedSource(snapshot)];
}

/** Obstacles that are seen without a look at what moved. */
export function obstaclesAtOnce({
  record,
  target,
  targetMergedInto,
  source,
}: Pick<UnmergeSnapshot, 'record' | 'target' | 'targetMergedInto' | 'source'>): Obstacle[] {
  const found: Obstacle[] = [];
  if (!record.reversible || source === null)
    found.push(whole('not_reversible', 'the merge was not reversible'));
  if (targetMergedInto !== null)
    found.push(whole('target_merged', mergedMessage(target._id, targetMergedInto)));
  return found;
}

/** An obstacle to the unmerge as a whole. */
function whole(code: ObstacleCode, message: string): Obstacle {
  return { code, message, object_ids: [] };
}

/** Joined compositions should be what the merge made of them; one that was erased is in nobody's way. */
function joinObstacles(snapshot: UnmergeSnapshot): Obstacle[] {
  return snapshot.record.joined
    .flatMap(({ source, target }) => [source, target])
    .flatMap((versionedObjectUid): Obstacle[] => {
      const made = snapshot.made.get(versionedObjectUid);
      if (made === undefined) return [];
      const name = `the joined composition ${versionedObjectUid}`;
      const object_ids = [versionedObjectUid];
      if (isChanged(snapshot, made))
        return [{ code: 'joined_changed', message: `${name} was changed since`, object_ids }];
      const { _id: uid } = made.version;
      if (!snapshot.tags.some((tag) => isTagOf(tag, uid))) return [];
      return [{ code: 'joined_tagged', message: `the version ${uid} of ${name} has item tags`, object_ids }];
    });
}

/** A directory made by the merge is deleted again; what others put into it would go with it. */
function directoryObstacles(snapshot: UnmergeSnapshot): Obstacle[] {
  const made = madeDirectory(snapshot);
  if (made === null || made.before !== null || made.latest.data === null || !isChanged(snapshot, made))
    return [];
  const message = 'the directory that the merge created was changed since';
  return [{ code: 'directory_changed', message, object_ids: [made.version.object_id] }];
}

/** What the merge made of the target's directory; null: nothing, or it was erased. */
export function madeDirectory({ record, made }: UnmergeSnapshot): MadeVersion | null {
  const { directory_version_uid: uid } = record;
  return uid === undefined ? null : (made.get(rootOfUid(uid)) ?? null);
}

/** A CONTRIBUTION belongs to one EHR; objects that were erased since do not count. */
function mixedContributions(snapshot: UnmergeSnapshot): Obstacle[] {
  return snapshot.since.flatMap(({ _id, versions }): Obstacle[] => {
    const present = versions.map(({ uid }) => rootOfUid(uid)).filter((id) => !snapshot.erased.has(id));
    const back = present.filter((id) => snapshot.taken.has(id));
    if (back.length === 0 || back.length === present.length) return [];
    const message = `CONTRIBUTION ${_id}, made since, holds versions of moved objects and of others`;
    return [{ code: 'contribution_mixed', message, object_ids: [...new Set(back)], contribution_uid: _id }];
  });
}

/** What a locked EHR holds is not changed by way of another one. */
function lockedSource(snapshot: UnmergeSnapshot): Obstacle[] {
  const { source, since, taken } = snapshot;
  if (source === null || source.is_modifiable) return [];
  const changed = since.flatMap(({ versions }) => versions.map(({ uid }) => rootOfUid(uid)));
  const object_ids = [...new Set(changed)].filter((id) => taken.has(id) && !snapshot.erased.has(id));
  if (object_ids.length === 0) return [];
  const message = `moved objects were changed since, and ${notModifiable(source._id).message}`;
  return [{ code: 'source_not_modifiable', message, object_ids }];
}

/**
 * Whether anybody committed to the container after the merge, or attested what it made. A merge that came after and was
 * taken back changes nothing.
 */
export function isChanged({ since }: UnmergeSnapshot, { version }: MadeVersion): boolean {
  return since.some(({ versions }) =>
    versions.some(({ uid }) => {
      const id = parseObjectVersionId(uid);
      return id?.versionedObjectUid === version.object_id && id.version >= version.version;
    }),
  );
}

/** Whether two versions differ in nothing but their uids. */
export function isSameContent(one: VersionDoc, other: VersionDoc): boolean {
  if (one._id === other._id) return true;
  if (one.data === null || other.data === null) return one.data === other.data;
  return (
    isDeepStrictEqual(one.lifecycle_state, other.lifecycle_state) &&
    isDeepStrictEqual(withoutUid(one.data), withoutUid(other.data))
  );
}

function withoutUid(text: string): JsonObject {
  return { ...(JSON.parse(text) as JsonObject), uid: null };
}

function isTagOf(tag: ItemTagDoc, versionUid: string): boolean {
  const id = parseObjectVersionId(versionUid);
  return tag.target === id?.versionedObjectUid && tag.target_version === id.version;
}
