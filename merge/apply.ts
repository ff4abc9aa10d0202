import { isDeepStrictEqual } from 'node:util';
import { CdrError } from '../openehr/base/errors.js';
import { writeContribution } from '../change/commit/commit.js';
import type { Commit, CommitRequest } from '../change/commit/request.js';
import { aqlRemovalOf } from '../models/aql-document.js';
import { ehrsSharing, reserveSubject, toTombstone, type EhrDoc } from '../models/ehr.js';
import { inSteps, inTextSteps } from '../models/access/in-steps.js';
import { carriedTagInserts } from '../models/access-tag.js';
import { itemTagRemovals } from '../models/item-tag.js';
import {
  archiveDoc,
  archivedVersion,
  archiveInsert,
  MOVED_IDS,
  type ArchiveDoc,
  type MovedIds,
} from '../models/merge/archive.js';
import { sharesContributions } from '../models/merge/history.js';
import { mergeRequestRemoval, waitingMerge } from '../models/merge/request.js';
import { mergeRecordInsert, type MergeRecordDoc } from '../models/merge/record.js';
import {
  moveContainers,
  moveContributions,
  moveItemTags,
} from '../models/cross-collection/owned-documents.js';
import { noteStates } from '../models/cross-collection/state-note.js';
import { versionsRemoved } from '../models/removal.js';
import { anyVersion, versionsRemoval, versionUidsOf } from '../models/version.js';
import { storedLength } from '../models/version-text.js';
import { runWrites, type Session, type Write } from '../models/access/write.js';
import type { MergeablePair } from './check.js';
import type { MergePlan } from './plan/plan.js';
import { rederiveDuringReindex } from './rederive.js';
import type { MergeWay } from './steps.js';
import type { FreshIds, MergeContext, MergeRequest } from './request.js';

/** A merge ready to be written. */
export interface PlannedMerge {
  readonly request: MergeRequest;
  readonly fresh: FreshIds;
  readonly pair: MergeablePair;
  readonly plan: MergePlan;
  /** The CONTRIBUTION of what the merge makes; null when it makes no version. */
  readonly commit: CommitRequest | null;
  /** `steps`: what moves is archived already, and follows the transaction. */
  readonly way: MergeWay;
  /** Of a merge in steps: the hashes of what was archived before. */
  readonly moved?: ReadonlyMap<string, Buffer>;
}

/** Inserts of one command: an archived version may have megabytes. */
const ARCHIVE_STEP = 100;

/**
 * Writes a merge inside the caller's transaction, in which both EHRs are held. See
 * docs/spec/merge.md#what-happens-to-the-data.
 * @throws CdrError of the commit; Error when the database does not hold what was planned with
 */
export async function applyMerge(
  session: Session,
  context: MergeContext,
  merge: PlannedMerge,
): Promise<MergeRecordDoc> {
  const { droppedTags } = merge.plan;
  if (merge.request.approval !== undefined) await requireWaiting(merge.request.approval.mergeId);
  const endedVersions = await versionUidsOf(merge.pair.source._id, idsOf(merge.plan.ended));
  if (merge.request.reversible) await archive(session, merge, endedVersions);
  await runWrites(session, [
    ...sourceRemovals(merge),
    ...versionsRemoved('merge', merge.pair.source._id, endedVersions),
    ...(droppedTags.length === 0 ? [] : carriedTagInserts(droppedTags, merge.pair.target._id)),
  ]);
  if (await sharesContributions(merge.pair.source, { session }))
    await runWrites(session, ehrsSharing([merge.pair.target._id]));
  if (merge.way === 'steps') await moveJoined(session, merge);
  else await moveAll(session, context, merge);
  const { target } = merge.pair;
  await runWrites(session, [
    toTombstone(merge.pair.source._id, { mergedInto: target._id, mergeId: merge.fresh.mergeId }),
  ]);
  const made = merge.commit === null ? null : await writeContribution(session, context.change, merge.commit);
  await runWrites(session, subjectReservation(merge));
  const mergeDate = made?.contribution.time_committed ?? context.change.now();
  const record = recordOf(merge, made, mergeDate);
  await runWrites(session, [mergeRecordInsert(record), mergeRequestRemoval(record.source_ehr)]);
  const { moved } = merge;
  const stated = { collection: 'merge_records', ids: [record._id], reason: 'merge' } as const;
  await noteStates(session, { ...stated, ...(moved !== undefined && { moved }) });
  return record;
}

/** Read in the transaction that removes it: a withdrawal at the same time meets it. @throws not-found */
async function requireWaiting(mergeId: string): Promise<void> {
  if ((await waitingMerge(mergeId)) === null)
    throw new CdrError('not-found', `no merge ${mergeId} waits for approval`);
}

/**
 * What ends, removed before the rest moves: the target has an EHR_STATUS of its own. The containers stay with the
 * tombstone, without versions, so that nobody uses their ids again.
 */
function sourceRemovals({ pair, plan }: PlannedMerge): Write[] {
  const ehrId = pair.source._id;
  return [
    aqlRemovalOf(ehrId, idsOf(plan.ended)),
    versionsRemoval(ehrId, idsOf(plan.ended)),
    ...itemTagRemovals(ehrId, idsOf(plan.droppedTags)),
  ];
}

/** Where the target took the source's subject its own stays reserved for it, as the source's does otherwise. */
function subjectReservation({ pair: { source, target }, plan }: PlannedMerge): Write[] {
  const isTaken = plan.statusDifferences.some(
    ({ field, survivor }) => field === 'subject' && survivor === 'source',
  );
  return isTaken && target.subject !== undefined && !isDeepStrictEqual(source.subject, target.subject)
    ? [reserveSubject(source._id, target.subject)]
    : [];
}

/** Everything that is left of the source gets the target as owner. */
async function moveAll(session: Session, context: MergeContext, { pair, plan }: PlannedMerge): Promise<void> {
  const owners = { from: pair.source._id, to: pair.target._id };
  const contributions = await moveContributions(session, owners);
  const containers = await moveContainers(session, { ...owners, isQueryable: pair.target.is_queryable });
  const tags = await moveItemTags(session, owners);
  requireCount('contributions', contributions, plan.moves.contributions.length);
  requireCount('compositions', containers, plan.moves.compositions.length + plan.joins.length);
  requireCount('item tags', tags, plan.moves.tags.length);
  const versionedObjectUids = [...plan.moves.compositions, ...plan.joins.map(({ source }) => source)];
  const moved = { ehrId: owners.to, isQueryable: pair.target.is_queryable, versionedObjectUids };
  await rederiveDuringReindex(session, moved, context.change.settings.aql.leafIndex);
}

/** Joined compositions get their last version in the target; the others need not wait for them. */
async function moveJoined(session: Session, { pair, plan }: PlannedMerge): Promise<void> {
  const owners = { from: pair.source._id, to: pair.target._id, isQueryable: pair.target.is_queryable };
  const ids = plan.joins.map(({ source }) => source);
  requireCount('compositions', await moveContainers(session, owners, ids), ids.length);
}

/** Both EHRs are held, so another number is a defect; throwing leaves everything as it was. */
function requireCount(what: string, moved: number, planned: number): void {
  if (moved !== planned) throw new Error(`${moved} ${what} moved where ${planned} were planned`);
}

async function archive(
  session: Session,
  { pair, plan, fresh, way }: PlannedMerge,
  endedVersions: readonly string[],
): Promise<void> {
  const { mergeId } = fresh;
  const docs: ArchiveDoc[] = [
    archiveDoc(mergeId, 'ehr', 0, pair.source satisfies EhrDoc),
    ...plan.ended.map((container) => archiveDoc(mergeId, 'container', container._id, container)),
    ...plan.droppedTags.map((tag) => archiveDoc(mergeId, 'tag', tag._id, tag)),
    ...(way === 'steps' ? [] : movesOf(mergeId, plan)),
  ];
  await insertAll(session, docs);
  // One after the other: a source may have hundreds of directory versions of half a megabyte each.
  let waiting: ArchiveDoc<'version'>[] = [];
  for (const uid of endedVersions) {
    const version = await anyVersion(uid);
    if (version === null) throw new Error(`version ${uid} cannot be read to be archived`);
    waiting.push(archivedVersion(mergeId, version));
    if (inTextSteps(waiting, archivedLength, ARCHIVE_STEP).length === 1) continue;
    await insertAll(session, waiting);
    waiting = [];
  }
  await insertAll(session, waiting);
}

function archivedLength({ body }: ArchiveDoc<'version'>): number {
  return storedLength(body);
}

function movesOf(mergeId: string, { moves }: MergePlan): ArchiveDoc[] {
  return [
    ...movedDocs(mergeId, 'contribution', moves.contributions),
    ...movedDocs(mergeId, 'composition', moves.compositions),
    ...movedDocs(mergeId, 'tag', moves.tags),
  ];
}

function movedDocs(mergeId: string, of: MovedIds['of'], ids: readonly string[]): ArchiveDoc[] {
  return inSteps(ids, MOVED_IDS).map((part, index) =>
    archiveDoc(mergeId, 'moved', `${of}:${String(index).padStart(6, '0')}`, { of, ids: part }),
  );
}

async function insertAll(session: Session, docs: readonly ArchiveDoc[]): Promise<void> {
  for (const part of inSteps(docs.map(archiveInsert), ARCHIVE_STEP)) await runWrites(session, part);
}

function recordOf(merge: PlannedMerge, made: Commit | null, mergeDate: Date): MergeRecordDoc {
  const { request, fresh, plan } = merge;
  const directory = made?.versions.find(({ type }) => type === 'FOLDER');
  return {
    _id: fresh.mergeId,
    source_ehr: request.sourceEhr,
    target_ehr: request.targetEhr,
    merge_date: mergeDate,
    reversible: request.reversible,
    folder_merge: request.folderMerge,
    composition_merge: request.compositionMerge,
    outcome: plan.outcome,
    ...(made !== null && { contribution_uid: made.contribution._id }),
    ...(directory !== undefined && { directory_version_uid: directory.versionUid }),
    ...(plan.folderCopy !== null && {
      copied_folder_uid: plan.folderCopy.folderUid,
      copied_folder_name: JSON.stringify(plan.folderCopy.originalName),
    }),
    ...statusTaken(merge, made),
    ...apartOf(merge),
    joined: plan.joins,
    ...(merge.way === 'steps' && { in_steps: true }),
    committer: request.committer,
    ...request.motive,
    ...approvalOf(request),
  };
}

/** What the target's EHR_STATUS has of the source's, and which version has it. */
function statusTaken({ plan }: PlannedMerge, made: Commit | null): Pick<MergeRecordDoc, 'status_taken'> {
  if (plan.statusTaken === null) return {};
  const status = made?.versions.find(({ type }) => type === 'EHR_STATUS');
  const { fields, presentUid } = plan.statusTaken;
  return { status_taken: { version_uid: status?.versionUid ?? presentUid, fields } };
}

function apartOf({ plan }: PlannedMerge): Pick<MergeRecordDoc, 'apart'> {
  const apart = plan.unmatched.flatMap(({ source: [source, ...others], target: targets }) =>
    source !== undefined && others.length === 0 && targets.length > 1 ? [{ source, targets }] : [],
  );
  return apart.length === 0 ? {} : { apart };
}

function approvalOf({ approval }: MergeRequest): Pick<MergeRecordDoc, 'approval'> {
  if (approval === undefined) return {};
  const { requester, requested_at } = approval;
  return { approval: { requester, requested_at } };
}

function idsOf(docs: readonly { readonly _id: string }[]): string[] {
  return docs.map((doc) => doc._id);
}
