import { trusted } from 'mongoose';
import { IDENTITY, type Identity } from './identity.js';
import { COLLECTIONS } from './access/layout.js';
import {
  collection,
  date,
  flag,
  listOf,
  mark,
  nested,
  number,
  oneOf,
  optional,
  text,
  type DocumentOf,
} from './access/collection.js';
import type { InsertWrite, RemoveWrite, UpdateWrite } from './access/write.js';

/** Whether an EHR lives, was dissolved into another one (a tombstone), or is being deleted physically. */
type EhrState = 'active' | 'merged' | 'deleting';

const SUBJECT = {
  namespace: text,
  id: text,
};

/** Identity of the patient: `EHR_STATUS.subject.external_ref` `namespace` and `id.value`. */
export type Subject = DocumentOf<typeof SUBJECT>;

const EHR = {
  /** ehr_id, UUIDs in lower case. */
  _id: text,
  system_id: text,
  time_created: date,
  state: oneOf<EhrState>(),
  /** Raised by every content or tag write: two transactions on one EHR never pass each other unseen. */
  write_seq: number,
  /** Raised by every merge and unmerge that moves something from or to this EHR; absent: none ever did. */
  merge_seq: optional(number),
  /** Raised by every change of its marks: a write that was judged before that is judged anew. Absent: it never had any. */
  marks_seq: optional(number),
  is_queryable: flag,
  is_modifiable: flag,
  subject: optional(nested(SUBJECT)),
  /** Of the latest EHR_STATUS of an active EHR; absent: an older release wrote it. */
  identities: optional(listOf(nested(IDENTITY))),
  /** Of a merged EHR: the subject that the EHR it ended in took over. */
  released_subject: optional(nested(SUBJECT)),
  /** Container of the EHR_STATUS. */
  ehr_status_id: text,
  /** Container of the live directory. */
  directory_id: optional(text),
  /** Direct target of the merge that dissolved this EHR. */
  merged_into: optional(text),
  merge_id: optional(text),
  /**
   * Id of the merge that is made or taken back in steps and that this EHR takes part in: nothing else may be written to it.
   * docs/spec/merge.md#in-steps
   */
  merging: optional(text),
  /** true: a COMPOSITION came from or went to another EHR without all of its CONTRIBUTIONs. */
  shares_contributions: optional(mark),
  /** true: it was restored while another EHR had the subject that its EHR_STATUS names, which stays that one's. */
  subject_dropped: optional(mark),
};

/** One EHR id (fields: docs/spec/storage.md#ehrs). Reads and AQL see state `active` only. */
export type EhrDoc = DocumentOf<typeof EHR>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.ehrs]: EhrDoc;
  }
}

/** Collection `ehrs`, for the models that read and write it. */
export const Ehr = collection(COLLECTIONS.ehrs, EHR);

/** The document of an EHR id in whatever state, null when the id was never used. */
export function ehrById(ehrId: string): Promise<EhrDoc | null> {
  return Ehr.findOne({ _id: ehrId }).exec();
}

/** Those of the ids that name an EHR, in whatever state. */
export async function knownEhrIds(ehrIds: readonly string[]): Promise<Set<string>> {
  const found = await Ehr.find({ _id: trusted({ $in: ehrIds }) }, { _id: 1 }).exec();
  return new Set(found.map(({ _id: ehrId }) => ehrId));
}

/** The EHR (or tombstone) that holds a subject; unique by index. */
export function ehrBySubject(subject: Subject): Promise<EhrDoc | null> {
  const holder = { 'subject.namespace': subject.namespace, 'subject.id': subject.id };
  return Ehr.findOne(holder).exec();
}

/** The EHR at the end of the merges that began with this one; itself when it was never merged away. */
export async function finalEhrId(ehr: EhrDoc): Promise<string> {
  let last = ehr;
  while (last.merged_into !== undefined) {
    const next = await ehrById(last.merged_into);
    if (next === null) return last.merged_into;
    last = next;
  }
  return last._id;
}

/**
 * Locks an active EHR for the caller's transaction by raising `write_seq`, as `holdEhr` does for a commit. Null when
 * the id is unknown, merged away, being merged in steps or being deleted.
 */
export function holdActive(ehrId: string): Promise<EhrDoc | null> {
  return Ehr.findOneAndUpdate(
    { _id: ehrId, state: 'active', merging: null },
    { $inc: { write_seq: 1 } },
    { returnDocument: 'after' },
  ).exec();
}

/**
 * As `holdActive`, or of a tombstone, for a transaction in which content changes its owner: `merge_seq` informs reads of
 * several steps. Null when the EHR is in another state.
 */
export function holdForMove(ehrId: string, state: 'active' | 'merged'): Promise<EhrDoc | null> {
  return Ehr.findOneAndUpdate(
    { _id: ehrId, state, merging: null },
    { $inc: { write_seq: 1, merge_seq: 1 } },
    { returnDocument: 'after' },
  ).exec();
}

/** The EHRs after an id, whatever their state, ascending, at most `count`. */
export function ehrsAfter(ehrId: string, count: number): Promise<EhrDoc[]> {
  return Ehr.find({ _id: trusted({ $gt: ehrId }) })
    .sort({ _id: 1 })
    .limit(count)
    .exec();
}

/** Ids of the next active EHRs in ascending order, at most `count`. */
export async function ehrIdsAfter(ehrId: string, count: number): Promise<string[]> {
  const docs = await Ehr.find({ _id: trusted({ $gt: ehrId }), state: 'active' }, { _id: 1 })
    .sort({ _id: 1 })
    .limit(count)
    .exec();
  return docs.map((doc) => doc._id);
}

/** How many active EHRs there are, for a progress display; `upTo`: those that a walk by ids has done behind this one. */
export function activeEhrCount(upTo?: string): Promise<number> {
  const walked = upTo === undefined ? {} : { _id: trusted({ $lte: upTo }) };
  return Ehr.countDocuments({ ...walked, state: 'active' }).exec();
}

/** About how many EHRs there are, whatever their state. */
export function ehrCount(): Promise<number> {
  return Ehr.estimatedDocumentCount().exec();
}

/** Ids of EHRs whose physical deletion has begun. */
export async function ehrsBeingErased(): Promise<string[]> {
  const docs = await Ehr.find({ state: 'deleting' }, { _id: 1 }).exec();
  return docs.map((doc) => doc._id);
}

/** EHR ids whose merges, directly or through others, ended in this one. */
export async function sourcesEndingIn(ehrId: string): Promise<string[]> {
  const found: string[] = [];
  for (let targets = [ehrId]; targets.length > 0;) {
    const docs = await Ehr.find({ merged_into: trusted({ $in: targets }) }, { _id: 1 }).exec();
    targets = docs.map((doc) => doc._id);
    found.push(...targets);
  }
  return found;
}

/** The EHRs that had been merged into this one, directly or through others, with the subject each gave up since. */
export async function releasedSubjects(
  ehrId: string,
): Promise<{ readonly ehrId: string; readonly subject: Subject | null }[]> {
  const docs = await Ehr.find(
    { _id: trusted({ $in: await sourcesEndingIn(ehrId) }) },
    { _id: 1, released_subject: 1 },
  ).exec();
  return docs.map((doc) => ({ ehrId: doc._id, subject: doc.released_subject ?? null }));
}

/** EHRs that have their subject in common with others; a list for each such subject. */
export function sharedSubjects(): Promise<{ readonly ehrIds: readonly string[] }[]> {
  return Ehr.collection
    .aggregate<{ ehrIds: string[] }>(
      [
        { $match: { 'subject.id': { $exists: true } } },
        { $group: { _id: '$subject', ehrIds: { $push: '$_id' } } },
        { $match: { 'ehrIds.1': { $exists: true } } },
        { $project: { _id: 0, ehrIds: 1 } },
      ],
      { allowDiskUse: true },
    )
    .toArray();
}

/** The write that makes an EHR. */
export function ehrInsert(insert: EhrDoc): InsertWrite<'ehrs'> {
  return { collection: COLLECTIONS.ehrs, insert };
}

/** What a commit was planned on: it matches only an active EHR that is so. */
export interface ExpectedEhr {
  readonly ehrId: string;
  readonly isQueryable: boolean;
  /** true: content is written, which needs `is_modifiable`. */
  readonly needsModifiable: boolean;
  /** What who may write was judged by; absent: nobody judged. */
  readonly judged?: JudgedState | undefined;
}

/** Numbers of an EHR that another merge, unmerge or change of its marks changes; null: there was none. */
export interface JudgedState {
  readonly merge_seq: number | null;
  readonly marks_seq: number | null;
}

/** What a commit makes of its EHR; what is undefined stays as it is. */
export interface EhrChange {
  /** From a new EHR_STATUS. */
  readonly status?:
    | {
        readonly isQueryable: boolean;
        readonly isModifiable: boolean;
        readonly subject: Subject | null;
        readonly identities: readonly Identity[];
      }
    | undefined;
  /** null: there is no live directory any more. */
  readonly directoryId?: string | null | undefined;
}

/**
 * The write that every other one of a commit depends on: it raises `write_seq`, so that parallel writes to one EHR
 * meet here (optimistic locking), and matches only while the EHR is as expected.
 */
export function holdEhr(
  { ehrId, isQueryable, needsModifiable, judged }: ExpectedEhr,
  { status, directoryId }: EhrChange,
): UpdateWrite<'ehrs'> {
  const set = {
    ...(status !== undefined && { is_queryable: status.isQueryable, is_modifiable: status.isModifiable }),
    ...(status !== undefined && { identities: status.identities }),
    ...(status?.subject && { subject: status.subject }),
    ...(typeof directoryId === 'string' && { directory_id: directoryId }),
  };
  const unset = {
    ...(status?.subject === null && { subject: 1 as const }),
    ...(directoryId === null && { directory_id: 1 as const }),
  };
  return {
    collection: COLLECTIONS.ehrs,
    filter: {
      _id: ehrId,
      state: 'active',
      merging: null,
      is_queryable: isQueryable,
      ...(needsModifiable && { is_modifiable: true }),
      ...judged,
    },
    update: {
      $inc: { write_seq: 1 },
      ...(Object.keys(set).length > 0 && { $set: set }),
      ...(Object.keys(unset).length > 0 && { $unset: unset }),
    },
    matching: 'one',
  };
}

/** Holds an EHR for a merge in steps; the write matches nothing when another one holds it. */
export function markMerging(ehrId: string, state: 'active' | 'merged', mergeId: string): UpdateWrite<'ehrs'> {
  return {
    collection: COLLECTIONS.ehrs,
    filter: { _id: ehrId, state, merging: null },
    update: { $set: { merging: mergeId }, $inc: { write_seq: 1 } },
    matching: 'one',
  };
}

/** Lets go of the EHRs that a merge in steps holds. `matching`: `one` for one that must still be held by it. */
export function unmarkMerging(
  ehrIds: readonly string[],
  mergeId: string,
  matching: UpdateWrite['matching'],
): UpdateWrite<'ehrs'>[] {
  return ehrIds.map((ehrId) => ({
    collection: COLLECTIONS.ehrs,
    filter: { _id: ehrId, merging: mergeId },
    update: { $unset: { merging: 1 }, $inc: { write_seq: 1 } },
    matching,
  }));
}

/** CONTRIBUTIONs of these EHRs list versions of objects that are in another one now. */
export function ehrsSharing(ehrIds: readonly string[]): UpdateWrite<'ehrs'>[] {
  return ehrIds.map((ehrId) => ({
    collection: COLLECTIONS.ehrs,
    filter: { _id: ehrId },
    update: { $set: { shares_contributions: true } },
    matching: 'one',
  }));
}

/** Notes that an EHR was restored without the subject that its EHR_STATUS names. */
export function subjectDropped(ehrId: string): UpdateWrite<'ehrs'> {
  return {
    collection: COLLECTIONS.ehrs,
    filter: { _id: ehrId },
    update: { $set: { subject_dropped: true } },
    matching: 'one',
  };
}

/** A merged EHR reserves its subject until the EHR it ended in takes it. */
export function releaseSubject(tombstoneId: string, subject: Subject): UpdateWrite<'ehrs'> {
  return {
    collection: COLLECTIONS.ehrs,
    filter: { _id: tombstoneId, state: 'merged' },
    update: { $unset: { subject: 1 }, $set: { released_subject: subject } },
    matching: 'one',
  };
}

/** A tombstone reserves the subject that the EHR it ended in gave up for its own. */
export function reserveSubject(tombstoneId: string, subject: Subject): UpdateWrite<'ehrs'> {
  return {
    collection: COLLECTIONS.ehrs,
    filter: { _id: tombstoneId, state: 'merged' },
    update: { $set: { subject } },
    matching: 'one',
  };
}

/** An active EHR becomes the tombstone of a merge. */
export function toTombstone(
  ehrId: string,
  { mergedInto, mergeId }: { readonly mergedInto: string; readonly mergeId: string },
): UpdateWrite<'ehrs'> {
  return {
    collection: COLLECTIONS.ehrs,
    filter: { _id: ehrId, state: 'active' },
    update: {
      $set: { state: 'merged', merged_into: mergedInto, merge_id: mergeId },
      $unset: { directory_id: 1, identities: 1 },
    },
    matching: 'one',
  };
}

/** A tombstone becomes the EHR that it was; `write_seq` and `merge_seq` only ever grow. */
export function fromTombstone(ehr: EhrDoc): UpdateWrite<'ehrs'> {
  const { _id, write_seq: writeSeq, merge_seq: mergeSeq, ...fields } = ehr;
  return {
    collection: COLLECTIONS.ehrs,
    filter: { _id, state: 'merged' },
    update: {
      $set: fields,
      $max: { write_seq: writeSeq, ...(mergeSeq !== undefined && { merge_seq: mergeSeq }) },
      $unset: { merged_into: 1, merge_id: 1, released_subject: 1 },
    },
    matching: 'one',
  };
}

/** The EHR has no live directory any more, if it was this one. */
export function clearDirectory(
  ehrId: string,
  directoryId: string,
  matching: UpdateWrite['matching'],
): UpdateWrite<'ehrs'> {
  const filter = { _id: ehrId, directory_id: directoryId };
  return { collection: COLLECTIONS.ehrs, filter, update: { $unset: { directory_id: 1 } }, matching };
}

/** Hides an active EHR that is about to be erased, and frees its subject. */
export function hideEhr(ehrId: string): UpdateWrite<'ehrs'> {
  return {
    collection: COLLECTIONS.ehrs,
    filter: { _id: ehrId, state: 'active', merging: null },
    update: { $set: { state: 'deleting' }, $inc: { write_seq: 1 }, $unset: { subject: 1, identities: 1 } },
    matching: 'one',
  };
}

/** Removes the documents of EHRs and tombstones. */
export function ehrRemoval(ehrIds: readonly string[]): RemoveWrite<'ehrs'> {
  return { collection: COLLECTIONS.ehrs, remove: { _id: { $in: ehrIds } } };
}
