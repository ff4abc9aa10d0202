import { trusted, type ClientSession } from 'mongoose';
import { COLLECTIONS } from '../access/layout.js';
import {
  collection,
  date,
  flag,
  listOf,
  mark,
  nested,
  oneOf,
  optional,
  text,
  type DocumentOf,
} from '../access/collection.js';
import type { InsertWrite, RemoveWrite, UpdateWrite } from '../access/write.js';

/** How a source directory is treated: it ends, or its latest tree is copied into the target's directory. */
export type FolderMerge = 'BASIC' | 'COPY';

/** How compositions are treated: all move, or matching persistent ones are joined besides. */
export type CompositionMerge = 'BASIC' | 'PERSISTENT';

const OUTCOME = {
  level: oneOf<'BASIC' | 'FOLDER_COPY'>(),
  summary: text,
};

/** What a merge came to. docs/spec/merge.md#details */
export type MergeOutcome = DocumentOf<typeof OUTCOME>;

const JOINED_PAIR = {
  /** Of the source EHR; deleted logically by the merge. */
  source: text,
  /** Of the target EHR; goes on with the later content of both. */
  target: text,
  /** Whose content was chosen; absent: the rule decided, or an older release, which did not record it, made the merge. */
  choice: optional(oneOf<'source' | 'target'>()),
  /** The rule decided. */
  by_rule: optional(mark),
};

/** Two persistent compositions that became one: object ids of their containers. */
export type JoinedPair = DocumentOf<typeof JOINED_PAIR>;

/** Persistent compositions of one template of which a merge could not make one. */
const APART_PAIR = {
  /** Object id of the only one of the source. */
  source: text,
  /** Those of the target. */
  targets: listOf(text),
};

/** What a merge took from the EHR_STATUS of the source. */
const TAKEN_STATUS = {
  /** VERSION of the target's EHR_STATUS that has it: made by the merge, or found to have it already. */
  version_uid: text,
  fields: listOf(text),
};

/** Why a merge was made or taken back, and who asked for it, as the administrator wrote it. */
export const MOTIVE = {
  /** At most 500 characters. */
  reason: optional(text),
  /** At most 200 characters. */
  requested_by: optional(text),
};

/** Why a merge was made or taken back, and who asked for it, as the administrator wrote it. */
export type MergeMotive = DocumentOf<typeof MOTIVE>;

const FINALISING = {
  date: date,
  /** Name of the administrator. */
  committer: text,
  reason: text,
};

/** How a merge was made final. */
type MergeFinalising = DocumentOf<typeof FINALISING>;

const APPROVAL = {
  /** Name of the administrator. */
  requester: text,
  requested_at: date,
};

/** Who asked for a merge that somebody else confirmed. */
export type MergeApproval = DocumentOf<typeof APPROVAL>;

const MERGE_RECORD = {
  ...MOTIVE,
  /** UUID. */
  _id: text,
  /** Unique by index: an EHR can be merged away once. */
  source_ehr: text,
  /** The direct target, which may have been merged away since. */
  target_ehr: text,
  merge_date: date,
  /** false from the beginning, or since it was made final. */
  reversible: flag,
  finalised: optional(nested(FINALISING)),
  folder_merge: oneOf<FolderMerge>(),
  composition_merge: oneOf<CompositionMerge>(),
  outcome: nested(OUTCOME),
  /** CONTRIBUTION with the versions that the merge made; absent when it made none. */
  contribution_uid: optional(text),
  /** Version that the merge made of the target's directory. */
  directory_version_uid: optional(text),
  /** uid of the FOLDER that was put into the directory, or object id of the directory that was made. */
  copied_folder_uid: optional(text),
  /** Name of its original, as JSON text. */
  copied_folder_name: optional(text),
  /** Absent: nothing, or an older release made the merge. */
  status_taken: optional(nested(TAKEN_STATUS)),
  /** Absent: none, or an older release made the merge. */
  apart: optional(listOf(nested(APART_PAIR))),
  joined: listOf(nested(JOINED_PAIR)),
  /** Object ids of what it brought and a person moved on since, one by one, to another EHR: wherever that is now, it is not this merge's any more. */
  moved_on: optional(listOf(text)),
  /** true: it was made in steps, and is taken back so. */
  in_steps: optional(flag),
  /** Name of the administrator. */
  committer: text,
  /** Absent: nobody else had to confirm it. */
  approval: optional(nested(APPROVAL)),
};

/** One merge that stands (fields: docs/spec/storage.md#other-collections); an unmerge removes it. */
export type MergeRecordDoc = DocumentOf<typeof MERGE_RECORD>;

declare module '../access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.mergeRecords]: MergeRecordDoc;
  }
}

/** Collection `merge_records`. */
const MergeRecord = collection(COLLECTIONS.mergeRecords, MERGE_RECORD);

/** The merge that dissolved this EHR, null when it was not merged away. */
export function mergeOfSource(sourceEhr: string): Promise<MergeRecordDoc | null> {
  return MergeRecord.findOne({ source_ehr: sourceEhr }).exec();
}

/** The merge with this id that stands, null when there is none. */
export function mergeById(mergeId: string): Promise<MergeRecordDoc | null> {
  return MergeRecord.findOne({ _id: mergeId }).exec();
}

/** Reversible merges made before a time, oldest first, at most `count`. */
export function mergesBefore(time: Date, count: number): Promise<MergeRecordDoc[]> {
  return MergeRecord.find({ reversible: true, merge_date: trusted({ $lt: time }) })
    .sort({ merge_date: 1, _id: 1 })
    .limit(count)
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

/** The write that notes that a person moved on what a merge had brought, in the transaction that read its record. */
export function movedOnNote(
  { _id, moved_on: before = [] }: MergeRecordDoc,
  versionedObjectUid: string,
): UpdateWrite<'merge_records'> {
  return {
    collection: COLLECTIONS.mergeRecords,
    filter: { _id },
    update: { $set: { moved_on: [...new Set([...before, versionedObjectUid])] } },
    matching: 'one',
  };
}

/** The direct merge of one EHR into another, null when there is none. */
export function mergeBetween(sourceEhr: string, targetEhr: string): Promise<MergeRecordDoc | null> {
  return MergeRecord.findOne({ source_ehr: sourceEhr, target_ehr: targetEhr }).exec();
}

/** The merges directly into one of these EHRs, oldest first. */
export function mergesInto(targetEhrs: readonly string[]): Promise<MergeRecordDoc[]> {
  return MergeRecord.find({ target_ehr: trusted({ $in: [...targetEhrs] }) })
    .sort({ merge_date: 1, _id: 1 })
    .exec();
}

/** The merges of these EHRs into others, in no order. */
export function mergesOfSources(sources: readonly string[]): Promise<MergeRecordDoc[]> {
  return MergeRecord.find({ source_ehr: trusted({ $in: [...sources] }) }).exec();
}

/** A part of a list. */
export interface MergePage {
  readonly offset: number;
  /** 0: all that follow. */
  readonly fetch: number;
}

/** All merges that stand, or a page of them, oldest first. */
export function allMerges(page: MergePage = { offset: 0, fetch: 0 }): Promise<MergeRecordDoc[]> {
  return MergeRecord.find().sort({ merge_date: 1, _id: 1 }).skip(page.offset).limit(page.fetch).exec();
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
  return (await found.toArray()).map((doc) => doc._id);
}

/** What merges of these EHRs into others joined. Joins the caller's transaction. */
export async function joinedPairsOf(sources: readonly string[]): Promise<JoinedPair[]> {
  const found = await MergeRecord.find({ source_ehr: trusted({ $in: sources }) }, { joined: 1 }).exec();
  return found.flatMap(({ joined }) => joined);
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
