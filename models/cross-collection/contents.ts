import { ownersByTarget, type MovingMerges } from '../../aql/index/moved-owners.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { EhrDoc } from '../ehr.js';
import { COLLECTIONS } from '../access/layout.js';
import { belongsTo } from '../access/merge-job.js';
import type { VersionDoc } from '../version.js';
import { storedContent, type StoredVersion } from '../version-text.js';
import type { PipelineRow, RunnablePlan } from './run-pipeline.js';

/** EHRs and all their versions, for the evaluation of a query outside the database. */
export interface EhrContents {
  readonly ehrs: readonly EhrDoc[];
  readonly versions: readonly UnreadVersion[];
}

/** A VERSION whose content nobody has read yet. */
type UnreadVersion = Omit<VersionDoc, 'data'> & { readonly content: string | Uint8Array | null };

/** The one cell of a row of `contentsPlan`. */
interface ContentCell {
  readonly ehr?: EhrDoc;
  readonly version?: StoredVersion;
}

/**
 * Instead of the EHRs that a plan finds, each row a list of ids, everything that they hold: found by the same command, so that
 * both are of one moment. At most one version more than `most`. `merges`: those that the plan was made for.
 */
export function contentsPlan(
  { collection, pipeline }: RunnablePlan,
  most: number,
  merges: MovingMerges,
): RunnablePlan {
  const { ehrs, versions } = COLLECTIONS;
  return {
    collection,
    pipeline: [
      ...pipeline,
      { $unwind: '$row' },
      { $match: { row: { $type: 'string' } } },
      { $group: { _id: '$row' } },
      { $lookup: { from: ehrs, localField: '_id', foreignField: '_id', as: 'ehr' } },
      { $unwind: '$ehr' },
      { $match: { 'ehr.state': 'active' } },
      ...setOwners(merges),
      {
        $lookup: {
          ...{ from: versions, foreignField: 'ehr_id', as: 'version' },
          localField: merges.targets.size === 0 ? '_id' : 'owners',
        },
      },
      { $unwind: { path: '$version', preserveNullAndEmptyArrays: true } },
      { $limit: most + 1 },
      { $project: { _id: 0, row: [{ ehr: '$ehr', version: '$version' }], ehrs: ['$_id'] } },
    ],
  };
}

/** All that versions of an EHR may name as their owner. */
function setOwners(merges: MovingMerges): object[] {
  const branches = [...ownersByTarget(merges)].map(([target, owners]) => ({
    case: { $eq: ['$_id', target] },
    then: owners,
  }));
  return branches.length === 0 ? [] : [{ $set: { owners: { $switch: { branches, default: '$_id' } } } }];
}

/** The rows of a `contentsPlan`. @throws unprocessable for more versions than `most` */
export async function readContents(
  rows: AsyncIterable<readonly Pick<PipelineRow, 'row'>[]>,
  most: number,
): Promise<EhrContents> {
  const ehrs = new Map<string, EhrDoc>();
  const versions: UnreadVersion[] = [];
  for await (const batch of rows)
    for (const { row } of batch) {
      // Documents as they are stored, which no cell of an answer is.
      const { ehr, version } = row[0] as unknown as ContentCell;
      if (ehr !== undefined) ehrs.set(ehr._id, ehr);
      if (version !== undefined) versions.push(unread(version));
      if (versions.length > most) throw tooManyVersions(most);
    }
  return { ehrs: [...ehrs.values()], versions };
}

function unread({ encoding, data, ...metadata }: StoredVersion): UnreadVersion {
  return {
    ...metadata,
    ehr_id: belongsTo(metadata.ehr_id),
    content: storedContent({ ...metadata, data, ...(encoding !== undefined && { encoding }) }),
  };
}

function tooManyVersions(most: number): CdrError {
  return new CdrError(
    'unprocessable',
    `the query needs more than ${most} VERSIONs in memory (AQL_MAX_EVALUATED_VERSIONS): name one EHR, or select primitive values`,
    { budget: { name: 'versions', setting: 'AQL_MAX_EVALUATED_VERSIONS', limit: most, used: null } },
  );
}
