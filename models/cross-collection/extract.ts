import type { ClientSession } from 'mongoose';
import type { RootType } from '../../openehr/rm/root-type.js';
import { documents } from '../access/documents.js';
import { inSteps } from '../access/in-steps.js';
import { COLLECTIONS } from '../access/layout.js';
import { ownedBy } from '../access/merge-job.js';
import { listedUids, type ContributionDoc, type ContributionRefs } from '../contribution.js';
import { versionOf, type StoredVersion, type VersionDoc } from '../version-text.js';
import type { VersionedObjectDoc } from '../versioned-object.js';

/** A container as it is when an EXTRACT begins: versions that come later are not in it. */
export type ExtractedObject = Pick<
  VersionedObjectDoc,
  '_id' | 'ehr_id' | 'type' | 'time_created' | 'latest_version' | 'latest_version_uid'
>;

/** Versions read at once: each may have megabytes. */
const AT_ONCE = 20;

/**
 * All objects of one kind of an EHR, in the order of their creation. While a merge moves documents COMPOSITIONs of its source are the
 * target's; its EHR_STATUS and directories ended.
 */
export async function extractedObjects(ehrId: string, type: RootType): Promise<ExtractedObject[]> {
  const fields = { type: 1, time_created: 1, latest_version: 1, latest_version_uid: 1 };
  const owner = type === 'COMPOSITION' ? ownedBy(ehrId) : ehrId;
  const found = await documents<VersionedObjectDoc>(COLLECTIONS.versionedObjects)
    .find<Omit<ExtractedObject, 'ehr_id'>>({ ehr_id: owner, type }, { projection: fields })
    .sort({ time_created: 1, _id: 1 })
    .toArray();
  return found.map((object) => ({ ...object, ehr_id: ehrId }));
}

/**
 * The versions of objects of an EHR, each with its object, object by object in their order, oldest first; the latest ones only where
 * that is wanted. However many there are, few are in memory. An object that went meanwhile has fewer than it says.
 */
export async function* extractedVersions(
  ehrId: string,
  objects: readonly ExtractedObject[],
  which: 'all' | 'latest',
): AsyncGenerator<readonly [ExtractedObject, readonly VersionDoc[]]> {
  let together: ExtractedObject[] = [];
  let versions = 0;
  for (const object of objects) {
    const count = which === 'latest' ? 1 : object.latest_version;
    if (versions + count > AT_ONCE && together.length > 0) {
      yield* smallOnes(ehrId, together, which);
      [together, versions] = [[], 0];
    }
    if (count > AT_ONCE) yield* largeOne(ehrId, object);
    else {
      together.push(object);
      versions += count;
    }
  }
  yield* smallOnes(ehrId, together, which);
}

async function* smallOnes(
  ehrId: string,
  objects: readonly ExtractedObject[],
  which: 'all' | 'latest',
): AsyncGenerator<readonly [ExtractedObject, readonly VersionDoc[]]> {
  if (objects.length === 0) return;
  const among =
    which === 'latest'
      ? { _id: { $in: objects.map((object) => object.latest_version_uid) } }
      : { object_id: { $in: objects.map(({ _id }) => _id) } };
  const found = await documents<StoredVersion>(COLLECTIONS.versions)
    .find<StoredVersion>({ ...among, ehr_id: ownedBy(ehrId) })
    .toArray();
  for (const object of objects) {
    const own = found.filter(
      ({ object_id: id, version }) => id === object._id && version <= object.latest_version,
    );
    yield [object, own.sort((one, other) => one.version - other.version).map(versionOf)];
  }
}

/** Some of its versions after the other: an index has them by time. */
async function* largeOne(
  ehrId: string,
  object: ExtractedObject,
): AsyncGenerator<readonly [ExtractedObject, readonly VersionDoc[]]> {
  const found = documents<StoredVersion>(COLLECTIONS.versions)
    .find<StoredVersion>({ ehr_id: ownedBy(ehrId), object_id: object._id }, { batchSize: AT_ONCE })
    .sort({ time_committed: 1 });
  for await (const version of found)
    if (version.version <= object.latest_version) yield [object, [versionOf(version)]];
}

/** What an import brought into an EHR and is still there. */
export interface Brought {
  readonly contributions: readonly ContributionRefs[];
  readonly brought: readonly Pick<VersionDoc, '_id' | 'object_id' | 'type'>[];
  /** Objects that are in another EHR now. */
  readonly moved: readonly string[];
}

/** What an import brought into an EHR. */
export async function broughtBy(ehrId: string, batch: string, session?: ClientSession): Promise<Brought> {
  const options = session === undefined ? {} : { session };
  const contributions = await documents<ContributionDoc>(COLLECTIONS.contributions)
    .find<ContributionRefs>({ ehr_id: ehrId, batch }, { ...options, projection: { versions: 1 } })
    .toArray();
  const found: (Brought['brought'][number] & Pick<VersionDoc, 'ehr_id'>)[] = [];
  for (const part of inSteps(contributions.flatMap(listedUids)))
    found.push(
      ...(await documents<VersionDoc>(COLLECTIONS.versions)
        .find<(typeof found)[number]>(
          { _id: { $in: part } },
          { ...options, projection: { object_id: 1, type: 1, ehr_id: 1 } },
        )
        .toArray()),
    );
  return {
    contributions,
    brought: found.filter((version) => version.ehr_id === ehrId),
    moved: [...new Set(found.filter((one) => one.ehr_id !== ehrId).map((one) => one.object_id))],
  };
}

/** CONTRIBUTIONs of an EHR that list one of these versions, and are not of an import. */
export async function contributionsAbout(
  session: ClientSession,
  ehrId: string,
  versionUids: readonly string[],
  batch: string,
): Promise<{ readonly _id: string }[]> {
  const found: { readonly _id: string }[] = [];
  for (const part of inSteps(versionUids))
    found.push(
      ...(await documents<ContributionDoc>(COLLECTIONS.contributions)
        .find<{ _id: string }>(
          { ehr_id: ehrId, 'versions.uid': { $in: part }, batch: { $ne: batch } },
          { session, projection: { _id: 1 } },
        )
        .toArray()),
    );
  return found;
}
