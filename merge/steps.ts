import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { CdrError } from '../openehr/base/errors.js';
import { beingMerged } from '../change/commit/refusal.js';
import { inTransaction } from '../database/transaction.js';
import { withLease } from '../models/access/lease.js';
import { runWrites } from '../models/access/write.js';
import { moveAllInSteps } from '../models/cross-collection/move-in-steps.js';
import { ehrById, markMerging, unmarkMerging } from '../models/ehr.js';
import { removeArchive } from '../models/merge/archive.js';
import {
  JOB_KNOWN_MS,
  mergeJob,
  mergeJobInsert,
  mergeJobRemoval,
  mergeJobs,
  type MergeJobDoc,
} from '../models/access/merge-job.js';
import { storageSettings } from '../models/settings.js';
import { hasMoreVersions } from '../models/version.js';
import type { MergeContext, UnmergeRequest } from './request.js';

/** How a merge is written: at once, or while others go on. docs/spec/merge.md#in-steps */
export type MergeWay = 'transaction' | 'steps';

/**
 * How a source with so many versions is merged. In one transaction while a reindex is under way, which goes EHR by EHR.
 */
export async function wayOf(
  { stepsFrom }: Pick<MergeContext, 'stepsFrom'>,
  sourceEhr: string,
): Promise<MergeWay> {
  const isLarge = await hasMoreVersions(sourceEhr, stepsFrom);
  return isLarge && !(await isReindexing()) ? 'steps' : 'transaction';
}

/** Whether derived documents are made anew at the moment. */
export async function isReindexing(): Promise<boolean> {
  return (await storageSettings())?.reindex !== undefined;
}

/** How long a server that died keeps others from ending its merge, ms. */
const LEASE_MS = 10_000;

/** A merge in steps about to begin. */
export type NewJob = Pick<MergeJobDoc, '_id' | 'kind' | 'source_ehr' | 'target_ehr'>;

/** The job of a request. `id`: of a merge its own, of an unmerge any. */
export function jobOf(
  { sourceEhr, targetEhr }: Pick<UnmergeRequest, 'sourceEhr' | 'targetEhr'>,
  kind: MergeJobDoc['kind'],
  id: string = randomUUID(),
): NewJob {
  return { _id: id, kind, source_ehr: sourceEhr, target_ehr: targetEhr };
}

/**
 * Runs a merge or unmerge of several transactions: from the first on both EHRs are held, so that nothing is written to them
 * meanwhile. What `work` leaves undone is undone, or finished where it cannot be undone; if this server dies, by another one.
 * `check`: in that first transaction.
 * @throws unavailable when another merge holds one of them; whatever `check` and `work` throw
 */
export function inSteps<T>(job: NewJob, check: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const run = async (): Promise<T> => {
    await begin(job, check);
    try {
      return await work();
    } finally {
      // A failure leaves it to `resumeMerges` of whichever server.
      await endJob(job._id).catch(() => undefined);
    }
  };
  return withLease(leaseOf(job._id), 'the merge is under way', run, LEASE_MS);
}

async function begin(job: NewJob, check: () => Promise<unknown>): Promise<void> {
  const { _id, kind, source_ehr: source, target_ehr: target } = job;
  await inTransaction(async (session) => {
    await check();
    const marks = [
      markMerging(source, kind === 'merge' ? 'active' : 'merged', _id),
      markMerging(target, 'active', _id),
    ];
    const isHeld = await runWrites(session, [
      ...marks,
      mergeJobInsert({ ...job, phase: 'planning', started_at: new Date() }),
    ]);
    if (!isHeld) throw await whyNotHeld([source, target]);
  });
}

async function whyNotHeld(ehrIds: readonly string[]): Promise<CdrError> {
  for (const ehrId of ehrIds) if ((await ehrById(ehrId))?.merging !== undefined) return beingMerged(ehrId);
  return new CdrError('conflict', 'The EHRs were changed by others at the same time');
}

/** Ends merges in steps whose server died: those that are decided are finished, others undone. Gives how many. */
export async function resumeMerges(): Promise<number> {
  let ended = 0;
  for (const { _id } of await mergeJobs()) {
    try {
      await withLease(leaseOf(_id), 'another server is at it', () => endJob(_id), LEASE_MS);
      ended += 1;
    } catch (error) {
      if (!(error instanceof CdrError && error.code === 'conflict')) throw error;
    }
  }
  return ended;
}

function leaseOf(jobId: string): string {
  return `merge:${jobId}`;
}

/**
 * Whatever a merge in steps left: from `moving` on all documents go to the target, whether a merge has just been decided or
 * an unmerge was not. Nothing where the job has ended.
 */
async function endJob(jobId: string): Promise<void> {
  const job = await mergeJob(jobId);
  if (job === null) return;
  const { source_ehr: source, target_ehr: target } = job;
  if (job.phase === 'moving') {
    // A request that began before may still read as if nothing moved.
    await setTimeout(JOB_KNOWN_MS);
    const isQueryable = (await ehrById(target))?.is_queryable ?? true;
    await moveAllInSteps({ from: source, to: target, isQueryable }, jobId);
  } else if (job.kind === 'merge') await removeArchive(jobId);
  await inTransaction(async (session) => {
    await runWrites(session, [...unmarkMerging([source, target], jobId, 'any'), mergeJobRemoval(jobId)]);
  });
}

/** @throws unavailable when this server was taken for dead and another one has undone what it began */
export function requireHeld(isHeld: boolean): void {
  if (isHeld) return;
  throw new CdrError('unavailable', 'the merge was interrupted and undone', { retryAfterSeconds: 1 });
}
