import { flagsOf } from '../../change/commit/ehr-flags.js';
import { writeContribution } from '../../change/commit/commit.js';
import type { JsonObject } from '../../openehr/base/json.js';
import type { Commit, CommitRequest } from '../../change/commit/request.js';
import { aqlInsert, recomputedDocuments, type RecomputeInput } from '../../models/aql-document.js';
import { fromTombstone, type EhrDoc } from '../../models/ehr.js';
import { identifyEhr } from '../../models/ehr-identity.js';
import { inSteps, inTextSteps } from '../../models/access/in-steps.js';
import { carriedTagRemovals } from '../../models/access-tag.js';
import { itemTagInsert } from '../../models/item-tag.js';
import { archivedBodies, archivedVersions, archiveRemoval } from '../../models/merge/archive.js';
import { mergeHistoryInsert, type MergeHistoryDoc } from '../../models/merge/history.js';
import { compositionsBack, contributionsBack } from '../../models/merge/moved-back.js';
import { mergeRecordRemoval } from '../../models/merge/record.js';
import {
  moveContainers,
  moveContributions,
  moveItemTags,
} from '../../models/cross-collection/owned-documents.js';
import { noteOwner, noteStates } from '../../models/cross-collection/state-note.js';
import { versionsRestored } from '../../models/removal.js';
import { anyVersion, versionInsert, versionUidsOf, type VersionDoc } from '../../models/version.js';
import {
  containerInsert,
  endedContainersRemoval,
  type VersionedObjectDoc,
} from '../../models/versioned-object.js';
import { runWrites, type Session, type Write } from '../../models/access/write.js';
import { moveMarks } from '../move-marks.js';
import { rederiveDuringReindex } from '../rederive.js';
import type { MergeContext, UnmergeRequest } from '../request.js';
import type { MergeWay } from '../steps.js';
import type { UnmergePlan } from './plan.js';
import type { UnmergeSnapshot } from './snapshot.js';

/** An unmerge ready to be written. */
export interface PlannedUnmerge {
  readonly request: UnmergeRequest;
  readonly snapshot: UnmergeSnapshot;
  readonly plan: UnmergePlan;
  /** CONTRIBUTIONs with what both EHRs held before the merge; none for an EHR in which nothing was made. */
  readonly commits: readonly CommitRequest[];
  /** `steps`: what moves back has moved already. */
  readonly way: MergeWay;
}

/** Writes of one command: a restored version may have megabytes. */
const STEP = 100;

/**
 * Writes an unmerge inside the caller's transaction, in which both EHRs are held, and gives its record.
 * @throws CdrError of a commit; Error when the database does not hold what was planned with
 */
export async function undoMerge(
  session: Session,
  context: MergeContext,
  unmerge: PlannedUnmerge,
): Promise<MergeHistoryDoc> {
  const { snapshot, plan, commits } = unmerge;
  const { record, source } = snapshot;
  if (source === null) throw new TypeError('an unmerge needs the archive of the merge');
  const made: Commit[] = [];
  // First the target's: it may give up the subject that the source has again afterwards.
  for (const commit of commits.filter(({ ehrId }) => ehrId !== source._id))
    made.push(await writeContribution(session, context.change, commit));
  if (unmerge.way === 'transaction') await moveBack(session, context, unmerge);
  const owners = { from: source._id, to: snapshot.target._id };
  await noteOwner(session, { reason: 'unmerge', ...owners, objects: plan.left, contributions: [] });
  await runRequired(session, [fromTombstone(source)]);
  await restoreEnded(session, context, { mergeId: record._id, source });
  await runWrites(session, carriedTagRemovals(snapshot.droppedTags, snapshot.target._id));
  await runInSteps(session, plan.restoredTags.map(itemTagInsert));
  for (const commit of commits.filter(({ ehrId }) => ehrId === source._id))
    made.push(await writeContribution(session, context.change, commit));
  await moveMarks(session, snapshot.target._id);
  const history = historyOf(unmerge, made, made[0]?.contribution.time_committed ?? context.change.now());
  await runWrites(session, [
    mergeHistoryInsert(history),
    archiveRemoval([record._id]),
    mergeRecordRemoval(record._id),
  ]);
  for (const collection of ['merge_records', 'merge_history'] as const)
    await noteStates(session, { collection, ids: [record._id], reason: 'unmerge' });
  return history;
}

function historyOf(
  { request, snapshot, plan }: PlannedUnmerge,
  made: readonly Commit[],
  date: Date,
): MergeHistoryDoc {
  const undone = {
    date,
    committer: request.committer,
    contribution_uids: made.map(({ contribution }) => contribution._id),
    summary: plan.summary,
    ...plan.chosen,
    ...request.motive,
  };
  return { ...snapshot.record, undone };
}

async function moveBack(
  session: Session,
  context: MergeContext,
  { snapshot, plan }: PlannedUnmerge,
): Promise<void> {
  const { source } = snapshot;
  if (source === null) return;
  const owners = { from: snapshot.target._id, to: source._id };
  const { back, counts } = plan;
  const isQueryable = source.is_queryable;
  let contributions = 0;
  for await (const uids of contributionsBack(back))
    contributions += await moveContributions(session, owners, uids);
  let compositions = 0;
  for await (const versionedObjectUids of compositionsBack(back)) {
    compositions += await moveContainers(session, { ...owners, isQueryable }, versionedObjectUids);
    await moveItemTags(session, owners, versionedObjectUids);
    const moved = { ehrId: source._id, isQueryable, versionedObjectUids };
    await rederiveDuringReindex(session, moved, context.change.settings.aql.leafIndex);
  }
  if (contributions !== counts.contributions || compositions !== counts.compositions)
    throw new Error(
      `${contributions} contributions and ${compositions} compositions could be moved back, others are missing`,
    );
}

/** EHR_STATUS and directories with all versions, and what AQL reads of them: shapes are never removed. */
async function restoreEnded(
  session: Session,
  context: MergeContext,
  { mergeId, source }: { readonly mergeId: string; readonly source: EhrDoc },
): Promise<void> {
  const containers = await archivedBodies(mergeId, 'container');
  // Their ids were kept from use by others; runWrites does removals last.
  await runWrites(session, [endedContainersRemoval(source._id)]);
  await runInSteps(session, containers.map(containerInsert));
  const ids: string[] = [];
  let waiting: VersionDoc[] = [];
  for await (const version of archivedVersions(session, mergeId)) {
    ids.push(version._id);
    waiting.push(version);
    if (inTextSteps(waiting, textLength, STEP).length === 1) continue;
    await runWrites(session, waiting.map(versionInsert));
    waiting = [];
  }
  await runWrites(session, waiting.map(versionInsert));
  await runWrites(session, versionsRestored('unmerge', ids));
  const input = { isQueryable: source.is_queryable, leafIndex: context.change.settings.aql.leafIndex };
  for (const container of containers) {
    const last = await restoreDerived(session, container, input);
    if (container.type === 'EHR_STATUS' && typeof last?.data === 'string')
      await runRequired(session, [identified(source._id, last.data)]);
  }
}

/** One VERSION after the other: a directory may have had many large ones. Gives the last. */
async function restoreDerived(
  session: Session,
  { _id: versionedObjectUid, ehr_id: ehrId }: VersionedObjectDoc,
  input: RecomputeInput,
): Promise<VersionDoc | null> {
  let waiting: VersionDoc[] = [];
  const write = async (next: readonly VersionDoc[]): Promise<void> => {
    // The next one has until when the last of them was the latest.
    const { documents } = recomputedDocuments([...waiting, ...next], input);
    await runWrites(session, documents.map(aqlInsert));
  };
  for (const uid of await versionUidsOf(ehrId, [versionedObjectUid])) {
    const version = await anyVersion(uid);
    if (version === null) throw new Error(`version ${uid} cannot be read to be restored`);
    if (inTextSteps([...waiting, version], textLength, STEP).length > 1) {
      await write([{ ...version, data: null }]);
      waiting = [];
    }
    waiting.push(version);
  }
  await write([]);
  return waiting.at(-1) ?? null;
}

function textLength({ data }: VersionDoc): number {
  return data?.length ?? 0;
}

function identified(ehrId: string, statusText: string): Write {
  return identifyEhr(ehrId, flagsOf('', JSON.parse(statusText) as JsonObject).identities);
}

async function runInSteps(session: Session, writes: readonly Write[]): Promise<void> {
  for (const part of inSteps(writes, STEP)) await runWrites(session, part);
}

async function runRequired(session: Session, writes: readonly Write[]): Promise<void> {
  if (!(await runWrites(session, writes)))
    throw new Error('an unmerge found something else than was archived');
}
