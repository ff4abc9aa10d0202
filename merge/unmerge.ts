import { randomUUID } from 'node:crypto';
import { CdrError } from '../openehr/base/errors.js';
import { publishMerge } from '../database/events.js';
import { auditCommitted, writeAudit } from '../change/commit/audit-draft.js';
import { CHANGE_TYPE } from '../change/commit/codes.js';
import { fullState } from '../change/commit/commit-state.js';
import { recordIdempotentResult } from '../change/commit/idempotency.js';
import { planCommit } from '../change/commit/plan.js';
import type { CommitRequest } from '../change/commit/request.js';
import { ehrById, holdForMove } from '../models/ehr.js';
import type { MergeMotive, MergeRecordDoc } from '../models/merge-record.js';
import type { Session } from '../models/access/write.js';
import { idempotentResultOf, undoSubject, type MergeResult } from './details.js';
import { obstaclesTo } from './obstacles.js';
import { mergeAudit } from './plan.js';
import { resolve } from './resolution.js';
import type { MergeContext, UnmergeRequest } from './request.js';
import { undoMerge } from './restore.js';
import { directMerge, noSuchMerge } from './status.js';
import { inMergeTransaction } from './transaction.js';
import { planUnmerge, unmergeDescription, type UnmergePlan } from './unmerge-plan.js';
import { unmergeSnapshot, type UnmergeSnapshot } from './unmerge-snapshot.js';

/**
 * Takes a reversible merge back in one transaction, or tells what that would do. What was written to the target
 * since stays, but for versions of moved compositions, which go back with them. See docs/spec/merge.md#unmerge.
 * @throws not-found when there is no direct merge; conflict with all reasons when it cannot be taken back, and
 * after `MERGE_RETRIES`; transaction-too-large
 */
export async function unmergeEhrs(context: MergeContext, request: UnmergeRequest): Promise<MergeResult> {
  const uids = { target: randomUUID(), source: randomUUID() };
  const result = await inMergeTransaction(context.retries, async (session) => {
    if (!request.dryRun) await holdBoth(request);
    const { record, snapshot, plan } = await prepare(session, request);
    const commits = commitsOf(request, plan, uids);
    const undone = resultOf(record, plan.summary, request.motive);
    if (request.dryRun) {
      await checkTargetCommit(context, commits);
      return undone;
    }
    const history = await undoMerge(session, context, { request, snapshot, plan, commits });
    await recordIdempotentResult(session, idempotentResultOf(undone));
    await writeAudit(undoSubject(history));
    return undone;
  });
  if (request.dryRun) return result;
  auditCommitted();
  publishMerge({ kind: 'unmerge' });
  return result;
}

/** In ascending order, as merges do, so that two of them never wait for each other. */
async function holdBoth({ sourceEhr, targetEhr }: UnmergeRequest): Promise<void> {
  for (const ehrId of [sourceEhr, targetEhr].toSorted()) {
    await holdForMove(ehrId, ehrId === sourceEhr ? 'merged' : 'active');
  }
}

interface Prepared {
  readonly record: MergeRecordDoc;
  readonly snapshot: UnmergeSnapshot;
  readonly plan: UnmergePlan;
}

async function prepare(session: Session, request: UnmergeRequest): Promise<Prepared> {
  const { sourceEhr, targetEhr } = request;
  const record = await directMerge(sourceEhr, targetEhr);
  const target = await ehrById(targetEhr);
  if (target === null || target.state === 'deleting') throw noSuchMerge(sourceEhr, targetEhr);
  const snapshot = await unmergeSnapshot(session, record, target);
  const resolution = resolve(obstaclesTo(snapshot), request.onConflict);
  const reasons = resolution.open.map(({ message }) => message);
  if (reasons.length > 0)
    throw new CdrError('conflict', reasons.join('; '), { reasons, obstacles: resolution.open });
  return { record, snapshot, plan: planUnmerge(snapshot, resolution, request) };
}

/** One CONTRIBUTION in each EHR in which something goes on with what it held before the merge. */
function commitsOf(
  request: UnmergeRequest,
  { entries }: UnmergePlan,
  uids: { readonly target: string; readonly source: string },
): CommitRequest[] {
  const audit = mergeAudit(CHANGE_TYPE.modification, request.committer, unmergeDescription(request));
  const commits = [
    { ehrId: request.targetEhr, contributionUid: uids.target, entries: entries.target },
    { ehrId: request.sourceEhr, contributionUid: uids.source, entries: entries.source, isRestoring: true },
  ];
  return commits.filter((commit) => commit.entries.length > 0).map((commit) => ({ ...commit, audit }));
}

/** Refuses what the commit to the target would refuse. The source holds nothing before the containers are back. */
async function checkTargetCommit(context: MergeContext, commits: readonly CommitRequest[]): Promise<void> {
  for (const commit of commits.filter(({ isRestoring }) => isRestoring !== true))
    planCommit(context.change.settings, await fullState(commit), commit, context.change.now());
}

function resultOf(record: MergeRecordDoc, summary: string, motive: MergeMotive): MergeResult {
  const { source_ehr, target_ehr, merge_date, outcome } = record;
  return { source_ehr, target_ehr, merge_date, outcome: { level: outcome.level, summary }, ...motive };
}
