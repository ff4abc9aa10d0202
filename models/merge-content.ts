import mongoose, { trusted, type ClientSession } from 'mongoose';
import { idempotentAnswer } from '../openehr/base/memoized.js';
import type { ContributionDoc } from './contribution.js';
import { Ehr, type EhrDoc } from './ehr.js';
import type { ItemTagDoc } from './item-tag.js';
import { COLLECTIONS, type CollectionName } from './layout.js';
import { Version, type VersionDoc } from './version.js';
import { VersionedObject, type VersionedObjectDoc } from './versioned-object.js';

/** Ids named by one command. */
const STEP = 1_000;

/** The live persistent compositions of an EHR, oldest first. `persistent`: code of that category. */
export function liveCompositionsOfCategory(ehrId: string, category: string): Promise<VersionedObjectDoc[]> {
  return VersionedObject.find({ ehr_id: ehrId, type: 'COMPOSITION', deleted: false, category })
    .sort({ time_created: 1, _id: 1 })
    .lean<VersionedObjectDoc[]>()
    .exec();
}

/** The latest versions of these containers, by object id. */
export async function latestVersions(
  containers: readonly VersionedObjectDoc[],
): Promise<Map<string, VersionDoc>> {
  const found = new Map<string, VersionDoc>();
  for (const part of inSteps(containers.map((container) => container.latest_version_uid))) {
    const docs = await Version.find({ _id: trusted({ $in: part }) })
      .lean<VersionDoc[]>()
      .exec();
    for (const doc of docs) found.set(doc.object_id, doc);
  }
  return found;
}

/** One version with content, whoever owns it; null when there is none. */
export function anyVersion(versionUid: string): Promise<VersionDoc | null> {
  return Version.findOne({ _id: versionUid }).lean<VersionDoc>().exec();
}

/** Versions of one container before a number, oldest first. */
export function versionsBefore(
  ehrId: string,
  versionedObjectUid: string,
  version: number,
): Promise<VersionDoc[]> {
  return Version.find({ ehr_id: ehrId, object_id: versionedObjectUid, version: trusted({ $lt: version }) })
    .sort({ version: 1 })
    .lean<VersionDoc[]>()
    .exec();
}

/** Uids of all versions of these containers, oldest first. */
export async function versionUidsOf(
  ehrId: string,
  versionedObjectUids: readonly string[],
): Promise<string[]> {
  const docs = await Version.find(
    { ehr_id: ehrId, object_id: trusted({ $in: [...versionedObjectUids] }) },
    { _id: 1 },
  )
    .sort({ object_id: 1, time_committed: 1 })
    .lean<{ _id: string }[]>()
    .exec();
  return docs.map((doc) => doc._id);
}

/** CONTRIBUTIONs of an EHR without their audits, in no order, as they are read: there may be many. */
export function contributionRefs(
  session: ClientSession,
  ehrId: string,
): AsyncIterable<Pick<ContributionDoc, '_id' | 'versions'>> {
  return mongoose.connection
    .collection<ContributionDoc>(COLLECTIONS.contributions)
    .find<Pick<ContributionDoc, '_id' | 'versions'>>(
      { ehr_id: ehrId },
      { session, projection: { _id: 1, versions: 1 } },
    );
}

/** Item tags of an EHR on these containers. */
export async function tagsOn(
  session: ClientSession,
  ehrId: string,
  versionedObjectUids: readonly string[],
): Promise<ItemTagDoc[]> {
  const found: ItemTagDoc[] = [];
  const tags = mongoose.connection.collection<ItemTagDoc>(COLLECTIONS.itemTags);
  for (const part of inSteps(versionedObjectUids)) {
    found.push(...(await tags.find({ owner_id: ehrId, target: { $in: part } }, { session }).toArray()));
  }
  return found;
}

/** Holds the tombstone of a merged EHR for the caller's transaction; null when it is none (any more). */
export function holdMerged(ehrId: string): Promise<EhrDoc | null> {
  return Ehr.findOneAndUpdate(
    { _id: ehrId, state: 'merged' },
    { $inc: { write_seq: 1 } },
    { returnDocument: 'after' },
  )
    .lean<EhrDoc>()
    .exec();
}

/** Documents that get another owner. */
export interface Move {
  readonly collection: CollectionName;
  /** Field that holds the owner's ehr_id. */
  readonly owner: 'ehr_id' | 'ehr' | 'owner_id';
  readonly from: string;
  readonly to: string;
  /** Which of the owner's documents; all when absent. Ids are given in `among`. */
  readonly among?: { readonly field: string; readonly ids: readonly string[] };
  /** Further fields to set. */
  readonly set?: Readonly<Record<string, unknown>>;
}

const behindRouter = idempotentAnswer(async () => {
  const hello = await mongoose.connection.getClient().db('admin').command({ hello: 1 });
  return hello.msg === 'isdbgrid';
});

/**
 * Gives documents another owner inside the session's transaction and tells how many. On a sharded cluster the
 * owner is the shard key, whose value only changes document by document (docs/spec/storage.md#shards).
 */
export async function moveDocuments(
  session: ClientSession,
  move: Move,
  isSharded: Promise<boolean> = behindRouter(),
): Promise<number> {
  const byDocument = await isSharded;
  const { among } = move;
  if (among === undefined) return moveMatching(session, move, {}, byDocument);
  let moved = 0;
  for (const part of inSteps(among.ids)) {
    moved += await moveMatching(session, move, { [among.field]: { $in: part } }, byDocument);
  }
  return moved;
}

async function moveMatching(
  session: ClientSession,
  { collection, owner, from, to, set }: Move,
  condition: object,
  byDocument: boolean,
): Promise<number> {
  const documents = mongoose.connection.collection<{ _id: string }>(collection);
  const filter = { [owner]: from, ...condition };
  const update = { $set: { [owner]: to, ...set } };
  if (!byDocument) return (await documents.updateMany(filter, update, { session })).matchedCount;
  const docs = await documents.find(filter, { session, projection: { _id: 1 } }).toArray();
  let moved = 0;
  for (const { _id } of docs) {
    moved += (await documents.updateOne({ _id, [owner]: from }, update, { session })).matchedCount;
  }
  return moved;
}

/** The list in parts that one command can name. */
export function inSteps<T>(list: readonly T[], size = STEP): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < list.length; start += size) parts.push(list.slice(start, start + size));
  return parts;
}
