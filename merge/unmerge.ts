import { randomUUID } from 'node:crypto';
import { CdrError } from '../openehr/base/errors.js';
import { publishMerge } from '../database/events.js';
import { auditCommitted, writeAudit } from '../change/commit/audit-draft.js';
import { CHANGE_TYPE, LIFECYCLE } from '../change/commit/codes.js';
import { fullState } from '../change/commit/commit-state.js';
import { recordIdempotentResult } from '../change/commit/idempotency.js';
import { planCommit } from '../change/commit/plan.js';
import type { CommitRequest } from '../change/commit/request.js';
import { ehrById, holdActive, holdMerged } from '../models/ehr.js';
import type { MergeRecordDoc } from '../models/merge-record.js';
import type { Session } from '../models/access/write.js';
import { idempotentResultOf, mergeSubject, type MergeResult } from './details.js';
import { mergeAudit } from './plan.js';
import type { MergeContext, UnmergeRequest } from './request.js';
import { undoMerge } from './restore.js';
import { directMerge, noSuchMerge } from './status.js';
import { inMergeTransaction } from './transaction.js';
import { planUnmerge, unmergeReasons, type UnmergePlan, type UnmergeSnapshot } from './unmerge-plan.js';
import { unmergeSnapshot } from './unmerge-snapshot.js';

/**
 * Takes a reversible merge back in one transaction, or tells what that would do. What was written to the target
 * since stays, but for versions of moved compositions, which go back with them. See docs/spec/merge.md#unmerge.
 * @throws not-found when there is no direct merge; conflict with all reasons when it cannot be taken back, and
 * after `MERGE_RETRIES`; transaction-too-large
 */
export async function unmergeEhrs(context: MergeContext, request: UnmergeRequest): Promise<MergeResult> {
  const contributionUid = randomUUID();
  const result = await inMergeTransaction(context.retries, async (session) => {
    if (!request.dryRun) await holdBoth(request);
    const { record, snapshot, plan } = await prepare(session, request);
    const commit = directoryCommit(request, plan, contributionUid);
    if (!request.dryRun) await undoMerge(session, context, { snapshot, plan, commit });
    else if (commit !== null) {
      planCommit(context.change.settings, await fullState(commit), commit, context.change.now());
    }
    const undone = resultOf(record, plan.summary);
    if (!request.dryRun) {
      await recordIdempotentResult(session, idempotentResultOf(undone));
      await writeAudit(mergeSubject(record));
    }
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
    await (ehrId === sourceEhr ? holdMerged(ehrId) : holdActive(ehrId));
  }
}

interface Prepared {
  readonly record: MergeRecordDoc;
  readonly snapshot: UnmergeSnapshot;
  readonly plan: UnmergePlan;
}

async function prepare(session: Session, request: UnmergeRequest): Promise<Prepared> {
  const { sourceEhr, targetEhr, dryRun } = request;
  const record = await directMerge(sourceEhr, targetEhr);
  const target = await ehrById(targetEhr);
  if (target === null || target.state === 'deleting') throw noSuchMerge(sourceEhr, targetEhr);
  const snapshot = await unmergeSnapshot(session, record, target);
  const reasons = unmergeReasons(snapshot);
  if (reasons.length > 0) throw new CdrError('conflict', reasons.join('; '), { reasons });
  return { record, snapshot, plan: planUnmerge(snapshot, dryRun) };
}

/** The CONTRIBUTION that takes the copied FOLDER out of a directory which went on since; null when none is needed. */
function directoryCommit(
  { sourceEhr, targetEhr, committer }: UnmergeRequest,
  plan: UnmergePlan,
  contributionUid: string,
): CommitRequest | null {
  const { directory } = plan;
  if (directory.kind !== 'replace') return null;
  const audit = mergeAudit(
    CHANGE_TYPE.modification,
    committer,
    `Unmerge of EHR ${sourceEhr} from ${targetEhr}`,
  );
  const { container, root: object } = directory;
  const place = { versionedObjectUid: container._id, precedingVersionUid: container.latest_version_uid };
  const entry = {
    kind: 'update',
    type: 'FOLDER',
    object,
    ...place,
    audit,
    lifecycleState: LIFECYCLE.complete,
  } as const;
  return { ehrId: targetEhr, contributionUid, audit, entries: [entry] };
}

function resultOf(record: MergeRecordDoc, summary: string): MergeResult {
  const { source_ehr, target_ehr, merge_date, outcome } = record;
  return { source_ehr, target_ehr, merge_date, outcome: { level: outcome.level, summary } };
}
