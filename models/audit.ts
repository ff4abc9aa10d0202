import { model, Schema, trusted } from 'mongoose';
import { COLLECTIONS } from './layout.js';
import { SCHEMA_OPTIONS } from './schema.js';

/** One record of who did what: every administration call, and reads with `AUDIT_READS`. Contract, section 13. */
export interface AuditDoc {
  /** Time and a random tail, so that ids sort as the records do. */
  readonly _id: string;
  readonly time: Date;
  /** Name from the token, `anonymous` without one. */
  readonly user: string;
  /** Name of the operation, such as `deleteEhr` or `GET /ehr/:ehr_id/composition/:uid_based_id`. */
  readonly operation: string;
  readonly ehr_id?: string;
  /** What it was about beside the EHR: an id of a composition, template, query, or the other EHR of a merge. */
  readonly target?: string;
  /** HTTP status of the answer. */
  readonly status: number;
  readonly request_id: string;
  /** Written with every new one; the sealer takes it away. */
  readonly unsealed?: true;
}

/** Which records are asked for; the newest come first. */
export interface AuditFilter {
  readonly from?: Date;
  readonly to?: Date;
  readonly user?: string;
  readonly ehrId?: string;
  readonly offset: number;
  readonly fetch: number;
}

const Audit = model(
  'Audit',
  new Schema<AuditDoc>(
    {
      _id: String,
      time: Date,
      user: String,
      operation: String,
      ehr_id: String,
      target: String,
      status: Number,
      request_id: String,
      unsealed: Boolean,
    },
    SCHEMA_OPTIONS,
  ),
  COLLECTIONS.audit,
);

/** Adds one record. */
export async function insertAudit(record: AuditDoc): Promise<void> {
  await Audit.create([{ ...record, unsealed: true }]);
}

/** The records that fit, newest first, from `offset`, at most `fetch`. */
export function auditRecords(filter: AuditFilter): Promise<AuditDoc[]> {
  const { from, to, user, ehrId } = filter;
  const period = { ...(from !== undefined && { $gte: from }), ...(to !== undefined && { $lte: to }) };
  const conditions = {
    ...(Object.keys(period).length > 0 && { time: trusted(period) }),
    ...(user !== undefined && { user }),
    // A merge is about two EHRs: the other one is its target.
    ...(ehrId !== undefined && { $or: [{ ehr_id: ehrId }, { target: ehrId }] }),
  };
  return Audit.find(conditions)
    .sort({ time: -1, _id: -1 })
    .skip(filter.offset)
    .limit(filter.fetch)
    .lean<AuditDoc[]>()
    .exec();
}

/** Whether any record names the EHR: it existed, even if it is gone. */
export async function isEhrAudited(ehrId: string): Promise<boolean> {
  return (await Audit.exists({ $or: [{ ehr_id: ehrId }, { target: ehrId }] }).exec()) !== null;
}
