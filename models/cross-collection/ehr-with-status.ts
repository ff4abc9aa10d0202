import { BatchedRead } from '../access/batched-read.js';
import type { EhrDoc } from '../ehr.js';
import { COLLECTIONS } from '../access/layout.js';
import type { VersionedObjectDoc } from '../versioned-object.js';
import { documents } from '../access/documents.js';

/** An EHR in whatever state, and the uid of the latest version of its EHR_STATUS; null: there is none. */
interface EhrWithStatus {
  readonly ehr: EhrDoc | null;
  readonly statusUid: string | null;
}

type StatusHead = Pick<VersionedObjectDoc, 'ehr_id' | 'latest_version_uid'>;

const reads = new BatchedRead<string, EhrWithStatus>(async (ehrIds) => {
  const [ehrs, heads] = await Promise.all([
    documents(COLLECTIONS.ehrs)
      .find<EhrDoc>({ _id: { $in: [...ehrIds] } }, { hint: '_id_' })
      .toArray(),
    documents(COLLECTIONS.versionedObjects)
      .find<StatusHead>(
        { ehr_id: { $in: [...ehrIds] }, type: 'EHR_STATUS' },
        {
          projection: { _id: 0, ehr_id: 1, latest_version_uid: 1 },
        },
      )
      .toArray(),
  ]);
  const byId = new Map(ehrs.map((ehr) => [ehr._id, ehr]));
  const statusUids = new Map(heads.map((head) => [head.ehr_id, head.latest_version_uid]));
  return ehrIds.map((ehrId) => ({
    ehr: byId.get(ehrId) ?? null,
    statusUid: statusUids.get(ehrId) ?? null,
  }));
});

/**
 * What the answer of GET EHR is made of, in the time of one round trip: both are read side by side, joined with other
 * reads of the same moment. A commit may come between the two. Not for use inside a transaction.
 */
export function ehrWithStatusUid(ehrId: string): Promise<EhrWithStatus> {
  return reads.ask(ehrId);
}
