import { setTimeout } from 'node:timers/promises';
import { writeAudit } from '../change/commit/audit-draft.js';
import { recordIdempotentResult } from '../change/commit/idempotency.js';
import type { CommitRequest } from '../change/commit/request.js';
import { runWrites } from '../models/access/write.js';
import { archiveMovedIds } from '../models/cross-collection/archive-moved.js';
import { archiveHashes } from '../models/cross-collection/state-note.js';
import { markMerging, unmarkMerging } from '../models/ehr.js';
import { JOB_KNOWN_MS, mergeJobMoving } from '../models/access/merge-job.js';
import { applyMerge } from './apply.js';
import { checkMerge, holdBoth } from './check.js';
import { idempotentResultOf, mergeSubject, type MergedEhrs } from './details.js';
import { agreedPlan } from './plan/details.js';
import { planMerge, type MergePlan } from './plan/plan.js';
import type { FreshIds, MergeContext, MergeRequest } from './request.js';
import { mergeSnapshot } from './snapshot.js';
import { inSteps, jobOf, requireHeld } from './steps.js';
import { inMergeTransaction } from './transaction.js';

/** Makes the CONTRIBUTION of a plan. */
type CommitOf = (request: MergeRequest, fresh: FreshIds, plan: MergePlan) => CommitRequest | null;

/**
 * Merges a large EHR in steps: both are held, the plan is made while everybody reads on, one transaction decides, and the
 * documents follow. See docs/spec/merge.md#in-steps.
 * @throws as `mergeEhrs`; unavailable when another merge holds one of the EHRs
 */
export function mergeInSteps(
  context: MergeContext,
  request: MergeRequest,
  { fresh, commitOf }: { readonly fresh: FreshIds; readonly commitOf: CommitOf },
): Promise<MergedEhrs> {
  const { sourceEhr, targetEhr } = request;
  const { mergeId } = fresh;
  const check = (): Promise<unknown> => checkMerge(sourceEhr, targetEhr);
  return inSteps(jobOf(request, 'merge', mergeId), check, async () => {
    const known = setTimeout(JOB_KNOWN_MS);
    // Nobody writes to either EHR: no transaction is needed to see one moment of them.
    const pair = await checkMerge(sourceEhr, targetEhr);
    const snapshot = await mergeSnapshot(pair, request, { way: 'steps', session: null });
    const plan = planMerge(snapshot, request, fresh);
    const details = agreedPlan(snapshot, plan, { request, way: 'steps' });
    if (request.reversible) await archiveMovedIds(mergeId, sourceEhr, endingIds(plan));
    const moved = await archiveHashes(mergeId, { kind: 'moved' });
    await known;
    return inMergeTransaction(context.retries, async (session) => {
      requireHeld(await runWrites(session, unmarkMerging([sourceEhr, targetEhr], mergeId, 'one')));
      await holdBoth(request, 'active');
      const now = await checkMerge(sourceEhr, targetEhr);
      const commit = commitOf(request, fresh, plan);
      const merge = { request, fresh, pair: now, plan, commit, way: 'steps' as const, moved };
      const applied = await applyMerge(session, context, merge);
      await recordIdempotentResult(session, idempotentResultOf({ ...applied, way: 'steps' }));
      await writeAudit(mergeSubject(applied));
      const held = [markMerging(sourceEhr, 'merged', mergeId), markMerging(targetEhr, 'active', mergeId)];
      requireHeld(await runWrites(session, [...held, mergeJobMoving(mergeId)]));
      return { ...applied, plan: details };
    });
  });
}

/** What moves only with the transaction, or not at all. */
function endingIds({ joins, droppedTags }: MergePlan): ReadonlySet<string> {
  return new Set([...joins.map(({ source }) => source), ...droppedTags.map(({ _id }) => _id)]);
}
