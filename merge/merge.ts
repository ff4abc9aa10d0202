import { randomUUID } from 'node:crypto';
import { publishMerge } from '../database/events.js';
import { auditCommitted, writeAudit } from '../change/commit/audit-draft.js';
import { CHANGE_TYPE } from '../change/commit/codes.js';
import { fullState } from '../change/commit/commit-state.js';
import { recordIdempotentResult } from '../change/commit/idempotency.js';
import { planCommit } from '../change/commit/plan.js';
import type { CommitRequest } from '../change/commit/request.js';
import type { Session } from '../models/access/write.js';
import { applyMerge } from './apply.js';
import { checkMerge, holdBoth } from './check.js';
import { idempotentResultOf, mergeSubject, type MergedEhrs, type MergeResult } from './details.js';
import { mergeInSteps } from './merge-in-steps.js';
import { agreedPlan } from './plan/details.js';
import { mergeAudit, mergeDescription, planMerge, type MergePlan } from './plan/plan.js';
import { DRY_RUN, type FreshIds, type MergeContext, type MergeRequest } from './request.js';
import { mergeSnapshot } from './snapshot.js';
import { wayOf, type MergeWay } from './steps.js';
import { inMergeTransaction } from './transaction.js';

/**
 * Merges one EHR into another, in one transaction or a large one in steps, or returns what that would do. See
 * docs/spec/merge.md#what-happens-to-the-data.
 * @throws not-found, conflict of `checkMerge`; conflict after `MERGE_RETRIES`; transaction-too-large; too-large
 * when a directory with the copied tree is larger than an object may be
 */
export async function mergeEhrs(context: MergeContext, request: MergeRequest): Promise<MergeResult> {
  const way = await wayOf(context, request.sourceEhr);
  if (request.dryRun) return dryRun(context, request, way);
  const fresh = freshIds(request);
  const result =
    way === 'steps'
      ? await mergeInSteps(context, request, { fresh, commitOf: commitRequest })
      : await mergeAtOnce(context, request, fresh);
  auditCommitted();
  publishMerge({ kind: 'merge' });
  return { ...result, way };
}

function freshIds({ approval }: MergeRequest): FreshIds {
  return {
    mergeId: approval?.mergeId ?? randomUUID(),
    contributionUid: randomUUID(),
    folderUid: randomUUID(),
  };
}

function mergeAtOnce(context: MergeContext, request: MergeRequest, fresh: FreshIds): Promise<MergedEhrs> {
  return inMergeTransaction(context.retries, async (session) => {
    await holdBoth(request, 'active');
    const pair = await checkMerge(request.sourceEhr, request.targetEhr);
    const snapshot = await mergeSnapshot(pair, request, { way: 'transaction', session });
    const plan = planMerge(snapshot, request, fresh);
    const details = agreedPlan(snapshot, plan, { request, way: 'transaction' });
    const applied = await applyMerge(session, context, {
      request,
      fresh,
      pair,
      plan,
      commit: commitRequest(request, fresh, plan),
      way: 'transaction',
    });
    await recordIdempotentResult(session, idempotentResultOf({ ...applied, way: 'transaction' }));
    await writeAudit(mergeSubject(applied));
    return { ...applied, plan: details };
  });
}

/** Everything but the writes; in a transaction for the sake of one moment, unless others would wait for it too long. */
async function dryRun(context: MergeContext, request: MergeRequest, way: MergeWay): Promise<MergeResult> {
  const rehearse = (session: Session | null): Promise<MergeResult> =>
    rehearseMerge(context, request, { way, session });
  const result = way === 'steps' ? await rehearse(null) : await inMergeTransaction(context.retries, rehearse);
  const { level, summary } = result.outcome;
  return { ...result, outcome: { level, summary: DRY_RUN + summary } };
}

/** What a merge would do, worked out and checked; in the caller's transaction. @throws as `mergeEhrs` */
export async function rehearseMerge(
  context: MergeContext,
  request: MergeRequest,
  reading: { readonly way: MergeWay; readonly session: Session | null },
): Promise<MergeResult> {
  const { way } = reading;
  const fresh = freshIds(request);
  const pair = await checkMerge(request.sourceEhr, request.targetEhr);
  const snapshot = await mergeSnapshot(pair, request, reading);
  const plan = planMerge(snapshot, request, fresh);
  const details = agreedPlan(snapshot, plan, { request, way });
  const commit = commitRequest(request, fresh, plan);
  if (commit !== null) await checkCommit(context, commit, plan, request);
  return {
    source_ehr: request.sourceEhr,
    target_ehr: request.targetEhr,
    outcome: plan.outcome,
    way,
    ...request.motive,
    plan: details,
  };
}

/** Refuses what the commit would refuse, against the state that the moves would leave. */
async function checkCommit(
  context: MergeContext,
  commit: CommitRequest,
  plan: MergePlan,
  { sourceEhr, targetEhr }: MergeRequest,
): Promise<void> {
  const state = await fullState(commit);
  const joined = new Set(plan.joins.map(({ source }) => source));
  const moved = [...state.containers].map(
    ([versionedObjectUid, container]) =>
      [
        versionedObjectUid,
        joined.has(versionedObjectUid) ? { ...container, ehr_id: commit.ehrId } : container,
      ] as const,
  );
  const { settings, now } = context.change;
  // The tombstone of the source will hold its subject for the target.
  const holder = state.subjectHolder;
  const subjectHolder = holder?.ehrId === sourceEhr ? { ...holder, finalEhrId: targetEhr } : holder;
  planCommit(settings, { ...state, subjectHolder, containers: new Map(moved) }, commit, now());
}

function commitRequest(request: MergeRequest, fresh: FreshIds, plan: MergePlan): CommitRequest | null {
  if (plan.entries.length === 0) return null;
  return {
    ehrId: request.targetEhr,
    contributionUid: fresh.contributionUid,
    audit: mergeAudit(CHANGE_TYPE.modification, request.committer, mergeDescription(request)),
    entries: plan.entries,
  };
}
