import { model, Schema, trusted, type ClientSession } from 'mongoose';
import { COLLECTIONS } from '../layout.js';
import { SCHEMA_OPTIONS } from '../access/schema.js';
import type { InsertWrite, RemoveWrite, UpdateWrite } from '../access/write.js';

/** How a source directory is treated: it ends, or its latest tree is copied into the target's directory. */
export type FolderMerge = 'BASIC' | 'COPY';

/** How compositions are treated: all move, or matching persistent ones are joined besides. */
export type CompositionMerge = 'BASIC' | 'PERSISTENT';

/** What a merge came to. docs/spec/merge.md#details */
export interface MergeOutcome {
  readonly level: 'BASIC' | 'FOLDER_COPY';
  readonly summary: string;
}

/** Two persistent compositions that became one: object ids of their containers. */
export interface JoinedPair {
  /** Of the source EHR; deleted logically by the merge. */
  readonly source: string;
  /** Of the target EHR; goes on with the later content of both. */
  readonly target: string;
  /** Whose content was chosen; absent: the rule decided, or an older release, which did not record it, made the merge. */
  readonly choice?: 'source' | 'target';
  /** The rule decided. */
  readonly by_rule?: true;
}

/** Persistent compositions of one template of which a merge could not make one. */
interface ApartPair {
  /** Object id of the only one of the source. */
  readonly source: string;
  /** Those of the target. */
  readonly targets: readonly string[];
}

/** What a merge took from the EHR_STATUS of the source. */
interface TakenStatus {
  /** VERSION of the target's EHR_STATUS that has it: made by the merge, or found to have it already. */
  readonly version_uid: string;
  readonly fields: readonly string[];
}

/** Why a merge was made or taken back, and who asked for it, as the administrator wrote it. */
export interface MergeMotive {
  /** At most 500 characters. */
  readonly reason?: string;
  /** At most 200 characters. */
  readonly requested_by?: string;
}

/** How a merge was made final. */
interface MergeFinalising {
  readonly date: Date;
  /** Name of the administrator. */
  readonly committer: string;
  readonly reason: string;
}

/** Who asked for a merge that somebody else confirmed. */
export interface MergeApproval {
  /** Name of the administrator. */
  readonly requester: string;
  readonly requested_at: Date;
}

/** One merge that stands (fields: docs/spec/storage.md#other-collections); an unmerge removes it. */
export interface MergeRecordDoc extends MergeMotive {
  /** UUID. */
  readonly _id: string;
  /** Unique by index: an EHR can be merged away once. */
  readonly source_ehr: string;
  /** The direct target, which may have been merged away since. */
  readonly target_ehr: string;
  readonly merge_date: Date;
  /** false from the beginning, or since it was made final. */
  readonly reversible: boolean;
  readonly finalised?: MergeFinalising;
  readonly folder_merge: FolderMerge;
  readonly composition_merge: CompositionMerge;
  readonly outcome: MergeOutcome;
  /** CONTRIBUTION with the versions that the merge made; absent when it made none. */
  readonly contribution_uid?: string;
  /** Version that the merge made of the target's directory. */
  readonly directory_version_uid?: string;
  /** uid of the FOLDER that was put into the directory, or object id of the directory that was made. */
  readonly copied_folder_uid?: string;
  /** Name of its original, as JSON text. */
  readonly copied_folder_name?: string;
  /** Absent: nothing, or an older release made the merge. */
  readonly status_taken?: TakenStatus;
  /** Absent: none, or an older release made the merge. */
  readonly apart?: readonly ApartPair[];
  readonly joined: readonly JoinedPair[];
  /** true: it was made in steps, and is taken back so. */
  readonly in_steps?: boolean;
  /** Name of the administrator. */
  readonly committer: string;
  /** Absent: nobody else had to confirm it. */
  readonly approval?: MergeApproval;
}

declare module '../access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.mergeRecords]: MergeRecordDoc;
  }
}

const pairSchema = new Schema<JoinedPair>(
  { source: String, target: String, choice: String },
  { _id: false, id: false },
);
const apartSchema = new Schema<ApartPair>({ source: String, targets: [String] }, { _id: false, id: false });
const takenSchema = new Schema<TakenStatus>(
  { version_uid: String, fields: [String] },
  { _id: false, id: false },
);
const outcomeSchema = new Schema<MergeOutcome>({ level: String, summary: String }, { _id: false, id: false });

const approvalSchema = new Schema<MergeApproval>(
  { requester: String, requested_at: Date },
  { _id: false, id: false },
);

const mergeRecordSchema = new Schema<MergeRecordDoc>(
  {
    _id: String,
    source_ehr: String,
    target_ehr: String,
    merge_date: Date,
    reversible: Boolean,
    finalised: new Schema<MergeFinalising>(
      { date: Date, committer: String, reason: String },
      { _id: false, id: false },
    ),
    folder_merge: String,
    composition_merge: String,
    outcome: outcomeSchema,
    contribution_uid: String,
    directory_version_uid: String,
    copied_folder_uid: String,
    copied_folder_name: String,
    status_taken: takenSchema,
    apart: [apartSchema],
    joined: [pairSchema],
    in_steps: Boolean,
    committer: String,
    reason: String,
    requested_by: String,
    approval: approvalSchema,
  },
  SCHEMA_OPTIONS,
);

/** Collection `merge_records`. */
const MergeRecord = model('MergeRecord', mergeRecordSchema, COLLECTIONS.mergeRecords);

/** The merge that dissolved this EHR, null when it was not merged away. */
export function mergeOfSource(sourceEhr: string): Promise<MergeRecordDoc | null> {
  return MergeRecord.findOne({ source_ehr: sourceEhr }).lean<MergeRecordDoc>().exec();
}

/** The merge with this id that stands, null when there is none. */
export function mergeById(mergeId: string): Promise<MergeRecordDoc | null> {
  return MergeRecord.findOne({ _id: mergeId }).lean<MergeRecordDoc>().exec();
}

/** Reversible merges made before a time, oldest first, at most `count`. */
export function mergesBefore(time: Date, count: number): Promise<MergeRecordDoc[]> {
  return MergeRecord.find({ reversible: true, merge_date: trusted({ $lt: time }) })
    .sort({ merge_date: 1, _id: 1 })
    .limit(count)
    .lean<MergeRecordDoc[]>()
    .exec();
}

/** The write that makes a merge final; matches nothing when it is. */
export function mergeFinalising(mergeId: string, finalised: MergeFinalising): UpdateWrite<'merge_records'> {
  return {
    collection: COLLECTIONS.mergeRecords,
    filter: { _id: mergeId, reversible: true },
    update: { $set: { reversible: false, finalised } },
    matching: 'one',
  };
}

/** The direct merge of one EHR into another, null when there is none. */
export function mergeBetween(sourceEhr: string, targetEhr: string): Promise<MergeRecordDoc | null> {
  return MergeRecord.findOne({ source_ehr: sourceEhr, target_ehr: targetEhr }).lean<MergeRecordDoc>().exec();
}

/** The merges directly into one of these EHRs, oldest first. */
export function mergesInto(targetEhrs: readonly string[]): Promise<MergeRecordDoc[]> {
  return MergeRecord.find({ target_ehr: trusted({ $in: [...targetEhrs] }) })
    .sort({ merge_date: 1, _id: 1 })
    .lean<MergeRecordDoc[]>()
    .exec();
}

/** The merges of these EHRs into others, in no order. */
export function mergesOfSources(sources: readonly string[]): Promise<MergeRecordDoc[]> {
  return MergeRecord.find({ source_ehr: trusted({ $in: [...sources] }) })
    .lean<MergeRecordDoc[]>()
    .exec();
}

/** A part of a list. */
export interface MergePage {
  readonly offset: number;
  /** 0: all that follow. */
  readonly fetch: number;
}

/** All merges that stand, or a page of them, oldest first. */
export function allMerges(page: MergePage = { offset: 0, fetch: 0 }): Promise<MergeRecordDoc[]> {
  return MergeRecord.find()
    .sort({ merge_date: 1, _id: 1 })
    .skip(page.offset)
    .limit(page.fetch)
    .lean<MergeRecordDoc[]>()
    .exec();
}

/**
 * Ids of the merges of these EHRs into others. A native call does not join a transaction by itself: inside one the
 * session is given.
 */
export async function mergeIdsOfSources(
  sources: readonly string[],
  joined: { readonly session?: ClientSession },
): Promise<string[]> {
  const found = MergeRecord.collection.find(
    { source_ehr: { $in: [...sources] } },
    { projection: { _id: 1 }, ...joined },
  );
  return (await found.toArray()).map((doc) => String(doc._id));
}

/** The write that adds the record of a merge. */
export function mergeRecordInsert(insert: MergeRecordDoc): InsertWrite<'merge_records'> {
  return { collection: COLLECTIONS.mergeRecords, insert };
}

/** Removes the record of one merge. */
export function mergeRecordRemoval(mergeId: string): RemoveWrite<'merge_records'> {
  return { collection: COLLECTIONS.mergeRecords, remove: { _id: mergeId } };
}

/** Removes the records of the merges of these EHRs into others. */
export function mergeRecordRemovalOfSources(sources: readonly string[]): RemoveWrite<'merge_records'> {
  return { collection: COLLECTIONS.mergeRecords, remove: { source_ehr: { $in: sources } } };
}
