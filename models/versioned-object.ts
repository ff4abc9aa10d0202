import { model, Schema, trusted } from 'mongoose';
import { COLLECTIONS } from './layout.js';
import type { RootType } from '../openehr/rm/root-type.js';
import { SCHEMA_OPTIONS } from './schema.js';

/**
 * One container: VERSIONED_COMPOSITION, VERSIONED_EHR_STATUS or VERSIONED_FOLDER (fields:
 * docs/spec/storage.md#versioned_objects).
 */
export interface VersionedObjectDoc {
  /** HIER_OBJECT_ID of the container, a UUID in lower case. */
  readonly _id: string;
  /** Owner. */
  readonly ehr_id: string;
  readonly type: RootType;
  /** Commit time of version 1. */
  readonly time_created: Date;
  readonly latest_version: number;
  readonly latest_version_uid: string;
  readonly latest_time_committed: Date;
  /** Whether the latest version is a logical deletion. */
  readonly deleted: boolean;
  /** COMPOSITION: template of the latest version with data. */
  readonly template_id?: string;
  /** COMPOSITION: code of `category` (431 persistent, 433 event, 451 episodic). */
  readonly category?: string;
  /** true: it or one of its versions has had item tags. Every version repeats it. */
  readonly has_item_tags?: true;
}

const versionedObjectSchema = new Schema<VersionedObjectDoc>(
  {
    _id: String,
    ehr_id: String,
    type: String,
    time_created: Date,
    latest_version: Number,
    latest_version_uid: String,
    latest_time_committed: Date,
    deleted: Boolean,
    template_id: String,
    category: String,
    has_item_tags: Boolean,
  },
  SCHEMA_OPTIONS,
);

/** Collection `versioned_objects`. */
export const VersionedObject = model('VersionedObject', versionedObjectSchema, COLLECTIONS.versionedObjects);

/** The containers with these ids, whoever owns them, in no order. */
export function containersById(versionedObjectUids: readonly string[]): Promise<VersionedObjectDoc[]> {
  return VersionedObject.find({ _id: trusted({ $in: [...versionedObjectUids] }) })
    .lean<VersionedObjectDoc[]>()
    .exec();
}

/** One container of an EHR, null when it does not exist there or has another type. */
export function containerOf(
  ehrId: string,
  type: RootType,
  versionedObjectUid: string,
): Promise<VersionedObjectDoc | null> {
  return VersionedObject.findOne({ _id: versionedObjectUid, ehr_id: ehrId, type })
    .lean<VersionedObjectDoc>()
    .exec();
}

/** The one EHR_STATUS container of an EHR. */
export function ehrStatusContainer(ehrId: string): Promise<VersionedObjectDoc | null> {
  return VersionedObject.findOne({ ehr_id: ehrId, type: 'EHR_STATUS' }).lean<VersionedObjectDoc>().exec();
}

/** The live directory of an EHR, null when it has none now; unique by index. */
export function liveDirectory(ehrId: string): Promise<VersionedObjectDoc | null> {
  return VersionedObject.findOne({ ehr_id: ehrId, type: 'FOLDER', deleted: false })
    .lean<VersionedObjectDoc>()
    .exec();
}

/** The directory created last at or before `time` (no time: ever), deleted or not; null when none was by then. */
export function directoryAtTime(ehrId: string, time: Date | null): Promise<VersionedObjectDoc | null> {
  const created = time === null ? {} : { time_created: trusted({ $lte: time }) };
  return VersionedObject.findOne({ ehr_id: ehrId, type: 'FOLDER', ...created })
    .sort({ time_created: -1 })
    .lean<VersionedObjectDoc>()
    .exec();
}

/** Ids of the COMPOSITION containers of an EHR whose latest version is no deletion, oldest first. */
export async function liveCompositionIds(ehrId: string): Promise<string[]> {
  const rows = await VersionedObject.find({ ehr_id: ehrId, type: 'COMPOSITION', deleted: false }, { _id: 1 })
    .sort({ time_created: 1, _id: 1 })
    .lean<{ _id: string }[]>()
    .exec();
  return rows.map((row) => row._id);
}
