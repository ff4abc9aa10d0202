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
 * `models/merge/job.ts` tells them. @throws Error when the job has ended, by another server
 */
export async function moveAllInSteps(
  owners: StepOwners,
  jobId: string,
  size: StepSize = STEP_SIZE,
): Promise<void> {
  const parts: Part[] = [
    { collection: COLLECTIONS.contributions, among: {} },
    { collection: COLLECTIONS.itemTags, among: { target_type: 'COMPOSITION' } },
    { collection: COLLECTIONS.versions, among: { type: 'COMPOSITION' } },
    { collection: COLLECTIONS.aql, among: { type: 'COMPOSITION' }, set: { q: owners.isQueryable } },
    { collection: COLLECTIONS.versionedObjects, among: { type: 'COMPOSITION' } },
  ];
  const step = { jobId, size, pace: { share: 1 } };
  for (const part of parts) await movePart(owners, part, step);
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
    const among = { $in: ids };
    const parts: Part[] = [
      { collection: COLLECTIONS.itemTags, among: { target: among } },
      { collection: COLLECTIONS.versions, among: { object_id: among } },
      { collection: COLLECTIONS.aql, among: { vo: among }, set: { q: owners.isQueryable } },
      { collection: COLLECTIONS.versionedObjects, among: { _id: among } },
    ];
    for (const part of parts) await movePart(owners, part, step);
  }
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
 * All documents of the old owner, which nobody else writes. One cursor goes over the index: each search for the next ones
 * would pass the entries of all that moved before it, which the engine keeps for a while.
 */
async function movePart({ from, to }: Owners, part: Part, { jobId, size, pace }: Stepping): Promise<void> {
  const collection = documents<{ _id: string }>(part.collection);
  const owner = OWNER[part.collection];
  const update = { $set: { [owner]: to, ...part.set } };
  const share = part.collection === COLLECTIONS.aql ? DERIVED_SHARE : 1;
  const most = { ...size, documents: Math.ceil(size.documents / share) };
  for await (const found of idsInSteps(collection, { [owner]: from, ...part.among }, most)) {
    for (let start = 0; start < found.length;) {
      if ((await mergeJob(jobId)) === null)
        throw new Error('another server has taken over the steps of the merge');
      const ids = found.slice(start, start + Math.ceil(most.documents * pace.share));
      const began = performance.now();
      await updateThose(collection, { filter: { [owner]: from }, ids, update });
      pace.share = nextShare(pace.share, performance.now() - began);
      start += ids.length;
      await setImmediate();
    }
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
