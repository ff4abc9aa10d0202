import { trusted, type ClientSession } from 'mongoose';
import { collapsedToken } from '../openehr/base/text.js';
import { BatchedRead } from './access/batched-read.js';
import { withAccessNumbers, type WithNumbers } from './access-numbers.js';
import { inSteps } from './access/in-steps.js';
import { COLLECTIONS } from './access/layout.js';
import { belongsTo, movingMerges, ownedBy } from './access/merge-job.js';
import type { RootType } from '../openehr/rm/root-type.js';
import { wholeList } from './access/one-snapshot.js';
import { collection } from './access/collection.js';
import {
  STORED_VERSION,
  storedVersion,
  versionAsFound,
  versionOf,
  type StoredVersion,
  type VersionDoc,
} from './version-text.js';
import type { InsertWrite, RemoveWrite, UpdateWrite } from './access/write.js';
import { documents } from './access/documents.js';

export type { OriginalItem, VersionDoc } from './version-text.js';

/** A VERSION without its content. */
export type VersionHead = Omit<VersionDoc, 'data'>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.versions]: StoredVersion;
  }
}

/** Collection `versions`. */
export const Version = collection(COLLECTIONS.versions, STORED_VERSION);

/** A version that is wanted. */
type VersionAddress = Pick<VersionDoc, '_id' | 'ehr_id'>;

/** `ehr_id` is the shard key; the hint spares the planner a choice. */
const reads = new BatchedRead<VersionAddress, VersionDoc | null>(async (addresses) => {
  const versions = await documents(COLLECTIONS.versions)
    .find<StoredVersion>(among(addresses), { hint: '_id_' })
    .toArray();
  return inOrder(addresses, versions);
});

const readsWithNumbers = new BatchedRead<VersionAddress, WithNumbers<VersionDoc | null>>(
  async (addresses) => {
    const { found, numbers } = await withAccessNumbers<StoredVersion>(COLLECTIONS.versions, among(addresses));
    return inOrder(addresses, found).map((version) => ({ found: version, numbers }));
  },
);

function among(addresses: readonly VersionAddress[]): object {
  return {
    _id: { $in: addresses.map(({ _id }) => _id) },
    ehr_id: { $in: [...addresses.map(({ ehr_id: ehrId }) => ehrId), ...movingMerges().targets.keys()] },
  };
}

function inOrder(
  addresses: readonly VersionAddress[],
  found: readonly StoredVersion[],
): (VersionDoc | null)[] {
  const byId = new Map(found.map((version) => [version._id, versionOf(version)]));
  return addresses.map(({ _id }) => byId.get(_id) ?? null);
}

/**
 * One version of an EHR by its OBJECT_VERSION_ID, null when it is another EHR's, another type's or unknown.
 * The hot path of GET: without hydration, and joined with other reads of the same moment. Not for use inside a
 * transaction.
 */
export async function versionById(
  ehrId: string,
  type: RootType,
  versionUid: string,
): Promise<VersionDoc | null> {
  return ifOf(ehrId, type, await reads.ask({ _id: versionUid, ehr_id: ehrId }));
}

/** What `versionById` gives of a version of whatever EHR and type. */
export function ifOf(ehrId: string, type: RootType, version: VersionDoc | null): VersionDoc | null {
  const isOwn = version !== null && belongsTo(version.ehr_id) === ehrId;
  return isOwn && version.type === type ? version : null;
}

/**
 * A version for `ifOf`, and what tells which policies hold, in one command: joined with other reads of the same moment. Not for use inside a
 * transaction.
 */
export function versionWithNumbers(
  ehrId: string,
  versionUid: string,
): Promise<WithNumbers<VersionDoc | null>> {
  return readsWithNumbers.ask({ _id: versionUid, ehr_id: ehrId });
}

/** The latest version of a container, deletions included. RM: latest_version. */
export function latestVersion(
  ehrId: string,
  type: RootType,
  versionedObjectUid: string,
): Promise<VersionDoc | null> {
  return newestVersion({ ehr_id: ownedBy(ehrId), object_id: versionedObjectUid, type });
}

/** The version extant at `time` (inclusive), null before the first. RM: version_at_time. */
export function versionAtTime(
  ehrId: string,
  type: RootType,
  versionedObjectUid: string,
  time: Date,
): Promise<VersionDoc | null> {
  return newestVersion({
    ehr_id: ownedBy(ehrId),
    object_id: versionedObjectUid,
    type,
    time_committed: { $lte: time },
  });
}

async function newestVersion(extant: object): Promise<VersionDoc | null> {
  const newest = await Version.collection.findOne<StoredVersion>(extant, { sort: { time_committed: -1 } });
  return newest === null ? null : versionOf(newest);
}

/** All versions of a container without their content, oldest first, all of one moment. RM: all_versions, for the history. */
export async function versionHeads(ehrId: string, versionedObjectUid: string): Promise<VersionHead[]> {
  const owned = { ehr_id: ownedBy(ehrId), object_id: versionedObjectUid };
  return Version.collection
    .find<VersionHead>(owned, { projection: { data: 0 }, ...(await wholeList()) })
    .sort({ time_committed: 1 })
    .toArray();
}

/** The versions of an EHR with these uids, in no order. */
export async function versionsById(ehrId: string, versionUids: readonly string[]): Promise<VersionDoc[]> {
  const found = await documents(COLLECTIONS.versions)
    .find<StoredVersion>({ _id: { $in: [...versionUids] }, ehr_id: ownedBy(ehrId) })
    .toArray();
  return found.map(versionOf);
}

/** The same without content, where nothing is asked of that. */
export async function versionsWithoutContent(
  ehrId: string,
  versionUids: readonly string[],
): Promise<VersionDoc[]> {
  const found = await documents(COLLECTIONS.versions)
    .find<VersionHead>(
      { _id: { $in: [...versionUids] }, ehr_id: ownedBy(ehrId) },
      { projection: { data: 0 } },
    )
    .toArray();
  return found.map((head) => ({ ...head, data: null }));
}

/** The versions of a CONTRIBUTION in which lenient validation accepted something, in no order. */
export function acceptedFindingsOf({
  ehr_id: ehrId,
  _id: contributionUid,
  versions,
}: ContributionRef): Promise<Pick<VersionDoc, '_id' | 'validation_findings'>[]> {
  const made = {
    _id: { $in: versions.map(({ uid }) => uid) },
    ehr_id: ownedBy(ehrId),
    contribution_uid: contributionUid,
    validation_findings: { $ne: null },
  };
  return documents(COLLECTIONS.versions)
    .find<Pick<VersionDoc, '_id' | 'validation_findings'>>(made, {
      projection: { validation_findings: 1 },
    })
    .toArray();
}

/** A CONTRIBUTION as far as its versions are concerned. */
interface ContributionRef {
  readonly _id: string;
  readonly ehr_id: string;
  readonly versions: readonly { readonly uid: string }[];
}

/** Whether any VERSION, old and deleted ones included, refers to the template that is stored under this id. Joins the caller's transaction. */
export async function isTemplateReferenced(storedId: string): Promise<boolean> {
  const ids = [storedId, collapsedToken(storedId)];
  return (await Version.exists({ template_id: trusted({ $in: ids }) }).exec()) !== null;
}

/** The latest versions of these containers, by object id. */
export async function latestVersions(
  containers: readonly { readonly latest_version_uid: string }[],
): Promise<Map<string, VersionDoc>> {
  const versions = await versionsByUid(containers.map((container) => container.latest_version_uid));
  return new Map(versions.map((version) => [version.object_id, version]));
}

/** A sample of versions, by which the size of those of an EHR is estimated. */
const SAMPLE = 100;

/** About how many bytes a version of an EHR has, 0 without any: the mean of some. Joins the caller's transaction. */
export async function averageVersionBytes(ehrId: string): Promise<number> {
  const [found] = await Version.aggregate<{ bytes: number }>([
    { $match: { ehr_id: ehrId } },
    { $limit: SAMPLE },
    { $group: { _id: null, bytes: { $avg: { $bsonSize: '$$ROOT' } } } },
  ]).exec();
  return found?.bytes ?? 0;
}

/** One version with content, whoever owns it; null when there is none. */
export async function anyVersion(versionUid: string): Promise<VersionDoc | null> {
  const stored = await Version.findOne({ _id: versionUid }).exec();
  return stored === null ? null : versionOf(stored);
}

/** Whether an EHR has a version with this uid. Joins the caller's transaction. */
export async function versionExists(ehrId: string, versionUid: string): Promise<boolean> {
  return (await Version.exists({ _id: versionUid, ehr_id: ownedBy(ehrId) }).exec()) !== null;
}

/** The versions with these uids, whoever owns them, in no order. Joins the caller's transaction. */
export async function versionsByUid(versionUids: readonly string[]): Promise<VersionDoc[]> {
  const found: VersionDoc[] = [];
  for (const part of inSteps(versionUids)) {
    const docs = await Version.find({ _id: trusted({ $in: part }) }).exec();
    found.push(...docs.map(versionOf));
  }
  return found;
}

/** Uid of the first version of a container, whichever system made it; null when there is none. */
export async function firstVersionUid(ehrId: string, versionedObjectUid: string): Promise<string | null> {
  const first = { ehr_id: ehrId, object_id: versionedObjectUid, version: 1 };
  return (await Version.findOne(first, { _id: 1 }).exec())?._id ?? null;
}

/** Versions of one container before a number, oldest first. */
export async function versionsBefore(
  ehrId: string,
  versionedObjectUid: string,
  version: number,
): Promise<VersionDoc[]> {
  const before = {
    ehr_id: ownedBy(ehrId),
    object_id: versionedObjectUid,
    version: trusted({ $lt: version }),
  };
  const found = await Version.find(before).sort({ version: 1 }).exec();
  return found.map(versionOf);
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
    .exec();
  return docs.map((doc) => doc._id);
}

/** ATTESTATIONs of all versions of a container. Joins the caller's transaction. */
export async function attestationCount(ehrId: string, versionedObjectUid: string): Promise<number> {
  const attested = { ehr_id: ehrId, object_id: versionedObjectUid, attestations: trusted({ $exists: true }) };
  const found = await Version.find(attested, { attestations: 1 }).exec();
  return found.reduce((sum, { attestations = [] }) => sum + attestations.length, 0);
}

/** All versions of a container with their content, oldest first. Joins the caller's transaction. */
export async function versionsOfContainer(ehrId: string, versionedObjectUid: string): Promise<VersionDoc[]> {
  const found = await Version.find({ ehr_id: ehrId, object_id: versionedObjectUid })
    .sort({ time_committed: 1 })
    .exec();
  return found.map(versionOf);
}

/** All versions of these containers with their content, oldest first; damaged content is an empty text. */
export async function versionsOfContainers(
  ehrId: string,
  versionedObjectUids: readonly string[],
  session?: ClientSession,
): Promise<VersionDoc[]> {
  const found = await Version.collection
    .find<StoredVersion>(
      { ehr_id: ehrId, object_id: { $in: [...versionedObjectUids] } },
      session === undefined ? {} : { session },
    )
    .sort({ object_id: 1, version: 1 })
    .toArray();
  return found.map(versionAsFound);
}

/** Object ids that the versions of an EHR name. */
export async function versionedObjectUidsOfVersions(ehrId: string): Promise<string[]> {
  const groups = await Version.collection
    .aggregate<{ _id: string }>([{ $match: { ehr_id: ehrId } }, { $group: { _id: '$object_id' } }])
    .toArray();
  return groups.map(({ _id }) => _id);
}

/** Whether an EHR holds more than this many versions; counts no further. */
export async function hasMoreVersions(ehrId: string, limit: number): Promise<boolean> {
  return (await Version.collection.countDocuments({ ehr_id: ehrId }, { limit: limit + 1 })) > limit;
}

/** About how many VERSIONs there are. */
export function versionCount(): Promise<number> {
  return Version.estimatedDocumentCount().exec();
}

/** The write that adds a version. */
export function versionInsert(version: VersionDoc): InsertWrite<'versions'> {
  return { collection: COLLECTIONS.versions, insert: storedVersion(version) };
}

/** Appends ATTESTATIONs to a version. */
export function attestVersion(
  ehrId: string,
  versionUid: string,
  attestations: VersionDoc['attestations'] & {},
): UpdateWrite<'versions'> {
  return {
    collection: COLLECTIONS.versions,
    filter: { _id: versionUid, ehr_id: ehrId },
    update: { $push: { attestations: { $each: attestations } } },
    matching: 'one',
  };
}

/** Removes the versions of these containers; of all of the EHR when none are named. */
export function versionsRemoval(
  ehrId: string,
  versionedObjectUids?: readonly string[],
): RemoveWrite<'versions'> {
  const among = versionedObjectUids === undefined ? {} : { object_id: { $in: versionedObjectUids } };
  return { collection: COLLECTIONS.versions, remove: { ehr_id: ehrId, ...among } };
}

/** Removes versions of an EHR by their uids. */
export function versionsRemovalByUid(ehrId: string, versionUids: readonly string[]): RemoveWrite<'versions'> {
  return { collection: COLLECTIONS.versions, remove: { ehr_id: ehrId, _id: { $in: versionUids } } };
}
