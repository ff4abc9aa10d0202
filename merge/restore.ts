import { formatObjectVersionId, parseObjectVersionId } from '../openehr/base/object-version-id.js';
import { writeContribution } from '../change/commit/commit.js';
import type { CommitRequest } from '../change/commit/request.js';
import { aqlInsert, aqlRemovalOfVersion, latestAgain, recomputedDocuments } from '../models/aql-document.js';
import { contributionRemoval, shortenContribution } from '../models/contribution.js';
import { clearDirectory, fromTombstone, type EhrDoc } from '../models/ehr.js';
import { inSteps } from '../models/access/in-steps.js';
import { itemTagInsert } from '../models/item-tag.js';
import { archivedBodies, archiveRemoval } from '../models/merge-archive.js';
import { mergeRecordRemoval } from '../models/merge-record.js';
import {
  moveContainers,
  moveContributions,
  moveItemTags,
} from '../models/cross-collection/owned-documents.js';
import { contributionRemoved, versionsRemoved, versionsRestored } from '../models/removal.js';
import { anyVersion, versionInsert, versionRemoval } from '../models/version.js';
import { containerInsert, containerRemoval, rewindHead } from '../models/versioned-object.js';
import { runWrites, type Session, type Write } from '../models/access/write.js';
import { rederiveDuringReindex } from './rederive.js';
import type { MergeContext } from './request.js';
import type { UnmergePlan, UnmergeSnapshot } from './unmerge-plan.js';

/** An unmerge ready to be written. */
export interface PlannedUnmerge {
  readonly snapshot: UnmergeSnapshot;
  readonly plan: UnmergePlan;
  /** A new version of the target's directory; null when none is needed. */
  readonly commit: CommitRequest | null;
}

/** Writes of one command: a restored version may have megabytes. */
const STEP = 100;

/**
 * Writes an unmerge inside the caller's transaction, in which both EHRs are held.
 * @throws CdrError of the commit; Error when the database does not hold what was planned with
 */
export async function undoMerge(
  session: Session,
  context: MergeContext,
  unmerge: PlannedUnmerge,
): Promise<void> {
  const { snapshot, plan, commit } = unmerge;
  const { record, source } = snapshot;
  if (source === null) throw new TypeError('an unmerge needs the archive of the merge');
  await removeMadeVersions(session, unmerge);
  await moveBack(session, unmerge, source);
  const moved = {
    ehrId: source._id,
    isQueryable: source.is_queryable,
    versionedObjectUids: plan.compositions,
  };
  await rederiveDuringReindex(session, moved, context.change.settings.aql.leafIndex);
  await runRequired(session, [fromTombstone(source)]);
  await restoreEnded(session, context, { mergeId: record._id, source });
  await runInSteps(session, plan.restoredTags.map(itemTagInsert));
  await runWrites(session, [archiveRemoval([record._id]), mergeRecordRemoval(record._id)]);
  if (commit !== null) await writeContribution(session, context.change, commit);
}

/** The chains of joined compositions and of the directory end where they ended before the merge. */
async function removeMadeVersions(session: Session, { snapshot, plan }: PlannedUnmerge): Promise<void> {
  const { record, target } = snapshot;
  for (const versionUid of plan.removedVersions) await removeLatest(session, target._id, versionUid);
  await runWrites(session, removalNotes(snapshot, plan));
  const { contribution_uid: contributionUid } = record;
  if (contributionUid === undefined) return;
  if (plan.remaining.length === 0)
    await runWrites(session, [contributionRemoval(target._id, contributionUid)]);
  else await runRequired(session, [shortenContribution(target._id, contributionUid, plan.remaining)]);
}

/** Sealed records go or change: `verify` must not take that for tampering. */
function removalNotes({ record, made }: UnmergeSnapshot, plan: UnmergePlan): Write[] {
  const { contribution_uid: uid } = record;
  const listedBefore = plan.remaining.length === 0 ? undefined : made;
  return [
    ...versionsRemoved('unmerge', plan.removedVersions),
    ...(uid === undefined ? [] : contributionRemoved('unmerge', uid, listedBefore)),
  ];
}

async function removeLatest(session: Session, ehrId: string, versionUid: string): Promise<void> {
  const id = parseObjectVersionId(versionUid);
  if (id === null) throw new TypeError(`${versionUid} is no version uid`);
  await runWrites(session, [aqlRemovalOfVersion(ehrId, versionUid), versionRemoval(ehrId, versionUid)]);
  if (id.version === 1) {
    const { versionedObjectUid } = id;
    await runWrites(session, [containerRemoval(ehrId, versionedObjectUid)]);
    await runRequired(session, [clearDirectory(ehrId, versionedObjectUid, 'one')]);
    return;
  }
  const before = await anyVersion(formatObjectVersionId({ ...id, version: id.version - 1 }));
  if (before === null) throw new Error(`there is no version before ${versionUid}`);
  // A version that merges may follow has content, so it has a derived document.
  await runRequired(session, [rewindHead(ehrId, before, versionUid), latestAgain(ehrId, before._id)]);
}

async function moveBack(session: Session, { snapshot, plan }: PlannedUnmerge, source: EhrDoc): Promise<void> {
  const owners = { from: snapshot.target._id, to: source._id };
  const { contributions, compositions, tags } = plan;
  const moved = await moveContributions(session, owners, contributions);
  const isQueryable = source.is_queryable;
  const found = await moveContainers(session, { ...owners, isQueryable }, compositions);
  await moveItemTags(session, owners, tags);
  if (moved !== contributions.length || found !== compositions.length)
    throw new Error(
      `${moved} contributions and ${found} compositions could be moved back, others are missing`,
    );
}

/** EHR_STATUS and directories with all versions, and what AQL reads of them: shapes are never removed. */
async function restoreEnded(
  session: Session,
  context: MergeContext,
  { mergeId, source }: { readonly mergeId: string; readonly source: EhrDoc },
): Promise<void> {
  const containers = await archivedBodies(mergeId, 'container');
  await runInSteps(session, containers.map(containerInsert));
  const archived = await archivedBodies(mergeId, 'version');
  await runInSteps(session, archived.map(versionInsert));
  const ids = archived.map(({ _id }) => _id);
  await runWrites(session, versionsRestored('unmerge', ids));
  const input = { isQueryable: source.is_queryable, leafIndex: context.change.settings.aql.leafIndex };
  for (const { _id: versionedObjectUid } of containers) {
    const versions = archived.filter((version) => version.object_id === versionedObjectUid);
    versions.sort((one, other) => one.version - other.version);
    await runInSteps(session, recomputedDocuments(versions, input).documents.map(aqlInsert));
  }
}

async function runInSteps(session: Session, writes: readonly Write[]): Promise<void> {
  for (const part of inSteps(writes, STEP)) await runWrites(session, part);
}

async function runRequired(session: Session, writes: readonly Write[]): Promise<void> {
  if (!(await runWrites(session, writes)))
    throw new Error('an unmerge found something else than was archived');
}
