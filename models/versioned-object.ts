import { trusted } from 'mongoose';
import { inSteps } from './access/in-steps.js';
import { COLLECTIONS, PERSISTENT } from './access/layout.js';
import { belongsTo, ownedBy } from './access/merge-job.js';
import type { RootType } from '../openehr/rm/root-type.js';
import {
  collection,
  date,
  flag,
  mark,
  number,
  oneOf,
  optional,
  text,
  type DocumentOf,
} from './access/collection.js';
import type { VersionDoc } from './version.js';
import type { InsertWrite, RemoveWrite, UpdateWrite } from './access/write.js';

const VERSIONED_OBJECT = {
  /** HIER_OBJECT_ID of the container, a UUID in lower case. */
  _id: text,
  /** Owner. */
  ehr_id: text,
  type: oneOf<RootType>(),
  /** Commit time of version 1. */
  time_created: date,
  latest_version: number,
  latest_version_uid: text,
  latest_time_committed: date,
  /** Whether the latest version is a logical deletion. */
  deleted: flag,
  /** COMPOSITION: template of the latest version with data. */
  template_id: optional(text),
  /** COMPOSITION: code of `category` (431 persistent, 433 event, 451 episodic). */
  category: optional(text),
  /** true: it or one of its versions has had item tags. Every version repeats it. */
  has_item_tags: optional(mark),
};

/**
 * One container: VERSIONED_COMPOSITION, VERSIONED_EHR_STATUS or VERSIONED_FOLDER (fields:
 * docs/spec/storage.md#versioned_objects).
 */
export type VersionedObjectDoc = DocumentOf<typeof VERSIONED_OBJECT>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.versionedObjects]: VersionedObjectDoc;
  }
}

/** Collection `versioned_objects`. */
export const VersionedObject = collection(COLLECTIONS.versionedObjects, VERSIONED_OBJECT);

/** Up to this many containers are counted one by one; above, their number is estimated. */
const COUNTED_CONTAINERS = 100_000;

/**
 * How many COMPOSITIONs there are: the live ones while all containers are few, above that about how many containers
 * that are no EHR_STATUS. `ehrs`: number of EHR ids.
 */
export async function compositionCount(
  ehrs: number,
): Promise<{ readonly count: number; readonly isExact: boolean }> {
  const containers = await VersionedObject.estimatedDocumentCount().exec();
  if (containers > COUNTED_CONTAINERS) return { count: Math.max(0, containers - ehrs), isExact: false };
  return {
    count: await VersionedObject.countDocuments({ type: 'COMPOSITION', deleted: false }).exec(),
    isExact: true,
  };
}

/** The containers with these ids, whoever owns them, in no order. */
export function containersById(versionedObjectUids: readonly string[]): Promise<VersionedObjectDoc[]> {
  return VersionedObject.find({ _id: trusted({ $in: [...versionedObjectUids] }) }).exec();
}

/** One container of an EHR, null when it does not exist there or has another type. */
export async function containerOf(
  ehrId: string,
  type: RootType,
  versionedObjectUid: string,
): Promise<VersionedObjectDoc | null> {
  const owner = type === 'COMPOSITION' ? ownedBy(ehrId) : ehrId;
  const container = await VersionedObject.findOne({ _id: versionedObjectUid, ehr_id: owner, type }).exec();
  return container === null ? null : { ...container, ehr_id: belongsTo(container.ehr_id) };
}

/** The one EHR_STATUS container of an EHR. */
export function ehrStatusContainer(ehrId: string): Promise<VersionedObjectDoc | null> {
  return VersionedObject.findOne({ ehr_id: ehrId, type: 'EHR_STATUS' }).exec();
}

/** The live directory of an EHR, null when it has none now; unique by index. */
export function liveDirectory(ehrId: string): Promise<VersionedObjectDoc | null> {
  return VersionedObject.findOne({ ehr_id: ehrId, type: 'FOLDER', deleted: false }).exec();
}

/** The directory created last at or before `time` (no time: ever), deleted or not; null when none was by then. */
export function directoryAtTime(ehrId: string, time: Date | null): Promise<VersionedObjectDoc | null> {
  const created = time === null ? {} : { time_created: trusted({ $lte: time }) };
  return VersionedObject.findOne({ ehr_id: ehrId, type: 'FOLDER', ...created })
    .sort({ time_created: -1 })
    .exec();
}

/** All directories that an EHR ever had at or before `time` (no time: until now), the newest first. */
export function directoriesAtTime(ehrId: string, time: Date | null): Promise<VersionedObjectDoc[]> {
  const created = time === null ? {} : { time_created: trusted({ $lte: time }) };
  return VersionedObject.find({ ehr_id: ehrId, type: 'FOLDER', ...created })
    .sort({ time_created: -1 })
    .exec();
}

/**
 * Ids of the COMPOSITION containers of an EHR whose latest version is no deletion, oldest first, at most `count`: in the order of
 * the index, so that the first of a million cost no sort of all.
 */
export async function liveCompositionIds(ehrId: string, count?: number): Promise<string[]> {
  const live = { ehr_id: ownedBy(ehrId), type: 'COMPOSITION', deleted: false } as const;
  const rows = await VersionedObject.find(live, { _id: 1 })
    .sort({ time_created: 1 })
    .limit(count ?? 0)
    .exec();
  return rows.map((row) => row._id);
}

/** How many COMPOSITIONs of an EHR are no deletion. Joins the caller's transaction. */
export function liveCompositionCount(ehrId: string): Promise<number> {
  return VersionedObject.countDocuments({ ehr_id: ehrId, type: 'COMPOSITION', deleted: false }).exec();
}

/** The live COMPOSITIONs of these templates in some EHRs, by EHR and object id. */
export function liveCompositionsOf(
  ehrIds: readonly string[],
  templateIds: readonly string[],
): Promise<VersionedObjectDoc[]> {
  return VersionedObject.find({ ...ofTemplates(ehrIds, templateIds), deleted: false })
    .sort({ ehr_id: 1, _id: 1 })
    .exec();
}

/** The same with those that are deleted. */
export function compositionsOf(
  ehrIds: readonly string[],
  templateIds: readonly string[],
): Promise<VersionedObjectDoc[]> {
  return VersionedObject.find(ofTemplates(ehrIds, templateIds)).sort({ ehr_id: 1, _id: 1 }).exec();
}

function ofTemplates(ehrIds: readonly string[], templateIds: readonly string[]) {
  return {
    ehr_id: trusted({ $in: [...ehrIds] }),
    type: 'COMPOSITION' as const,
    template_id: trusted({ $in: [...templateIds] }),
  };
}

/** The live persistent compositions of an EHR, oldest first. */
export function livePersistentCompositions(ehrId: string): Promise<VersionedObjectDoc[]> {
  return VersionedObject.find({ ehr_id: ehrId, type: 'COMPOSITION', deleted: false, category: PERSISTENT })
    .sort({ time_created: 1, _id: 1 })
    .exec();
}

/** All containers of an EHR, by id. */
export function containersOfEhr(ehrId: string): Promise<VersionedObjectDoc[]> {
  return VersionedObject.find({ ehr_id: ehrId }).sort({ _id: 1 }).exec();
}

/** Types of which nothing of the source of a merge is left. */
const ENDED_TYPES: readonly RootType[] = ['EHR_STATUS', 'FOLDER'];

/** The containers of other types than COMPOSITION, by id: what a merge ends. */
export function containersToEnd(ehrId: string): Promise<VersionedObjectDoc[]> {
  return VersionedObject.find({ ehr_id: ehrId, type: trusted({ $in: ENDED_TYPES }) })
    .sort({ _id: 1 })
    .exec();
}

/** How many containers of other types than COMPOSITION an EHR has: those that a merge ended stay with its tombstone. */
export function endedContainers(ehrId: string): Promise<number> {
  return VersionedObject.countDocuments({ ehr_id: ehrId, type: trusted({ $ne: 'COMPOSITION' }) }).exec();
}

/** Who owns these containers, by object id; unknown ones are missing. */
export async function ownersOf(versionedObjectUids: readonly string[]): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  for (const part of inSteps(versionedObjectUids)) {
    const found = await VersionedObject.find({ _id: trusted({ $in: part }) }, { ehr_id: 1 }).exec();
    for (const { _id, ehr_id: ehrId } of found) owners.set(_id, ehrId);
  }
  return owners;
}

/** What a container repeats of its latest version. */
export type ContainerHead = Pick<
  VersionedObjectDoc,
  'latest_version' | 'latest_version_uid' | 'latest_time_committed' | 'deleted'
>;

/** The head of a container whose latest version this is. */
export function headOf(version: VersionDoc): ContainerHead {
  return {
    latest_version: version.version,
    latest_version_uid: version._id,
    latest_time_committed: version.time_committed,
    deleted: version.data === null,
  };
}

/** The write that makes a container. */
export function containerInsert(insert: VersionedObjectDoc): InsertWrite<'versioned_objects'> {
  return { collection: COLLECTIONS.versionedObjects, insert };
}

/** The container goes on to a version, if nobody else moved or first tagged it meanwhile. */
export function advanceHead(
  container: VersionedObjectDoc,
  version: VersionDoc,
  composition: Pick<VersionedObjectDoc, 'template_id' | 'category'>,
): UpdateWrite<'versioned_objects'> {
  return {
    collection: COLLECTIONS.versionedObjects,
    filter: {
      _id: container._id,
      ehr_id: container.ehr_id,
      latest_version_uid: container.latest_version_uid,
      has_item_tags: container.has_item_tags ?? null,
    },
    update: { $set: { ...headOf(version), ...composition } },
    matching: 'one',
  };
}

/** Removes one container, or all of an EHR. */
export function containerRemoval(
  ehrId: string,
  versionedObjectUid?: string,
): RemoveWrite<'versioned_objects'> {
  const one = versionedObjectUid === undefined ? {} : { _id: versionedObjectUid };
  return { collection: COLLECTIONS.versionedObjects, remove: { ...one, ehr_id: ehrId } };
}

/** Removes what a merge ended of an EHR. */
export function endedContainersRemoval(ehrId: string): RemoveWrite<'versioned_objects'> {
  return { collection: COLLECTIONS.versionedObjects, remove: { ehr_id: ehrId, type: { $in: ENDED_TYPES } } };
}
