import { model, Schema, trusted } from 'mongoose';
import { COLLECTIONS } from './layout.js';
import { SCHEMA_OPTIONS } from './schema.js';

/** Whether an EHR lives, was dissolved into another one (a tombstone), or is being deleted physically. */
type EhrState = 'active' | 'merged' | 'deleting';

/** Identity of the patient: `EHR_STATUS.subject.external_ref` `namespace` and `id.value`. */
export interface Subject {
  readonly namespace: string;
  readonly id: string;
}

/** One EHR id (fields: docs/spec/storage.md#ehrs). Reads and AQL see state `active` only. */
export interface EhrDoc {
  /** ehr_id, UUIDs in lower case. */
  readonly _id: string;
  readonly system_id: string;
  readonly time_created: Date;
  readonly state: EhrState;
  /** Raised by every content or tag write: two transactions on one EHR never pass each other unseen. */
  readonly write_seq: number;
  readonly is_queryable: boolean;
  readonly is_modifiable: boolean;
  readonly subject?: Subject;
  /** Container of the EHR_STATUS. */
  readonly ehr_status_id: string;
  /** Container of the live directory. */
  readonly directory_id?: string;
  /** Direct target of the merge that dissolved this EHR. */
  readonly merged_into?: string;
  readonly merge_id?: string;
}

const ehrSchema = new Schema<EhrDoc>(
  {
    _id: String,
    system_id: String,
    time_created: Date,
    state: String,
    write_seq: Number,
    is_queryable: Boolean,
    is_modifiable: Boolean,
    subject: new Schema<Subject>({ namespace: String, id: String }, { _id: false, id: false }),
    ehr_status_id: String,
    directory_id: String,
    merged_into: String,
    merge_id: String,
  },
  SCHEMA_OPTIONS,
);

/** Collection `ehrs`. */
export const Ehr = model('Ehr', ehrSchema, COLLECTIONS.ehrs);

/** The document of an EHR id in whatever state, null when the id was never used. */
export function ehrById(ehrId: string): Promise<EhrDoc | null> {
  return Ehr.findOne({ _id: ehrId }).lean<EhrDoc>().exec();
}

/** Those of the ids that name an EHR, in whatever state. */
export async function knownEhrIds(ehrIds: readonly string[]): Promise<Set<string>> {
  const found = await Ehr.find({ _id: trusted({ $in: ehrIds }) }, { _id: 1 })
    .lean<Pick<EhrDoc, '_id'>[]>()
    .exec();
  return new Set(found.map(({ _id: ehrId }) => ehrId));
}

/** The EHR (or tombstone) that holds a subject; unique by index. */
export function ehrBySubject(subject: Subject): Promise<EhrDoc | null> {
  const holder = { 'subject.namespace': subject.namespace, 'subject.id': subject.id };
  return Ehr.findOne(holder).lean<EhrDoc>().exec();
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
 * Holds an active EHR for the caller's transaction by raising `write_seq`: every content or tag write begins so.
 * Null when the id is unknown, merged away or being deleted.
 */
export function holdActive(ehrId: string): Promise<EhrDoc | null> {
  return Ehr.findOneAndUpdate(
    { _id: ehrId, state: 'active' },
    { $inc: { write_seq: 1 } },
    { returnDocument: 'after' },
  )
    .lean<EhrDoc>()
    .exec();
}
