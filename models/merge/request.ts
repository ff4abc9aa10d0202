import { trusted } from 'mongoose';
import { COLLECTIONS } from '../access/layout.js';
import type { Administrator } from '../waiting-request.js';
import { MOTIVE, type CompositionMerge, type FolderMerge, type MergeOutcome } from './record.js';
import {
  collection,
  date,
  flag,
  listOf,
  oneOf,
  opaque,
  optional,
  text,
  type DocumentOf,
} from '../access/collection.js';
import type { InsertWrite, RemoveWrite } from '../access/write.js';

/** What a key of `resolutions` was given; a list, since template ids hold dots. */
interface StoredChoice {
  readonly name: string;
  readonly word: string;
}

const MERGE_REQUEST = {
  ...MOTIVE,
  /** UUID: of the merge that it becomes. */
  _id: text,
  /** Unique by index: one merge of an EHR waits at a time. */
  source_ehr: text,
  target_ehr: text,
  reversible: flag,
  folder_merge: oneOf<FolderMerge>(),
  composition_merge: oneOf<CompositionMerge>(),
  compositions: listOf(opaque<StoredChoice>()),
  ehr_status: listOf(opaque<StoredChoice>()),
  requested_at: date,
  requester: opaque<Administrator>(),
  /** What it would have done then. */
  outcome: opaque<MergeOutcome>(),
  plan_digest: text,
  /** From this time on it counts as not there; absent: asked for in a release that knew no such time. */
  expires_at: optional(date),
};

/** A merge that waits for another administrator (fields: docs/spec/storage.md#other-collections). */
export type MergeRequestDoc = DocumentOf<typeof MERGE_REQUEST>;

declare module '../access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.mergeRequests]: MergeRequestDoc;
  }
}

const WaitingMerge = collection(COLLECTIONS.mergeRequests, MERGE_REQUEST);

/** The merge with this id that waits, null when none does. Joins the caller's transaction. */
export function waitingMerge(mergeId: string): Promise<MergeRequestDoc | null> {
  return WaitingMerge.findOne({ _id: mergeId }).exec();
}

/** The merge of this EHR into another that waits, null when none does. Joins the caller's transaction. */
export function waitingMergeOf(sourceEhr: string): Promise<MergeRequestDoc | null> {
  return WaitingMerge.findOne({ source_ehr: sourceEhr }).exec();
}

/** Merges that nobody confirmed until this time, in no order. */
export function lapsedMerges(now: Date): Promise<MergeRequestDoc[]> {
  return WaitingMerge.find({ expires_at: trusted({ $lte: now }) }).exec();
}

/** Merges that wait, of this source and into this target as far as they are named, oldest first. */
export function waitingMerges(
  pair: { readonly source: string | null; readonly target: string | null },
  page: { readonly offset: number; readonly fetch: number },
): Promise<MergeRequestDoc[]> {
  const { source, target } = pair;
  return WaitingMerge.find({
    ...(source !== null && { source_ehr: source }),
    ...(target !== null && { target_ehr: target }),
    expires_at: trusted({ $not: { $lte: new Date() } }),
  })
    .sort({ requested_at: 1, _id: 1 })
    .skip(page.offset)
    .limit(page.fetch)
    .exec();
}

/** The merges that wait and name one of these EHRs as source or target, in no order. */
export function waitingMergesOfEhrs(ehrIds: readonly string[]): Promise<MergeRequestDoc[]> {
  if (ehrIds.length === 0) return Promise.resolve([]);
  const named = trusted({ $in: [...new Set(ehrIds)] });
  return WaitingMerge.find({ $or: [{ source_ehr: named }, { target_ehr: named }] }).exec();
}

/** Ids of all merges that wait, with the EHRs they name. */
export function allWaitingMerges(): Promise<Pick<MergeRequestDoc, '_id' | 'source_ehr' | 'target_ehr'>[]> {
  return WaitingMerge.find({}, { source_ehr: 1, target_ehr: 1 }).exec();
}

/** The write that lets a merge wait. */
export function mergeRequestInsert(insert: MergeRequestDoc): InsertWrite<'merge_requests'> {
  return { collection: COLLECTIONS.mergeRequests, insert };
}

/** Removes the merge of this EHR that waits, if one does. */
export function mergeRequestRemoval(sourceEhr: string): RemoveWrite<'merge_requests'> {
  return { collection: COLLECTIONS.mergeRequests, remove: { source_ehr: sourceEhr } };
}

/** Removes the merges that wait and name one of these EHRs. */
export function mergeRequestRemovals(ehrIds: readonly string[]): RemoveWrite<'merge_requests'>[] {
  return (['source_ehr', 'target_ehr'] as const).map((field) => ({
    collection: COLLECTIONS.mergeRequests,
    remove: { [field]: { $in: ehrIds } },
  }));
}
