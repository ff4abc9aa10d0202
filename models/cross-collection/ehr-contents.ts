import { COLLECTIONS } from '../access/layout.js';
import type { EhrDoc } from '../ehr.js';
import { wholeList } from '../access/one-snapshot.js';
import { documents } from '../access/documents.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import type { VersionedObjectDoc } from '../versioned-object.js';
import { ownedBy } from '../access/merge-job.js';
import { versionOf, type StoredVersion, type VersionDoc } from '../version-text.js';

/** Lists that an EHR may be answered with. */
export interface EhrLists {
  readonly compositions: boolean;
  readonly contributions: boolean;
  readonly versions: boolean;
}

/** A version as a list names it. */
interface ListedVersion {
  readonly uid: string;
  readonly type: RootType;
}

/** What an EHR is answered with. */
export interface EhrContent {
  /** Its latest EHR_STATUS; null: the EHR was merged away meanwhile. */
  readonly status: VersionDoc | null;
  /** Object ids of the COMPOSITIONs whose latest version is no deletion, oldest first and then by id. */
  readonly compositions: readonly string[];
  /** Ids of the CONTRIBUTIONs, oldest first and then by id. */
  readonly contributions: readonly string[];
  /** The latest versions of EHR_STATUS, directory and COMPOSITIONs that are no deletions, in the order of these. */
  readonly versions: readonly ListedVersion[];
}

interface Listed {
  readonly _id: string;
  readonly list: 'compositions' | 'contributions' | 'versions';
  readonly time: Date;
}

type ListedObject = Listed & Pick<VersionedObjectDoc, 'ehr_id' | 'type' | 'latest_version_uid'>;

type Found = { readonly list: 'status'; readonly version: StoredVersion } | Listed | ListedObject;

/** The EHR_STATUS of an EHR and the lists that are wanted: in one command, all of one moment. */
export async function ehrContent(ehr: EhrDoc, wanted: EhrLists): Promise<EhrContent> {
  const owned = { ehr_id: ownedBy(ehr._id) };
  const live = { ...owned, type: 'COMPOSITION', deleted: false };
  const pipeline = [
    { $match: { ehr_id: ehr._id, object_id: ehr.ehr_status_id, type: 'EHR_STATUS' } },
    { $sort: { time_committed: -1 } },
    { $limit: 1 },
    { $project: { _id: 0, list: 'status', version: '$$ROOT' } },
    ...(wanted.compositions
      ? [listStage(COLLECTIONS.versionedObjects, live, ['compositions', '$time_created'])]
      : []),
    ...(wanted.contributions
      ? [listStage(COLLECTIONS.contributions, owned, ['contributions', '$time_committed'])]
      : []),
    ...(wanted.versions
      ? [listStage(COLLECTIONS.versionedObjects, { ...owned, deleted: false }, ['versions', '$time_created'])]
      : []),
  ];
  const found = await documents(COLLECTIONS.versions)
    .aggregate<Found>(pipeline, await wholeList())
    .toArray();
  const [first] = found;
  const listOf = (name: Listed['list']): Listed[] =>
    found.filter((one): one is Listed => one.list === name).sort(byAgeAndId);
  const idsOf = (name: Listed['list']): string[] => listOf(name).map(({ _id }) => _id);
  return {
    status: first?.list === 'status' ? versionOf(first.version) : null,
    compositions: idsOf('compositions'),
    contributions: idsOf('contributions'),
    versions: (listOf('versions') as ListedObject[])
      .filter((object) => object.type === 'COMPOSITION' || isOwn(object, ehr))
      .map(({ type, latest_version_uid: uid }) => ({ type, uid })),
  };
}

/** While a merge moves documents those of its source are the target's, but for what ended with the source: docs/spec/merge.md#what-happens-to-the-data */
function isOwn({ _id, ehr_id: ehrId, type }: ListedObject, ehr: EhrDoc): boolean {
  return ehrId === ehr._id && (type !== 'EHR_STATUS' || _id === ehr.ehr_status_id);
}

const OF_VERSIONS = { ehr_id: 1, type: 1, latest_version_uid: 1 };

function listStage(coll: string, match: object, [list, time]: readonly [Listed['list'], string]): object {
  return {
    $unionWith: { coll, pipeline: [{ $match: match }, { $project: { list, time, ...OF_VERSIONS } }] },
  };
}

function byAgeAndId(one: Listed, other: Listed): number {
  const age = one.time.getTime() - other.time.getTime();
  return age === 0 ? Number(one._id > other._id) - Number(one._id < other._id) : age;
}
