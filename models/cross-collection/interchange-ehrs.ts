import type { ClientSession } from 'mongoose';
import { COLLECTIONS } from '../access/layout.js';
import { documentsIn } from '../access/one-snapshot.js';
import type { MergeHistoryDoc } from '../merge/history.js';
import type { MergeRecordDoc } from '../merge/record.js';

/** Ids read at once. */
const PAGE = 1_000;

/**
 * Ids of all active EHRs, ascending; `since`: of those only to which something was committed from then on, or that a merge or its undoing changed, with
 * others that are not active any more.
 */
export async function* exportedEhrIds(session: ClientSession, since: Date | null): AsyncGenerator<string> {
  if (since !== null) {
    yield* changedEhrIds(session, since);
    return;
  }
  for (let last: string | undefined = ''; last !== undefined;) {
    const page: { readonly _id: string }[] = await documentsIn(session, COLLECTIONS.ehrs)
      .find<{ _id: string }>({ _id: { $gt: last }, state: 'active' }, { session, projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray();
    for (const { _id } of page) yield _id;
    last = page.at(-1)?._id;
  }
}

async function* changedEhrIds(session: ClientSession, since: Date): AsyncGenerator<string> {
  // A merge may commit nothing. Each EHR has a CONTRIBUTION.
  const $or = [{ time_committed: { $gte: since } }, { ehr_id: { $in: await mergedSince(session, since) } }];
  const changed = documentsIn(session, COLLECTIONS.contributions).aggregate<{ _id: string }>(
    [{ $match: { $or } }, { $group: { _id: '$ehr_id' } }, { $sort: { _id: 1 } }],
    { session, allowDiskUse: true },
  );
  for await (const { _id } of changed) yield _id;
}

/** EHRs that got something by a merge, or by one that was taken back. */
async function mergedSince(session: ClientSession, since: Date): Promise<string[]> {
  const merged = documentsIn<MergeRecordDoc>(session, COLLECTIONS.mergeRecords).find(
    { merge_date: { $gte: since } },
    { session },
  );
  const undone = documentsIn<MergeHistoryDoc>(session, COLLECTIONS.mergeHistory).find(
    { 'undone.date': { $gte: since } },
    { session },
  );
  const found = new Set<string>();
  for await (const { target_ehr: target } of merged) found.add(target);
  for await (const { source_ehr: source, target_ehr: target } of undone) found.add(source).add(target);
  return [...found];
}
