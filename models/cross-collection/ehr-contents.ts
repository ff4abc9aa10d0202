import { COLLECTIONS } from '../layout.js';
import type { EhrDoc } from '../ehr.js';
import { wholeList } from '../access/one-snapshot.js';
import { documents } from '../access/documents.js';
import { ownedBy } from '../merge/job.js';
import { versionOf, type StoredVersion, type VersionDoc } from '../version-text.js';

/** Lists that an EHR may be answered with. */
export interface EhrLists {
  readonly compositions: boolean;
  readonly contributions: boolean;
}

/** What an EHR is answered with. */
export interface EhrContent {
  /** Its latest EHR_STATUS; null: the EHR was merged away meanwhile. */
  readonly status: VersionDoc | null;
  /** Object ids of the COMPOSITIONs whose latest version is no deletion, oldest first and then by id. */
  readonly compositions: readonly string[];
  /** Ids of the CONTRIBUTIONs, oldest first and then by id. */
  readonly contributions: readonly string[];
}

interface Listed {
  readonly _id: string;
  readonly list: 'compositions' | 'contributions';
  readonly time: Date;
}

type Found = { readonly list: 'status'; readonly version: StoredVersion } | Listed;

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
      ? [listed(COLLECTIONS.versionedObjects, live, ['compositions', '$time_created'])]
      : []),
    ...(wanted.contributions
      ? [listed(COLLECTIONS.contributions, owned, ['contributions', '$time_committed'])]
      : []),
  ];
  const found = await documents(COLLECTIONS.versions)
    .aggregate<Found>(pipeline, await wholeList())
    .toArray();
  const [first] = found;
  const idsOf = (name: Listed['list']): string[] =>
    found
      .filter((one): one is Listed => one.list === name)
      .sort(byAgeAndId)
      .map(({ _id }) => _id);
  return {
    status: first?.list === 'status' ? versionOf(first.version) : null,
    compositions: idsOf('compositions'),
    contributions: idsOf('contributions'),
  };
}

function listed(coll: string, match: object, [list, time]: readonly [Listed['list'], string]): object {
  return { $unionWith: { coll, pipeline: [{ $match: match }, { $project: { list, time } }] } };
}

function byAgeAndId(one: Listed, other: Listed): number {
  const age = one.time.getTime() - other.time.getTime();
  return age === 0 ? Number(one._id > other._id) - Number(one._id < other._id) : age;
}
