import { inAuditedTransaction } from '../../change/commit/audit-draft.js';
import { holdWritable } from '../../change/commit/ehr-access.js';
import {
  distinctAmong,
  distinctKey,
  putDistinct,
  removeDistinct,
  type DistinctDoc,
} from '../../models/merge/distinct.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { CandidatePage } from './candidates.js';

/** Two EHRs. */
export type EhrPair = readonly [string, string];

/**
 * Keeps that two EHRs are of two persons. Holds both: none is left of one that is erased meanwhile.
 * @throws not-found for an unknown EHR; conflict for one that was merged away; invalid for one EHR twice
 */
export async function sayDistinct(
  pair: EhrPair,
  said: Pick<DistinctDoc, 'reason' | 'said_by'>,
): Promise<DistinctDoc> {
  const [lower = '', higher = ''] = [...pair].sort();
  if (lower === higher) throw new CdrError('invalid', 'one EHR is of one person');
  const distinct: DistinctDoc = {
    _id: distinctKey(pair),
    ehr_id: lower,
    other_ehr: higher,
    ...said,
    said_at: new Date(),
  };
  await inAuditedTransaction(
    async () => {
      for (const ehrId of [lower, higher]) await holdWritable(ehrId);
      await putDistinct(distinct);
    },
    () => ({ ehr_ids: [lower, higher] }),
  );
  return distinct;
}

/** Takes it back. @throws not-found when nobody said it */
export async function takeBackDistinct(pair: EhrPair): Promise<void> {
  await inAuditedTransaction(
    async () => {
      if (!(await removeDistinct(distinctKey(pair))))
        throw new CdrError('not-found', 'nobody said that these two EHRs are of two persons');
    },
    () => ({ ehr_ids: [...pair] }),
  );
}

/** The page without pairs of which somebody said that they are two persons. */
export async function withoutDistinct(page: CandidatePage): Promise<CandidatePage> {
  const keyOf = ({ ehrId, otherEhrId }: CandidatePage['candidates'][number]): string =>
    distinctKey([ehrId, otherEhrId]);
  const distinct = await distinctAmong(page.candidates.map(keyOf));
  return { ...page, candidates: page.candidates.filter((pair) => !distinct.has(keyOf(pair))) };
}
