import mongoose, { type ClientSession } from 'mongoose';
import { AQL_SCHEMA_VERSION, type AqlDocument, type LeafIndex } from '../aql/index/document.js';
import { COLLECTIONS } from './layout.js';
import { StorageSettingsModel } from './settings.js';
import { Version, type VersionDoc } from './version.js';
import { VersionedObject, type VersionedObjectDoc } from './versioned-object.js';
import type { Write } from './write-batch.js';

/** How far a rebuild of the derived documents came, kept in the settings so that it can go on later. */
export interface ReindexPosition {
  /** What the documents are to become. */
  readonly sv: number;
  readonly leafIndex: LeafIndex;
  /** The last EHR that is done; empty: none. */
  readonly afterEhr: string;
}

/** Where an earlier rebuild to the same goal stopped, null when there was none. */
export async function reindexPosition(leafIndex: LeafIndex): Promise<ReindexPosition | null> {
  const stored = await StorageSettingsModel.findOne({ _id: 'storage' })
    .lean<{ reindex?: ReindexPosition }>()
    .exec();
  const position = stored?.reindex;
  return position?.sv === AQL_SCHEMA_VERSION && position.leafIndex === leafIndex ? position : null;
}

/** Notes that all EHRs up to this one are done. */
export async function saveReindexPosition(position: ReindexPosition): Promise<void> {
  await StorageSettingsModel.updateOne({ _id: 'storage' }, { $set: { reindex: position } }).exec();
}

/** Declares all derived documents to be of this version and to hold these leaves. */
export async function finishReindex(leafIndex: LeafIndex): Promise<void> {
  await StorageSettingsModel.updateOne(
    { _id: 'storage' },
    { $set: { sv: AQL_SCHEMA_VERSION, leaf_index: leafIndex }, $unset: { reindex: 1 } },
  ).exec();
}

/** Ids of the next active EHRs in ascending order, at most `count`. */
export async function ehrIdsAfter(ehrId: string, count: number): Promise<string[]> {
  const docs = await mongoose.connection
    .collection<{ _id: string }>(COLLECTIONS.ehrs)
    .find({ _id: { $gt: ehrId }, state: 'active' } as object, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(count)
    .toArray();
  return docs.map((doc) => doc._id);
}

/** How many EHRs there are, for a progress display. */
export function activeEhrCount(): Promise<number> {
  return mongoose.connection.collection(COLLECTIONS.ehrs).countDocuments({ state: 'active' });
}

/** All containers of an EHR, by id. */
export function containersOfEhr(ehrId: string): Promise<VersionedObjectDoc[]> {
  return VersionedObject.find({ ehr_id: ehrId }).sort({ _id: 1 }).lean<VersionedObjectDoc[]>().exec();
}

/** All versions of a container with their content, oldest first. Joins the caller's transaction. */
export function versionsOfContainer(ehrId: string, versionedObjectUid: string): Promise<VersionDoc[]> {
  return Version.find({ ehr_id: ehrId, object_id: versionedObjectUid })
    .sort({ time_committed: 1 })
    .lean<VersionDoc[]>()
    .exec();
}

/** The writes that put the derived documents of one container in the place of whatever there is. */
export function derivedReplacement(
  ehrId: string,
  versionedObjectUid: string,
  documents: readonly AqlDocument[],
): Write[] {
  return [
    { collection: COLLECTIONS.aql, remove: { ehr: ehrId, vo: versionedObjectUid } },
    ...documents.map((insert) => ({ collection: COLLECTIONS.aql, insert })),
  ];
}

/** Removes derived documents of an EHR whose container is gone; gives how many. */
export async function removeOrphans(
  session: ClientSession,
  ehrId: string,
  versionedObjectUids: readonly string[],
): Promise<number> {
  const { deletedCount } = await mongoose.connection
    .collection(COLLECTIONS.aql)
    .deleteMany({ ehr: ehrId, vo: { $nin: [...versionedObjectUids] } }, { session });
  return deletedCount;
}
