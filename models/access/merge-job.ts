import mongoose from 'mongoose';
import { COLLECTIONS } from './layout.js';
import { NO_MERGES, ownersOf, type MovingMerges } from '../../aql/index/moved-owners.js';
import type { InsertWrite, RemoveWrite, UpdateWrite } from './write.js';
import { documents } from './documents.js';

/** A merge that is made, or taken back, in steps right now. docs/spec/merge.md#in-steps */
export interface MergeJobDoc {
  /** UUID: of a merge its own. */
  readonly _id: string;
  readonly kind: 'merge' | 'unmerge';
  readonly source_ehr: string;
  readonly target_ehr: string;
  /**
   * `planning`: every document is where it was, and what stands so far is undone when the server dies.
   * `moving`: documents of the source are read as the target's, whichever of both they name as their owner.
   */
  readonly phase: 'planning' | 'moving';
  readonly started_at: Date;
}

declare module './write.js' {
  interface Documents {
    readonly [COLLECTIONS.mergeJobs]: MergeJobDoc;
  }
}

/**
 * How long a process trusts that no merge goes in steps, ms. While it knows of one it reads them again for each request. A
 * merge in steps waits longer than that before it changes what others read.
 */
const JOB_TRUST_MS = 100;

/** How long after it was published everybody knows of a merge in steps. */
export const JOB_KNOWN_MS = 2 * JOB_TRUST_MS;

/** Those of the phase `moving`. */
let moving = NO_MERGES;
/** Ids of these, by which one knows whether they are still the same. */
let movingIds = '';
let trustedUntil = 0;
let reading: Promise<void> | null = null;

/** Learns which merges are moving documents. To be awaited before a request reads. */
export async function learnOfMerges(): Promise<void> {
  if (performance.now() < trustedUntil) return;
  reading ??= readJobs().finally(() => {
    reading = null;
  });
  await reading;
}

async function readJobs(): Promise<void> {
  const asked = performance.now();
  const jobs = await mergeJobs();
  const ofPhase = jobs.filter(({ phase }) => phase === 'moving');
  const ids = ofPhase.map(({ _id }) => _id).toSorted();
  if (ids.join() !== movingIds) {
    moving = {
      targets: new Map(ofPhase.map(({ source_ehr: source, target_ehr: target }) => [source, target])),
      queryable: ofPhase.length === 0 ? new Map() : await queryableTargets(ofPhase),
    };
    movingIds = ids.join();
  }
  trustedUntil = jobs.length === 0 ? asked + JOB_TRUST_MS : 0;
}

/** See `MovingMerges.queryable`. A tombstone still has what its EHR was. */
async function queryableTargets(moved: readonly MergeJobDoc[]): Promise<ReadonlyMap<string, boolean>> {
  const ids = moved.flatMap(({ source_ehr: source, target_ehr: target }) => [source, target]);
  const found = await documents<{ _id: string; is_queryable: boolean }>(COLLECTIONS.ehrs)
    .find({ _id: { $in: ids } }, { projection: { is_queryable: 1 } })
    .toArray();
  const flags = new Map(found.map(({ _id, is_queryable: isQueryable }) => [_id, isQueryable]));
  const queryable = new Map<string, boolean>();
  for (const { source_ehr: source, target_ehr: target } of moved) {
    const isQueryable = flags.get(target);
    if (isQueryable !== undefined && isQueryable !== flags.get(source)) queryable.set(source, isQueryable);
  }
  return queryable;
}

/** Merges that are moving documents, as `learnOfMerges` found them: the same object for as long as they are the same. */
export function movingMerges(): MovingMerges {
  return moving;
}

/**
 * Learns again, and tells whether merges still move what they moved `before`: if so, what was read in between is of one
 * moment as far as they are concerned. Asks nobody while `learnOfMerges` would not.
 */
export async function areStillMoving(before: MovingMerges): Promise<boolean> {
  // What is being read was asked before: a merge may have ended since, and what was read may be of after that.
  if (performance.now() >= trustedUntil) await reading?.catch(() => undefined);
  await learnOfMerges();
  return moving === before;
}

/** The EHR to which a document belongs that names this one as its owner. */
export function belongsTo(ehrId: string): string {
  return moving.targets.get(ehrId) ?? ehrId;
}

/** Whether documents of an EHR are being moved, from it or to it. */
export function takesPartInMerge(ehrId: string): boolean {
  return moving.targets.has(ehrId) || [...moving.targets.values()].includes(ehrId);
}

/** The owners of documents that are looked for: one EHR, or any of several. */
type OwnerCondition = string | { readonly $in: string[] };

/**
 * What documents of an EHR name as their owner, as a condition: more than the EHR while documents move to or from it, and
 * nothing for the source.
 */
export function ownedBy(ehrId: string): OwnerCondition {
  const owners = ownersNow(ehrId);
  return owners.length === 1 ? ehrId : mongoose.trusted({ $in: owners });
}

/** The same as a list. */
export function ownersNow(ehrId: string): string[] {
  return ownersOf(ehrId, moving);
}

/** All merges that go in steps. */
export function mergeJobs(): Promise<MergeJobDoc[]> {
  return jobs().find<MergeJobDoc>({}).toArray();
}

/** One of them; null when it has ended. */
export function mergeJob(jobId: string): Promise<MergeJobDoc | null> {
  return jobs().findOne({ _id: jobId });
}

/** From the transaction of this write on documents of the source are read as the target's. */
export function mergeJobMoving(jobId: string): UpdateWrite<'merge_jobs'> {
  const filter = { _id: jobId, phase: 'planning' } as const;
  return {
    collection: COLLECTIONS.mergeJobs,
    filter,
    update: { $set: { phase: 'moving' } },
    matching: 'one',
  };
}

/** The write that publishes a merge in steps. */
export function mergeJobInsert(insert: MergeJobDoc): InsertWrite<'merge_jobs'> {
  return { collection: COLLECTIONS.mergeJobs, insert };
}

/** The write that ends it. */
export function mergeJobRemoval(jobId: string): RemoveWrite<'merge_jobs'> {
  return { collection: COLLECTIONS.mergeJobs, remove: { _id: jobId } };
}

function jobs(): mongoose.mongo.Collection<MergeJobDoc> {
  return documents<MergeJobDoc>(COLLECTIONS.mergeJobs);
}
