import type { ClientSession } from 'mongoose';
import { COLLECTIONS } from '../access/layout.js';
import { documentsIn } from '../access/one-snapshot.js';
import type { AuditDoc } from '../audit.js';
import type { EhrMarkDoc } from '../ehr-mark.js';
import type { MergeHistoryDoc } from '../merge/history.js';
import type { MergeRecordDoc } from '../merge/record.js';

/** Ids read at once. */
const PAGE = 1_000;

/**
 * Ids of all active EHRs, ascending; `since`: of those only to which something was committed from then on, that a merge or its undoing changed, or of which
 * marks, or tags of an EHR_STATUS, which decide who may see it, were changed; with others that are not active any more.
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
  // Merges, marks and tags may commit nothing. Each EHR has a CONTRIBUTION.
  const others = [
    ...(await mergedSince(session, since)),
    ...(await markedSince(session, since)),
    ...(await taggedSince(session, since)),
  ];
  const $or = [{ time_committed: { $gte: since } }, { ehr_id: { $in: others } }];
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

/** EHRs of which a mark was set or lifted: also one that a merge took it to. */
async function markedSince(session: ClientSession, since: Date): Promise<string[]> {
  const $or = [{ 'placed.time': { $gte: since } }, { 'lifted.time': { $gte: since } }];
  const marks = documentsIn<EhrMarkDoc>(session, COLLECTIONS.ehrMarks).find({ $or }, { session });
  const found = new Set<string>();
  for await (const { ehr_id: ehrId, lifted } of marks) {
    found.add(ehrId);
    for (const { ehr_id: from } of lifted) found.add(from);
  }
  return [...found];
}

/** Operations that change tags of an EHR_STATUS, those that policies ask for among them; a commit with tags is a CONTRIBUTION. */
const TAGGING = [
  'ehr_status_tags_update',
  'ehr_status_tags_delete',
  'ehr_status_item_tag_put',
  'ehr_status_item_tag_delete',
];

/** A record is made before its transaction is committed. */
const AUDIT_AHEAD_MS = 60_000;

/** EHRs of whose EHR_STATUS tags were changed: tags themselves have no time, and one that was removed is gone. The audit has each change. */
async function taggedSince(session: ClientSession, since: Date): Promise<string[]> {
  const time = { $gte: new Date(since.getTime() - AUDIT_AHEAD_MS) };
  const records = documentsIn<AuditDoc>(session, COLLECTIONS.audit).find(
    { operation: { $in: TAGGING }, time, status: { $lt: 400 } },
    { session, projection: { ehr_id: 1 } },
  );
  const found = new Set<string>();
  for await (const { ehr_id: ehrId } of records) if (ehrId !== undefined) found.add(ehrId);
  return [...found];
}
