import { isDeepStrictEqual } from 'node:util';
import type { ErrorObstacle } from '../../openehr/base/errors.js';
import { parseObjectVersionId, rootOfUid } from '../../openehr/base/object-version-id.js';
import { subjectOf } from '../../change/commit/ehr-flags.js';
import { mergedMessage, notModifiable } from '../../change/commit/refusal.js';
import type { ItemTagDoc } from '../../models/item-tag.js';
import type { ConflictChoice } from '../request.js';
import type { MadeVersion, UnmergeSnapshot } from './snapshot.js';

/** Why a merge cannot be taken back just so. docs/spec/merge.md#obstacles */
export interface Obstacle extends ErrorObstacle {
  readonly code: ObstacleCode;
  readonly choices: readonly ConflictChoice[];
}

/** Kinds of obstacles. */
type ObstacleCode =
  | 'not_reversible'
  | 'target_merged'
  | 'target_not_modifiable'
  | 'subject_in_use'
  | 'joined_changed'
  | 'joined_tagged'
  | 'directory_changed'
  | 'merged_since'
  | 'contribution_mixed'
  | 'source_not_modifiable';

const BOTH: readonly ConflictChoice[] = ['keep_in_target', 'take_back'];
const KEEP: readonly ConflictChoice[] = ['keep_in_target'];

/** What can be chosen for each kind of obstacle; the others cannot be chosen away. */
const CHOICES: Readonly<Partial<Record<ObstacleCode, readonly ConflictChoice[]>>> = {
  joined_changed: BOTH,
  joined_tagged: BOTH,
  directory_changed: BOTH,
  merged_since: KEEP,
  contribution_mixed: BOTH,
  source_not_modifiable: KEEP,
};

function obstacle(code: ObstacleCode, message: string, object_ids: readonly string[] = []): Obstacle {
  return { code, message, object_ids, choices: CHOICES[code] ?? [] };
}

/** All obstacles to an unmerge; none: it can be done. Pure. */
export function obstaclesTo(snapshot: UnmergeSnapshot): Obstacle[] {
  const { record, target, targetMergedInto, subjectHolders } = snapshot;
  const found = obstaclesAtOnce(snapshot);
  if (targetMergedInto !== null) return found;
  found.push(...joinObstacles(snapshot), ...directoryObstacles(snapshot), ...mixedContributions(snapshot));
  found.push(...laterMerges(snapshot));
  const isGivenBack = givesSubjectBack(snapshot);
  for (const { ehrId, holder, isMerged } of subjectHolders) {
    if (isGivenBack && holder === target._id) continue;
    const whose = ehrId === record.source_ehr ? 'the source' : `EHR ${ehrId}, whose data go back with it,`;
    const remedy = isMerged
      ? ', which was merged since: take that merge back first'
      : ': give that one another subject first';
    found.push(obstacle('subject_in_use', `the subject of ${whose} is now used by EHR ${holder}${remedy}`));
  }
  if (!target.is_modifiable) {
    const message = `${notModifiable(target._id).message}: change its EHR_STATUS first`;
    found.push(obstacle('target_not_modifiable', message));
  }
  return [...found, ...lockedSource(snapshot)];
}

/** Whether the unmerge takes the subject that the target has now away from it. */
function givesSubjectBack({ status, target }: UnmergeSnapshot): boolean {
  return status !== null && !isDeepStrictEqual(subjectOf(status.object), target.subject ?? null);
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
    found.push(obstacle('not_reversible', 'the merge was not reversible'));
  if (targetMergedInto !== null) {
    const message = `${mergedMessage(target._id, targetMergedInto)}: take that merge back first`;
    found.push(obstacle('target_merged', message));
  }
  return found;
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
        return [obstacle('joined_changed', `${name} was changed since`, object_ids)];
      const { _id: uid } = made.version;
      if (!snapshot.tags.some((tag) => isTagOf(tag, uid))) return [];
      return [obstacle('joined_tagged', `the version ${uid} of ${name} has item tags`, object_ids)];
    });
}

/** A directory made by the merge is deleted again; what others put into it would go with it. */
function directoryObstacles(snapshot: UnmergeSnapshot): Obstacle[] {
  const made = madeDirectory(snapshot);
  const { isRoot } = snapshot.directory;
  if (made === null || !isRoot || made.latest.data === null || !isChanged(snapshot, made)) return [];
  const message = 'the directory that the merge created was changed since';
  return [obstacle('directory_changed', message, [made.version.object_id])];
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
    return [{ ...obstacle('contribution_mixed', message, [...new Set(back)]), contribution_uid: _id }];
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
  return [obstacle('source_not_modifiable', message, object_ids)];
}

/** What merges made since would have joined otherwise without this one. */
function laterMerges(snapshot: UnmergeSnapshot): Obstacle[] {
  const { record, story, live } = snapshot;
  const isBack = (id: string): boolean => snapshot.taken.get(id)?.now === 'target';
  const others = story.into.filter(({ _id }) => _id !== record._id);
  return others.flatMap(({ _id: other, source_ehr: ehrId, joined, apart = [] }) => {
    const remedy = `, which this merge brought: take the merge of EHR ${ehrId} back first, or keep`;
    const into = joined
      .filter(({ target }) => isBack(target))
      .map(({ source, target }) =>
        obstacle(
          'merged_since',
          `the composition ${source} of EHR ${ehrId} was joined to ${target}${remedy} that in the target`,
          [target],
        ),
      );
    const beside = apart
      .filter(({ source, targets }) => {
        const staying = targets.filter((id) => !isBack(id) && wasThere(snapshot, other, id));
        return (
          staying.length === 1 && targets.some(isBack) && [source, ...staying].every((id) => live.has(id))
        );
      })
      .map(({ source }) =>
        obstacle(
          'merged_since',
          `the composition ${source} of EHR ${ehrId} was not joined because of another one${remedy} it apart`,
          [source],
        ),
      );
    return [...into, ...beside];
  });
}

/**
 * Whether the target would have had an object before a merge, by the merges that stand: what another undo took away was not there,
 * and what came back by a merge made later was not there yet.
 */
function wasThere({ story, elsewhere, broughtBy }: UnmergeSnapshot, mergeId: string, id: string): boolean {
  if (elsewhere.has(id)) return false;
  const [first] = broughtBy.get(id) ?? [];
  if (first === undefined) return true;
  const places = story.into.map(({ _id }) => _id);
  return places.indexOf(first) < places.indexOf(mergeId);
}

/**
 * Whether a person committed to the container after the merge, or attested what it made, and no unmerge took that back. Of a list its
 * VERSIONs tell too, for their CONTRIBUTION may have stayed in another EHR. What an upgrade of data made of it is no person's.
 */
function isChanged({ since, story, lists, upgrades }: UnmergeSnapshot, { version }: MadeVersion): boolean {
  if ((lists.get(version.object_id)?.edits ?? []).length > 0) return true;
  return since.some(
    ({ _id, versions }) =>
      !upgrades.has(_id) &&
      versions.some(({ uid }) => {
        const id = parseObjectVersionId(uid);
        if (story.taken.has(uid)) return false;
        return id?.versionedObjectUid === version.object_id && id.version >= version.version;
      }),
  );
}

function isTagOf(tag: ItemTagDoc, versionUid: string): boolean {
  const id = parseObjectVersionId(versionUid);
  return tag.target === id?.versionedObjectUid && tag.target_version === id.version;
}
