import { BatchedRead } from '../access/batched-read.js';
import { withAccessNumbers, type WithNumbers } from '../access-numbers.js';
import type { EhrDoc } from '../ehr.js';
import { COLLECTIONS } from '../access/layout.js';
import type { VersionedObjectDoc } from '../versioned-object.js';
import { documents } from '../access/documents.js';

/** An EHR in whatever state, and the uid of the latest version of its EHR_STATUS; null: there is none. */
export interface EhrWithStatus {
  readonly ehr: EhrDoc | null;
  readonly statusUid: string | null;
}

type StatusHead = Pick<VersionedObjectDoc, 'ehr_id' | 'latest_version_uid'>;

const reads = new BatchedRead<string, EhrWithStatus>(async (ehrIds) => {
  const ehrs = documents(COLLECTIONS.ehrs).find<EhrDoc>(among(ehrIds), { hint: '_id_' }).toArray();
  return withStatus(ehrIds, ...(await Promise.all([ehrs, heads(ehrIds)])));
});

const readsWithNumbers = new BatchedRead<string, WithNumbers<EhrWithStatus>>(async (ehrIds) => {
  const ehrs = withAccessNumbers<EhrDoc>(COLLECTIONS.ehrs, among(ehrIds));
  const [{ found, numbers }, statuses] = await Promise.all([ehrs, heads(ehrIds)]);
  return withStatus(ehrIds, found, statuses).map((each) => ({ found: each, numbers }));
});

function among(ehrIds: readonly string[]): object {
  return { _id: { $in: [...ehrIds] } };
}

function heads(ehrIds: readonly string[]): Promise<StatusHead[]> {
  const ofEhrs = { ehr_id: { $in: [...ehrIds] }, type: 'EHR_STATUS' };
  const projection = { _id: 0, ehr_id: 1, latest_version_uid: 1 };
  return documents(COLLECTIONS.versionedObjects).find<StatusHead>(ofEhrs, { projection }).toArray();
}

function withStatus(
  ehrIds: readonly string[],
  ehrs: readonly EhrDoc[],
  statuses: readonly StatusHead[],
): EhrWithStatus[] {
  const byId = new Map(ehrs.map((ehr) => [ehr._id, ehr]));
  const statusUids = new Map(statuses.map((head) => [head.ehr_id, head.latest_version_uid]));
  return ehrIds.map((ehrId) => ({
    ehr: byId.get(ehrId) ?? null,
    statusUid: statusUids.get(ehrId) ?? null,
  }));
}

/**
 * What the answer of GET EHR is made of, in the time of one round trip: both are read side by side, joined with other
 * reads of the same moment. A commit may come between the two. Not for use inside a transaction.
 */
export function ehrWithStatusUid(ehrId: string): Promise<EhrWithStatus> {
  return reads.ask(ehrId);
}

/** The same, and what tells which policies hold: no command more. */
export function ehrWithStatusAndNumbers(ehrId: string): Promise<WithNumbers<EhrWithStatus>> {
  return readsWithNumbers.ask(ehrId);
}
