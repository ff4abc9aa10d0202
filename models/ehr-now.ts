import { BatchedRead } from './access/batched-read.js';
import { documents } from './access/documents.js';
import { COLLECTIONS } from './access/layout.js';
import type { EhrDoc } from './ehr.js';

const reads = new BatchedRead<string, EhrDoc | null>(async (ehrIds) => {
  const found = await documents(COLLECTIONS.ehrs)
    .find<EhrDoc>({ _id: { $in: [...ehrIds] } }, { hint: '_id_' })
    .toArray();
  const byId = new Map(found.map((ehr) => [ehr._id, ehr]));
  return ehrIds.map((ehrId) => byId.get(ehrId) ?? null);
});

/** As `ehrById`, without hydration and joined with other reads of the same moment. Not for use inside a transaction. */
export function ehrNow(ehrId: string): Promise<EhrDoc | null> {
  return reads.ask(ehrId);
}
