import mongoose, { trusted, type ClientSession } from 'mongoose';
import { Ehr } from './ehr.js';
import { COLLECTIONS, type CollectionName } from './layout.js';
import { insertRemoval, removalWrites, type RemovalReason } from './removal.js';
import type { Write } from './write-batch.js';

/** Documents removed by one command of the steps outside a transaction. */
const STEP = 1_000;

/**
 * The writes that remove one object: versions, container, derived documents, item tags, a live directory's mark, and
 * that note it for `verify`.
 */
export async function objectErasure(
  session: ClientSession,
  ehrId: string,
  versionedObjectUid: string,
): Promise<Write[]> {
  return [
    ...(await erasureNotes(session, COLLECTIONS.versions, { ehr_id: ehrId, object_id: versionedObjectUid })),
    { collection: COLLECTIONS.versions, remove: { ehr_id: ehrId, object_id: versionedObjectUid } },
    { collection: COLLECTIONS.versionedObjects, remove: { _id: versionedObjectUid, ehr_id: ehrId } },
    { collection: COLLECTIONS.aql, remove: { ehr: ehrId, vo: versionedObjectUid } },
    { collection: COLLECTIONS.itemTags, remove: { owner_id: ehrId, target: versionedObjectUid } },
    {
      collection: COLLECTIONS.ehrs,
      filter: { _id: ehrId, directory_id: versionedObjectUid },
      update: { $unset: { directory_id: 1 } },
      matching: 'any',
    },
  ];
}

/** The writes that hide an active EHR from everyone and free its subject; the first matches nothing otherwise. */
export function ehrHiding(ehrId: string): Write[] {
  return [
    {
      collection: COLLECTIONS.ehrs,
      filter: { _id: ehrId, state: 'active' },
      update: { $set: { state: 'deleting' }, $inc: { write_seq: 1 }, $unset: { subject: 1 } },
      matching: 'one',
    },
    { collection: COLLECTIONS.aql, remove: { ehr: ehrId } },
  ];
}

/** The writes that remove an active EHR and all it holds at once; the first matches nothing otherwise. */
export async function wholeErasure(session: ClientSession, ehrId: string): Promise<Write[]> {
  const mergeIds = await mergesEndingIn(ehrId, { session });
  return [
    ...ehrHiding(ehrId),
    ...(await erasureNotes(session, COLLECTIONS.versions, { ehr_id: ehrId })),
    ...(await erasureNotes(session, COLLECTIONS.contributions, { ehr_id: ehrId })),
    { collection: COLLECTIONS.itemTags, remove: { owner_id: ehrId } },
    { collection: COLLECTIONS.versions, remove: { ehr_id: ehrId } },
    { collection: COLLECTIONS.versionedObjects, remove: { ehr_id: ehrId } },
    { collection: COLLECTIONS.contributions, remove: { ehr_id: ehrId } },
    { collection: COLLECTIONS.mergeArchive, remove: { merge_id: { $in: mergeIds } } },
    ...(await ehrErasure(ehrId)),
  ];
}

/** Whether an EHR holds more than this many versions; counts no further. */
export async function holdsMoreVersions(ehrId: string, most: number): Promise<boolean> {
  const versions = mongoose.connection.collection(COLLECTIONS.versions);
  return (await versions.countDocuments({ ehr_id: ehrId }, { limit: most + 1 })) > most;
}

/** Ids of EHRs whose physical deletion has begun. */
export async function ehrsBeingErased(): Promise<string[]> {
  const docs = await Ehr.find({ state: 'deleting' }, { _id: 1 }).lean<{ _id: string }[]>().exec();
  return docs.map((doc) => doc._id);
}

/** Removes versions, containers, contributions, tags and archives of a hidden EHR in steps; may be repeated. */
export async function eraseEhrContent(ehrId: string): Promise<void> {
  await eraseInSteps(COLLECTIONS.aql, { ehr: ehrId });
  await eraseInSteps(COLLECTIONS.itemTags, { owner_id: ehrId });
  await eraseInSteps(COLLECTIONS.versions, { ehr_id: ehrId });
  await eraseInSteps(COLLECTIONS.versionedObjects, { ehr_id: ehrId });
  await eraseInSteps(COLLECTIONS.contributions, { ehr_id: ehrId });
  for (const mergeId of await mergesEndingIn(ehrId, {})) {
    await eraseInSteps(COLLECTIONS.mergeArchive, { merge_id: mergeId });
  }
}

/** Removes audit records older than a time in steps; may be repeated. Gives how many. */
export function eraseAuditBefore(time: Date): Promise<number> {
  return eraseInSteps(COLLECTIONS.audit, { time: { $lt: time } }, 'retention');
}

/** The writes that end it all: the EHR document, the merges that ended in it, and their tombstones. */
export async function ehrErasure(ehrId: string): Promise<Write[]> {
  const sources = await sourcesEndingIn(ehrId);
  return [
    { collection: COLLECTIONS.mergeRecords, remove: { source_ehr: { $in: sources } } },
    { collection: COLLECTIONS.ehrs, remove: { _id: { $in: [ehrId, ...sources] } } },
  ];
}

/** EHR ids whose merges, directly or through others, ended in this one. */
async function sourcesEndingIn(ehrId: string): Promise<string[]> {
  const found: string[] = [];
  for (let targets = [ehrId]; targets.length > 0;) {
    const docs = await Ehr.find({ merged_into: trusted({ $in: targets }) }, { _id: 1 })
      .lean<{ _id: string }[]>()
      .exec();
    targets = docs.map((doc) => doc._id);
    found.push(...targets);
  }
  return found;
}

/** A native call does not join a transaction by itself: inside one the session is given. */
async function mergesEndingIn(
  ehrId: string,
  joined: { readonly session?: ClientSession },
): Promise<string[]> {
  const sources = await sourcesEndingIn(ehrId);
  const docs = await mongoose.connection
    .collection(COLLECTIONS.mergeRecords)
    .find({ source_ehr: { $in: sources } }, { projection: { _id: 1 }, ...joined })
    .toArray();
  return docs.map((doc) => String(doc._id));
}

const NOTED = [COLLECTIONS.versions, COLLECTIONS.contributions, COLLECTIONS.audit] as const;

/** Collections whose records are sealed: that they go is noted. */
type Noted = (typeof NOTED)[number];

function isNoted(name: CollectionName): name is Noted {
  return NOTED.some((noted) => noted === name);
}

async function erasureNotes(session: ClientSession, collection: Noted, filter: object): Promise<Write[]> {
  const docs = await mongoose.connection
    .collection<{ _id: string }>(collection)
    .find(filter, { projection: { _id: 1 }, session })
    .toArray();
  const ids = docs.map(({ _id }) => _id);
  return removalWrites({ kind: 'removed', reason: 'erasure', collection, ids });
}

async function eraseInSteps(
  name: CollectionName,
  filter: object,
  reason: RemovalReason = 'erasure',
): Promise<number> {
  const target = mongoose.connection.collection<{ _id: string }>(name);
  let removed = 0;
  for (;;) {
    const docs = await target
      .find(filter, { projection: { _id: 1 } })
      .limit(STEP)
      .toArray();
    if (docs.length === 0) return removed;
    const ids = docs.map((doc) => doc._id);
    if (isNoted(name)) await insertRemoval({ kind: 'removed', reason, collection: name, ids });
    removed += (await target.deleteMany({ ...filter, _id: { $in: ids } })).deletedCount;
  }
}
