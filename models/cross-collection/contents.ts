import { ownersByTarget, type MovingMerges } from '../../aql/index/moved-owners.js';
import { CdrError } from '../../openehr/base/errors.js';
import { COLLECTIONS } from '../access/layout.js';
import type { PipelineRow, RunnablePlan } from './run-pipeline.js';

/** Bytes that go to a thread at a time. */
const CHUNK_BYTES = 256 * 1024;

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
    isRaw: true,
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

/**
 * The rows of a `contentsPlan` as the database gave them, for `readContents` of a thread: nobody decodes them here.
 * @throws unprocessable for more versions than `most`
 */
export async function storedContents(
  rows: AsyncIterable<readonly Pick<PipelineRow, 'row'>[]>,
  most: number,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let [pending, bytes, count]: [Uint8Array[], number, number] = [[], 0, 0];
  const flush = (): void => {
    // Copies: the buffers of the rows are that of a whole answer of the database.
    chunks.push(concatenated(pending, bytes));
    [pending, bytes] = [[], 0];
  };
  for await (const batch of rows)
    for (const { row } of batch) {
      const [stored] = row as unknown as readonly [Uint8Array];
      count += 1;
      if (count > most) throw tooManyVersions(most);
      pending.push(stored);
      bytes += stored.length;
      if (bytes >= CHUNK_BYTES) flush();
    }
  if (bytes > 0) flush();
  return chunks;
}

function concatenated(parts: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function tooManyVersions(most: number): CdrError {
  return new CdrError(
    'unprocessable',
    `the query needs more than ${most} VERSIONs in memory (AQL_MAX_EVALUATED_VERSIONS): name one EHR, or select primitive values`,
    { budget: { name: 'versions', setting: 'AQL_MAX_EVALUATED_VERSIONS', limit: most, used: null } },
  );
}
