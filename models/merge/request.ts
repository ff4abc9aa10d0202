import { model, Schema, trusted } from 'mongoose';
import { COLLECTIONS } from '../layout.js';
import type { Administrator } from '../waiting-request.js';
import type { CompositionMerge, FolderMerge, MergeMotive, MergeOutcome } from './record.js';
import { SCHEMA_OPTIONS } from '../access/schema.js';
import type { InsertWrite, RemoveWrite } from '../access/write.js';

/** What a key of `resolutions` was given; a list, since template ids hold dots. */
interface StoredChoice {
  readonly name: string;
  readonly word: string;
}

/** A merge that waits for another administrator (fields: docs/spec/storage.md#other-collections). */
export interface MergeRequestDoc extends MergeMotive {
  /** UUID: of the merge that it becomes. */
  readonly _id: string;
  /** Unique by index: one merge of an EHR waits at a time. */
  readonly source_ehr: string;
  readonly target_ehr: string;
  readonly reversible: boolean;
  readonly folder_merge: FolderMerge;
  readonly composition_merge: CompositionMerge;
  readonly compositions: readonly StoredChoice[];
  readonly ehr_status: readonly StoredChoice[];
  readonly requested_at: Date;
  readonly requester: Administrator;
  /** What it would have done then. */
  readonly outcome: MergeOutcome;
  readonly plan_digest: string;
  /** From this time on it counts as not there; absent: asked for in a release that knew no such time. */
  readonly expires_at?: Date;
}

declare module '../access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.mergeRequests]: MergeRequestDoc;
  }
}

/** Opaque to mongoose. */
type StoredRequest = Omit<MergeRequestDoc, 'compositions' | 'ehr_status' | 'requester' | 'outcome'> & {
  readonly compositions: object[];
  readonly ehr_status: object[];
  readonly requester: object;
  readonly outcome: object;
};

const OPAQUE = Schema.Types.Mixed;

const WaitingMerge = model(
  'MergeRequest',
  new Schema<StoredRequest>(
    {
      _id: String,
      source_ehr: String,
      target_ehr: String,
      reversible: Boolean,
      folder_merge: String,
      composition_merge: String,
      compositions: [OPAQUE],
      ehr_status: [OPAQUE],
      requested_at: Date,
      requester: OPAQUE,
      outcome: OPAQUE,
      plan_digest: String,
      expires_at: Date,
      reason: String,
      requested_by: String,
    },
    SCHEMA_OPTIONS,
  ),
  COLLECTIONS.mergeRequests,
);

/** The merge with this id that waits, null when none does. Joins the caller's transaction. */
export function waitingMerge(mergeId: string): Promise<MergeRequestDoc | null> {
  return WaitingMerge.findOne({ _id: mergeId }).lean<MergeRequestDoc>().exec();
}

/** The merge of this EHR into another that waits, null when none does. Joins the caller's transaction. */
export function waitingMergeOf(sourceEhr: string): Promise<MergeRequestDoc | null> {
  return WaitingMerge.findOne({ source_ehr: sourceEhr }).lean<MergeRequestDoc>().exec();
}

/** Merges that nobody confirmed until this time, in no order. */
export function lapsedMerges(now: Date): Promise<MergeRequestDoc[]> {
  return WaitingMerge.find({ expires_at: trusted({ $lte: now }) })
    .lean<MergeRequestDoc[]>()
    .exec();
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
    .lean<MergeRequestDoc[]>()
    .exec();
}

/** The merges that wait and name one of these EHRs as source or target, in no order. */
export function waitingMergesOfEhrs(ehrIds: readonly string[]): Promise<MergeRequestDoc[]> {
  if (ehrIds.length === 0) return Promise.resolve([]);
  const named = trusted({ $in: [...new Set(ehrIds)] });
  return WaitingMerge.find({ $or: [{ source_ehr: named }, { target_ehr: named }] })
    .lean<MergeRequestDoc[]>()
    .exec();
}

/** Ids of all merges that wait, with the EHRs they name. */
export function allWaitingMerges(): Promise<Pick<MergeRequestDoc, '_id' | 'source_ehr' | 'target_ehr'>[]> {
  return WaitingMerge.find({}, { source_ehr: 1, target_ehr: 1 })
    .lean<Pick<MergeRequestDoc, '_id' | 'source_ehr' | 'target_ehr'>[]>()
    .exec();
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
