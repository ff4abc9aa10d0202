import type { ClientSession } from 'mongoose';
import type { EhrDoc } from '../ehr.js';
import { COLLECTIONS } from '../access/layout.js';
import type { MergeMotive, MergePage, MergeRecordDoc } from './record.js';
import { documents } from '../access/documents.js';
import type { InsertWrite, RemoveWrite } from '../access/write.js';

/** How a merge was taken back. */
interface Undoing extends MergeMotive {
  readonly date: Date;
  /** Name of the administrator. */
  readonly committer: string;
  /** CONTRIBUTIONs with the versions that the unmerge made: of the target, of the source. */
  readonly contribution_uids: readonly string[];
  readonly summary: string;
  /** Object ids that stayed in the target as they were; absent: an older release took the merge back. */
  readonly kept?: readonly string[];
  /** VERSIONs of joined COMPOSITIONs that persons had made since, of which the source got the content. */
  readonly taken?: readonly string[];
}

/**
 * The record of a merge that stands no longer (fields: docs/spec/storage.md#other-collections). A collection of its
 * own, since of one source any number of merges may have been taken back while one at most stands.
 */
export interface MergeHistoryDoc extends MergeRecordDoc {
  readonly undone: Undoing;
}

declare module '../access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.mergeHistory]: MergeHistoryDoc;
  }
}

/** Merges that were taken back between an EHR and others, whichever side it was, oldest first. */
export function undoneMergesOf(
  ehrId: string,
  joined: { readonly session?: ClientSession } = {},
): Promise<MergeHistoryDoc[]> {
  return sortedHistory({ $or: [{ source_ehr: ehrId }, { target_ehr: ehrId }] }, joined);
}

/** Merges that were taken back between any of these EHRs and others, oldest first. */
export function undoneMergesAmong(
  ehrIds: readonly string[],
  joined: { readonly session?: ClientSession },
): Promise<MergeHistoryDoc[]> {
  const among = { $in: [...ehrIds] };
  return sortedHistory({ $or: [{ source_ehr: among }, { target_ehr: among }] }, joined);
}

/** Whether CONTRIBUTIONs of its versions may be in other EHRs, or its own list versions that are: a merge or a move took them. */
export async function sharesContributions(
  ehr: Pick<EhrDoc, '_id' | 'shares_contributions'>,
  joined: { readonly session?: ClientSession } = {},
): Promise<boolean> {
  return ehr.shares_contributions === true || (await undoneMergesOf(ehr._id, joined)).length > 0;
}

/** A merge that was taken back, by its id; null when there is none. */
export function undoneMerge(session: ClientSession, mergeId: string): Promise<MergeHistoryDoc | null> {
  return documents<MergeHistoryDoc>(COLLECTIONS.mergeHistory).findOne({ _id: mergeId }, { session });
}

/** Merges that were taken back, of this source and into this target as far as they are named, oldest first. */
export function undoneMerges(pair: {
  readonly source: string | null;
  readonly target: string | null;
  readonly page: MergePage;
}): Promise<MergeHistoryDoc[]> {
  const { source, target, page } = pair;
  const filter = {
    ...(source !== null && { source_ehr: source }),
    ...(target !== null && { target_ehr: target }),
  };
  return sortedHistory(filter, {}, page);
}

function sortedHistory(
  filter: object,
  joined: { readonly session?: ClientSession } = {},
  page: MergePage = { offset: 0, fetch: 0 },
): Promise<MergeHistoryDoc[]> {
  return documents<MergeHistoryDoc>(COLLECTIONS.mergeHistory)
    .find<MergeHistoryDoc>(filter, { ...joined })
    .sort({ merge_date: 1, _id: 1 })
    .skip(page.offset)
    .limit(page.fetch)
    .toArray();
}

/** The write that keeps the record of a merge which was taken back. */
export function mergeHistoryInsert(insert: MergeHistoryDoc): InsertWrite<'merge_history'> {
  return { collection: COLLECTIONS.mergeHistory, insert };
}

/** Removes these records of merges taken back. */
export function mergeHistoryRemoval(ids: readonly string[]): RemoveWrite<'merge_history'> {
  return { collection: COLLECTIONS.mergeHistory, remove: { _id: { $in: ids } } };
}
