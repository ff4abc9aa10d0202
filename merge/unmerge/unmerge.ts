import { randomUUID } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { publishMerge } from '../../database/events.js';
import { auditCommitted, writeAudit } from '../../change/commit/audit-draft.js';
import { CHANGE_TYPE } from '../../change/commit/codes.js';
import { fullState } from '../../change/commit/commit-state.js';
import { recordIdempotentResult } from '../../change/commit/idempotency.js';
import { planCommit } from '../../change/commit/plan.js';
import type { CommitRequest } from '../../change/commit/request.js';
import { ehrById } from '../../models/ehr.js';
import { mergeBetween, type MergeRecordDoc } from '../../models/merge/record.js';
import type { Session } from '../../models/access/write.js';
import { holdBoth } from '../check.js';
import { idempotentResultOf, undoSubject, type MergeResult } from '../details.js';
import { obstaclesAtOnce, obstaclesTo } from './obstacles.js';
import { mergeAudit } from '../plan/plan.js';
import { requireObstacles, resolve } from './resolution.js';
import type { MergeContext, UnmergeRequest } from '../request.js';
import { undoMerge } from './restore.js';
import { directMerge, noSuchMerge } from '../plan/status.js';
import type { MergeWay } from '../steps.js';
import { inMergeTransaction } from '../transaction.js';
import { unmergeInSteps, wayBack } from './in-steps.js';
import { planUnmerge, unmergeDescription, type UnmergePlan } from './plan.js';
import { unmergeSnapshot, type UnmergeSnapshot } from './snapshot.js';

/**
 * Takes a reversible merge back, in one transaction or a large one in steps, or returns what that would do. What was written to the target
 * since stays, but for versions of moved compositions, which go back with them. See docs/spec/merge.md#unmerge.
 * @throws not-found when there is no direct merge; conflict with all reasons when it cannot be taken back, and
 * after `MERGE_RETRIES`; transaction-too-large
 */
export async function unmergeEhrs(context: MergeContext, request: UnmergeRequest): Promise<MergeResult> {
  const uids = { target: randomUUID(), source: randomUUID() };
  const way = await wayOfUnmerge(context, request);
  if (request.dryRun)
    return inMergeTransaction(context.retries, async (session) => {
      const { record, plan } = await prepare(session, request);
      await checkTargetCommit(context, commitsOf(request, plan, uids));
      return resultOf(record, request, { plan, way });
    });
  const finish = async (session: Session, { record, snapshot, plan }: Prepared): Promise<void> => {
    await holdBoth(request, 'merged');
    const commits = commitsOf(request, plan, uids);
    const history = await undoMerge(session, context, { request, snapshot, plan, commits, way });
    await recordIdempotentResult(session, idempotentResultOf(resultOf(record, request, { plan, way })));
    await writeAudit(undoSubject(history));
  };
  const { record, plan } =
    way === 'steps'
      ? await unmergeInSteps(context, request, { prepare: (session) => prepare(session, request), finish })
      : await inMergeTransaction(context.retries, async (session) => {
          await holdBoth(request, 'merged');
          const prepared = await prepare(session, request);
          await finish(session, prepared);
          return prepared;
        });
  auditCommitted();
  publishMerge({ kind: 'unmerge' });
  return resultOf(record, request, { plan, way });
}

/** A target that was merged itself, and whatever else is in the way, is reported at once. */
async function wayOfUnmerge(
  context: MergeContext,
  { sourceEhr, targetEhr }: UnmergeRequest,
): Promise<MergeWay> {
  const record = await mergeBetween(sourceEhr, targetEhr);
  const target = await ehrById(targetEhr);
  return record === null || target?.state !== 'active' ? 'transaction' : wayBack(context, record);
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
  const obstacles = obstaclesTo(snapshot);
  // What stands against it as a whole is told before what is chosen for parts of it.
  if (obstaclesAtOnce(snapshot).length === 0) requireObstacles(obstacles, request.onConflict);
  const resolution = resolve(obstacles, request.onConflict);
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

function resultOf(
  record: MergeRecordDoc,
  { motive }: UnmergeRequest,
  { plan, way }: { readonly plan: UnmergePlan; readonly way: MergeWay },
): MergeResult {
  const { source_ehr, target_ehr, merge_date, outcome } = record;
  const undone = { level: outcome.level, summary: plan.summary };
  return { source_ehr, target_ehr, merge_date, outcome: undone, way, ...motive };
}
