import { setImmediate } from 'node:timers/promises';
import type mongoose from 'mongoose';
import { COLLECTIONS } from '../access/layout.js';
import { mergeJob } from '../access/merge-job.js';
import { compositionsBack, contributionsBack, type MovedBack } from '../merge/moved-back.js';
import { behindRouter, OWNER, type OwnedCollection, type Owners } from './owned-documents.js';
import { documents } from '../access/documents.js';
import { ahead } from '../access/in-steps.js';

/** What one command changes at most: others wait for it. */
export interface StepSize {
  readonly documents: number;
  readonly bytes: number;
}

/** About a quarter of a second on one core: docs/decisions/0039-merging-in-steps.md. */
const STEP_SIZE: StepSize = { documents: 1_000, bytes: 8 * 1024 * 1024 };

/** Documents of one collection that get another owner. */
interface Part {
  readonly collection: OwnedCollection;
  /** Which of the owner's. */
  readonly among: object;
  /** Further fields to set. */
  readonly set?: object;
}

/** An EHR in which documents come to be, and whether population queries may see them there. */
export interface StepOwners extends Owners {
  readonly isQueryable: boolean;
}

/**
 * Gives all COMPOSITIONs of an EHR, what belongs to them, and its CONTRIBUTIONs another owner: command by command, outside of
 * transactions, so that others wait for one command only. May be stopped and repeated; readers do not see how far it is, for
 * `models/access/merge-job.ts` says which document is whose. @throws Error when the job has ended, by another server
 */
export async function moveAllInSteps(
  owners: StepOwners,
  jobId: string,
  size: StepSize = STEP_SIZE,
): Promise<void> {
  await moveSteps(owners, allSteps(owners, size), jobId);
}

/** As `moveAllInSteps`, of these only, which are read as they go: nobody holds the ids of all. */
export async function moveSomeInSteps(
  owners: StepOwners,
  moved: MovedBack,
  jobId: string,
  size: StepSize = STEP_SIZE,
): Promise<void> {
  await moveSteps(owners, someSteps(owners, moved, size), jobId);
}

async function* allSteps(owners: StepOwners, size: StepSize): AsyncGenerator<Step> {
  const { contributions, itemTags, versions, aql, versionedObjects } = COLLECTIONS;
  const among = { type: 'COMPOSITION' };
  const set = { q: owners.isQueryable };
  yield* partSteps(owners, { collection: contributions, among: {} }, size);
  yield* partSteps(owners, { collection: itemTags, among: { target_type: 'COMPOSITION' } }, size);
  const owned = { [OWNER[versionedObjects]]: owners.from, ...among };
  for await (const ids of idsInSteps(documents(versionedObjects), owned, STEP_SIZE))
    yield* compositionSteps(owners, ids, size);
  // What a stopped unmerge had moved before its containers: they are the target's still.
  yield* partSteps(owners, { collection: versions, among }, size);
  yield* partSteps(owners, { collection: aql, among, set }, size);
}

async function* someSteps(owners: StepOwners, moved: MovedBack, size: StepSize): AsyncGenerator<Step> {
  const { contributions, itemTags } = COLLECTIONS;
  for await (const ids of contributionsBack(moved))
    yield* partSteps(owners, { collection: contributions, among: { _id: { $in: ids } } }, size);
  for await (const ids of compositionsBack(moved)) {
    yield* partSteps(owners, { collection: itemTags, among: { target: { $in: ids } } }, size);
    yield* compositionSteps(owners, ids, size);
  }
}

/**
 * What belongs to these compositions, the containers last: by them a repeated move finds what is left. Together, in the order of
 * their creation, lies what was written together; in the order of ids each page would be read anew.
 */
async function* compositionSteps(
  owners: StepOwners,
  ids: readonly string[],
  size: StepSize,
): AsyncGenerator<Step> {
  const { versions, aql, versionedObjects } = COLLECTIONS;
  const among = { $in: ids };
  yield* partSteps(owners, { collection: versions, among: { object_id: among } }, size);
  yield* partSteps(owners, { collection: aql, among: { vo: among }, set: { q: owners.isQueryable } }, size);
  yield { collection: versionedObjects, ids, most: ids.length };
}

/** Documents of one collection that are found together, and move in one command or several. */
interface Step extends Omit<Part, 'among'> {
  readonly ids: readonly string[];
  /** How many of such documents one command may change. */
  readonly most: number;
}

/** Documents of `aql` have many index entries, which begin with the owner. */
const DERIVED_SHARE = 2;

/**
 * All documents of a part, which nobody else writes. One cursor goes over the index: each search for the next ones
 * would pass the entries of all that moved before it, which the engine keeps for a while.
 */
async function* partSteps(owners: Owners, { among, ...part }: Part, size: StepSize): AsyncGenerator<Step> {
  const { collection } = part;
  const share = collection === COLLECTIONS.aql ? DERIVED_SHARE : 1;
  const most = Math.ceil(size.documents / share);
  const owned = { [OWNER[collection]]: owners.from, ...among };
  for await (const ids of idsInSteps(documents(collection), owned, { ...size, documents: most }))
    yield { ...part, ids, most };
}

/** What one command may take, ms: each of the four or five commands of a commit may have to wait for one. */
const STEP_MS = 100;
const LEAST_SHARE = 0.02;

/** Moves step after step; the next one is looked for meanwhile. */
async function moveSteps(owners: Owners, steps: AsyncGenerator<Step>, jobId: string): Promise<void> {
  // Which share of the most one command changes: it follows what the last one took.
  let share = 1;
  for await (const { collection, ids, most, set } of ahead(steps)) {
    const owner = OWNER[collection];
    const update = { $set: { [owner]: owners.to, ...set } };
    for (let start = 0; start < ids.length;) {
      if ((await mergeJob(jobId)) === null)
        throw new Error('another server has taken over the steps of the merge');
      const some = ids.slice(start, start + Math.ceil(most * share));
      const began = performance.now();
      await updateThose(documents(collection), { filter: { [owner]: owners.from }, ids: some, update });
      share = nextShare(share, performance.now() - began);
      start += some.length;
      await setImmediate();
    }
  }
}

/** After a command of such a share took so many milliseconds. */
function nextShare(share: number, ms: number): number {
  const factor = Math.min(2, Math.max(0.25, STEP_MS / Math.max(ms, 1)));
  return Math.min(1, Math.max(LEAST_SHARE, share * factor));
}

/**
 * The majority has them at the latest with the transaction that ends the merge. `alone`: the embedded engine keeps no snapshot
 * for a read that goes over an index on the way of these documents from one place in it to another.
 */
async function updateThose(
  collection: mongoose.mongo.Collection<{ _id: string }>,
  step: { readonly filter: object; readonly ids: readonly string[]; readonly update: object },
): Promise<void> {
  const { filter, ids, update } = step;
  const options = { writeConcern: { w: 1 }, comment: { alone: true } };
  if (!(await behindRouter())) {
    // Not by the index of the owner, which the step changes: docs/decisions/0039-merging-in-steps.md.
    await collection.updateMany({ ...filter, _id: { $in: [...ids] } }, update, { ...options, hint: '_id_' });
    return;
  }
  // The value of a shard key only changes document by document.
  for (const _id of ids) await collection.updateOne({ ...filter, _id }, update);
}

/** The ids of these documents, as many at a time as one step may change. */
async function* idsInSteps(
  collection: mongoose.mongo.Collection<{ _id: string }>,
  owned: object,
  size: StepSize,
): AsyncGenerator<string[]> {
  const found = collection.aggregate<{ _id: string; bytes: number }>(
    [{ $match: owned }, { $project: { bytes: { $bsonSize: '$$ROOT' } } }],
    { batchSize: size.documents },
  );
  let step: string[] = [];
  let stepBytes = 0;
  for await (const { _id, bytes } of found) {
    if (step.length === size.documents || (step.length > 0 && stepBytes + bytes > size.bytes)) {
      yield step;
      step = [];
      stepBytes = 0;
    }
    step.push(_id);
    stepBytes += bytes;
  }
  if (step.length > 0) yield step;
}
