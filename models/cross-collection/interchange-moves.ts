import type { ClientSession } from 'mongoose';
import { COLLECTIONS } from '../access/layout.js';
import { documentsIn } from '../access/one-snapshot.js';
import type { EhrDoc } from '../ehr.js';
import type { MergeHistoryDoc } from '../merge/history.js';
import type { RemovalDoc } from '../removal.js';

/** What is known of an EHR that was part of merges, unmerges or moves. */
export type MovedEhr = Pick<EhrDoc, '_id' | 'state' | 'merged_into' | 'merge_seq' | 'time_created'>;

const FIELDS = { state: 1, merged_into: 1, merge_seq: 1, time_created: 1 } as const;

/** All EHRs that were ever part of a merge, unmerge or move, by id. */
export async function movedEhrs(session: ClientSession): Promise<Map<string, MovedEhr>> {
  const found = documentsIn<EhrDoc>(session, COLLECTIONS.ehrs).find<MovedEhr>(
    { merge_seq: { $gt: 0 } },
    { session, projection: FIELDS },
  );
  return new Map((await found.toArray()).map((ehr) => [ehr._id, ehr]));
}

/** Between which of these EHRs content went, by merges, unmerges, and moves since a time. */
export async function movesAmong(
  session: ClientSession,
  ehrs: ReadonlyMap<string, MovedEhr>,
  since: Date,
): Promise<(readonly [from: string, to: string])[]> {
  const ids = [...ehrs.keys()];
  const undone = documentsIn<MergeHistoryDoc>(session, COLLECTIONS.mergeHistory).find(
    { source_ehr: { $in: ids }, target_ehr: { $in: ids } },
    { session },
  );
  const moves = documentsIn<RemovalDoc>(session, COLLECTIONS.removals).find(
    { kind: 'owner', time: { $gte: since } },
    { session },
  );
  const edges: (readonly [from: string, to: string])[] = [];
  for (const { _id, merged_into: to } of ehrs.values()) if (to !== undefined) edges.push([_id, to]);
  for await (const { source_ehr: from, target_ehr: to } of undone) edges.push([from, to]);
  for await (const { from, to } of moves) if (from !== undefined && to !== undefined) edges.push([from, to]);
  return edges;
}
