import { setTimeout } from 'node:timers/promises';
import { runWrites, withSession, type Session } from '../../models/access/write.js';
import { moveSomeInSteps } from '../../models/cross-collection/move-in-steps.js';
import { unmarkMerging } from '../../models/ehr.js';
import { movedCount } from '../../models/merge/archive.js';
import { JOB_KNOWN_MS, mergeJobMoving, mergeJobRemoval } from '../../models/access/merge-job.js';
import type { MergeRecordDoc } from '../../models/merge/record.js';
import { inTransaction } from '../../database/transaction.js';
import type { MergeContext, UnmergeRequest } from '../request.js';
import { inSteps, isReindexing, jobOf, requireHeld, type MergeWay } from '../steps.js';
import { inMergeTransaction } from '../transaction.js';
import type { UnmergePlan } from './plan.js';
import type { UnmergeSnapshot } from './snapshot.js';

/** How a merge is taken back: as it was made, or in steps when it moved too much for one transaction. */
export async function wayBack(
  { stepsFrom }: Pick<MergeContext, 'stepsFrom'>,
  record: MergeRecordDoc,
): Promise<MergeWay> {
  if (!record.reversible || (await isReindexing())) return 'transaction';
  const isLarge = record.in_steps === true || (await movedCount(record._id, 'composition')) > stepsFrom;
  return isLarge ? 'steps' : 'transaction';
}

/** What an unmerge in steps is made of. */
export interface UnmergeSteps<T> {
  /** Plans it, without a transaction. */
  readonly prepare: (
    session: Session,
  ) => Promise<{ readonly snapshot: UnmergeSnapshot; readonly plan: UnmergePlan } & T>;
  /** Writes all but what has moved already. */
  readonly finish: (session: Session, prepared: T) => Promise<void>;
}

/**
 * Takes a merge back in steps: both EHRs are held, the documents go back while they are still read as the target's, and one
 * transaction decides. See docs/spec/merge.md#in-steps.
 * @throws as `unmergeEhrs`; unavailable when another merge holds one of the EHRs
 */
export function unmergeInSteps<T>(
  context: MergeContext,
  request: UnmergeRequest,
  { prepare, finish }: UnmergeSteps<T>,
): Promise<T> {
  const { sourceEhr, targetEhr } = request;
  const job = jobOf(request, 'unmerge');
  const ehrIds = [sourceEhr, targetEhr];
  return inSteps(
    job,
    () => Promise.resolve(),
    async () => {
      const known = setTimeout(JOB_KNOWN_MS);
      const prepared = await withSession(prepare);
      const { snapshot, plan } = prepared;
      await known;
      await inTransaction(async (session) => {
        requireHeld(await runWrites(session, [mergeJobMoving(job._id)]));
      });
      await setTimeout(JOB_KNOWN_MS);
      const isQueryable = snapshot.source?.is_queryable ?? true;
      await moveSomeInSteps({ from: targetEhr, to: sourceEhr, isQueryable }, plan.back, job._id);
      await inMergeTransaction(context.retries, async (session) => {
        requireHeld(await runWrites(session, unmarkMerging(ehrIds, job._id, 'one')));
        await finish(session, prepared);
        await runWrites(session, [mergeJobRemoval(job._id)]);
      });
      return prepared;
    },
  );
}
