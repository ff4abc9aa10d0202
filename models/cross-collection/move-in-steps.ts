import { setImmediate } from 'node:timers/promises';
import type mongoose from 'mongoose';
import { COLLECTIONS } from '../layout.js';
import { mergeJob } from '../merge/job.js';
import { compositionsBack, contributionsBack, type MovedBack } from '../merge/moved-back.js';
import { behindRouter, OWNER, type OwnedCollection, type Owners } from './owned-documents.js';
import { documents } from '../access/documents.js';

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
 * `models/merge/job.ts` says which document is whose. @throws Error when the job has ended, by another server
 */
export async function moveAllInSteps(
  owners: StepOwners,
  jobId: string,
  size: StepSize = STEP_SIZE,
): Promise<void> {
  const step = { jobId, size, pace: { share: 1 } };
  const among = { type: 'COMPOSITION' };
  await movePart(owners, { collection: COLLECTIONS.contributions, among: {} }, step);
  await movePart(owners, { collection: COLLECTIONS.itemTags, among: { target_type: 'COMPOSITION' } }, step);
  const containers = documents<{ _id: string }>(COLLECTIONS.versionedObjects);
  const owned = { [OWNER[COLLECTIONS.versionedObjects]]: owners.from, ...among };
  for await (const ids of idsInSteps(containers, owned, STEP_SIZE)) await moveCompositions(owners, ids, step);
  // What a stopped unmerge had moved before its containers: they are the target's still.
  await movePart(owners, { collection: COLLECTIONS.versions, among }, step);
  await movePart(owners, { collection: COLLECTIONS.aql, among, set: { q: owners.isQueryable } }, step);
}

/** As `moveAllInSteps`, of these only, which are read as they go: nobody holds the ids of all. */
export async function moveSomeInSteps(
  owners: StepOwners,
  moved: MovedBack,
  jobId: string,
  size: StepSize = STEP_SIZE,
): Promise<void> {
  const step = { jobId, size, pace: { share: 1 } };
  for await (const ids of contributionsBack(moved))
    await movePart(owners, { collection: COLLECTIONS.contributions, among: { _id: { $in: ids } } }, step);
  for await (const ids of compositionsBack(moved)) {
    await movePart(owners, { collection: COLLECTIONS.itemTags, among: { target: { $in: ids } } }, step);
    await moveCompositions(owners, ids, step);
  }
}

/**
 * What belongs to these compositions, the containers last: by them a repeated move finds what is left. Together, in the order of
 * their creation, lies what was written together; in the order of ids each page would be read anew.
 */
async function moveCompositions(owners: StepOwners, ids: readonly string[], step: Stepping): Promise<void> {
  const among = { $in: ids };
  const set = { q: owners.isQueryable };
  await movePart(owners, { collection: COLLECTIONS.versions, among: { object_id: among } }, step);
  await movePart(owners, { collection: COLLECTIONS.aql, among: { vo: among }, set }, step);
  await moveThose(owners, { collection: COLLECTIONS.versionedObjects, ids, most: ids.length }, step);
}

interface Stepping {
  readonly jobId: string;
  readonly size: StepSize;
  /** Which share of the largest step the next one has: it follows what the last one took. */
  readonly pace: { share: number };
}

/** Documents of `aql` have many index entries, which begin with the owner. */
const DERIVED_SHARE = 2;

/** What one step may take, ms: each of the four or five commands of a commit may have to wait for one. */
const STEP_MS = 100;
const LEAST_SHARE = 0.02;

/**
 * All documents of a part, which nobody else writes. One cursor goes over the index: each search for the next ones
 * would pass the entries of all that moved before it, which the engine keeps for a while.
 */
async function movePart(owners: Owners, { among, ...part }: Part, step: Stepping): Promise<void> {
  const { collection } = part;
  const { size } = step;
  const share = collection === COLLECTIONS.aql ? DERIVED_SHARE : 1;
  const most = Math.ceil(size.documents / share);
  const owned = { [OWNER[collection]]: owners.from, ...among };
  const found = idsInSteps(documents(collection), owned, { ...size, documents: most });
  for await (const ids of found) await moveThose(owners, { ...part, ids, most }, step);
}

interface Those extends Omit<Part, 'among'> {
  readonly ids: readonly string[];
  /** How many of such documents one command may change. */
  readonly most: number;
}

async function moveThose(
  { from, to }: Owners,
  { collection, ids, most, set }: Those,
  { jobId, pace }: Stepping,
): Promise<void> {
  const owner = OWNER[collection];
  const update = { $set: { [owner]: to, ...set } };
  for (let start = 0; start < ids.length;) {
    if ((await mergeJob(jobId)) === null)
      throw new Error('another server has taken over the steps of the merge');
    const some = ids.slice(start, start + Math.ceil(most * pace.share));
    const began = performance.now();
    await updateThose(documents(collection), { filter: { [owner]: from }, ids: some, update });
    pace.share = nextShare(pace.share, performance.now() - began);
    start += some.length;
    await setImmediate();
  }
}

/** After a step of such a share took so many milliseconds. */
function nextShare(share: number, ms: number): number {
  const factor = Math.min(2, Math.max(0.25, STEP_MS / Math.max(ms, 1)));
  return Math.min(1, Math.max(LEAST_SHARE, share * factor));
}

/** The majority has them at the latest with the transaction that ends the merge. */
async function updateThose(
  collection: mongoose.mongo.Collection<{ _id: string }>,
  step: { readonly filter: object; readonly ids: readonly string[]; readonly update: object },
): Promise<void> {
  const { filter, ids, update } = step;
  const options = { writeConcern: { w: 1 } };
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
