import { model, Schema, trusted } from 'mongoose';
import type { JsonObject } from '../openehr/base/json.js';
import { COLLECTIONS } from './layout.js';
import { SCHEMA_OPTIONS } from './access/schema.js';
import type { InsertWrite } from './access/write.js';

/** Most ids of one kind that a record lists. */
export const MAX_AUDIT_IDS = 1_000;

/** What a record says of its subject, as far as it is known. */
export interface AuditSubject {
  /** The one EHR that the request is about. */
  readonly ehr_id?: string;
  /** EHRs of the rows of a query, or both of a merge; at most `MAX_AUDIT_IDS`. */
  readonly ehr_ids?: readonly string[];
  /** How many EHRs there were, where `ehr_ids` does not list them all. */
  readonly ehr_count?: number;
  /** Of administration: an id of a composition, template, query, or the other EHR of a merge. */
  readonly target?: string;
  /** Ids of versions, containers, CONTRIBUTIONs, templates, stored queries; at most `MAX_AUDIT_IDS`. */
  readonly objects?: readonly string[];
  /** Text of a query with `?` for every literal. */
  readonly aql?: string;
  /** Equal for equal parameters of queries in one database; discloses nothing else of them. */
  readonly parameters_hash?: string;
  /** Rows answered. */
  readonly rows?: number;
  /** true: rows may stand for many EHRs, as those of an aggregate over all. */
  readonly population?: true;
  /** What was chosen, where that matters: the options of a merge, how many refusals were not recorded one by one. */
  readonly options?: JsonObject;
  readonly reason?: string;
  /** What it came to, where the status does not say. */
  readonly outcome?: string;
  readonly dry_run?: boolean;
  /** true: the answer is still being sent; rows and EHRs are added at its end. */
  readonly pending?: true;
}

/** Who sent a request, and what was asked for. */
export interface AuditSender {
  /** Name of the user, `anonymous` without one. */
  readonly user: string;
  /** `sub` of the token or name of the user with a password; absent without a user, and in older records. */
  readonly sub?: string;
  readonly issuer?: string;
  /** The application. */
  readonly client_id?: string;
  /** Of the client, as far as `TRUSTED_PROXIES` lets it be known. */
  readonly address?: string;
  /** operationId; `unknown` where no operation has the address. */
  readonly operation: string;
  readonly request_id: string;
}

/** One record of who did what. What is recorded when: docs/operations.md. */
export interface AuditDoc extends AuditSender, AuditSubject {
  /** Time and a random tail, so that ids sort as the records do. */
  readonly _id: string;
  readonly time: Date;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Written with every new one; the sealer takes it away. */
  readonly unsealed?: true;
}

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.audit]: AuditDoc;
  }
}

/** Which records are asked for; the newest come first. */
export interface AuditFilter {
  readonly from?: Date;
  readonly to?: Date;
  /** Name or `sub`. */
  readonly user?: string;
  readonly operation?: string;
  readonly status?: number;
  readonly ehrId?: string;
  readonly offset: number;
  readonly fetch: number;
}

/** A list that is left out when there is none. */
const TEXTS = Schema.Types.Mixed;

const Audit = model(
  'Audit',
  new Schema<AuditDoc>(
    {
      _id: String,
      time: Date,
      user: String,
      sub: String,
      issuer: String,
      client_id: String,
      address: String,
      operation: String,
      ehr_id: String,
      ehr_ids: TEXTS,
      ehr_count: Number,
      target: String,
      objects: TEXTS,
      aql: String,
      parameters_hash: String,
      rows: Number,
      population: Boolean,
      options: Schema.Types.Mixed,
      reason: String,
      outcome: String,
      dry_run: Boolean,
      pending: Boolean,
      status: Number,
      request_id: String,
      unsealed: Boolean,
    },
    SCHEMA_OPTIONS,
  ),
  COLLECTIONS.audit,
);

/** Adds one record, in the caller's transaction if there is one. */
export async function insertAudit(record: AuditDoc): Promise<void> {
  await Audit.create([{ ...record, unsealed: true }]);
}

/** The same as a write of a batch. */
export function auditWrite(record: AuditDoc): InsertWrite<'audit'> {
  return { collection: COLLECTIONS.audit, insert: { ...record, unsealed: true } };
}

/** Adds to a pending record what its answer came to; afterwards it never changes again. */
export async function completeAudit(id: string, subject: AuditSubject): Promise<void> {
  await Audit.updateOne({ _id: id, pending: true }, { $set: subject, $unset: { pending: 1 } }).exec();
}

/** The records that fit, newest first, from `offset`, at most `fetch`. */
export function auditRecords(filter: AuditFilter): Promise<AuditDoc[]> {
  const { from, to, user, operation, status, ehrId } = filter;
  const period = { ...(from !== undefined && { $gte: from }), ...(to !== undefined && { $lte: to }) };
  const choices = [
    ...(user === undefined ? [] : [{ $or: [{ user }, { sub: user }] }]),
    ...(ehrId === undefined ? [] : [aboutEhr(ehrId)]),
  ];
  const conditions = {
    ...(Object.keys(period).length > 0 && { time: trusted(period) }),
    ...(operation !== undefined && { operation }),
    ...(status !== undefined && { status }),
    ...(choices.length > 0 && { $and: choices }),
  };
  return Audit.find(conditions)
    .sort({ time: -1, _id: -1 })
    .skip(filter.offset)
    .limit(filter.fetch)
    .lean<AuditDoc[]>()
    .exec();
}

/** Whether a call about the EHR ever succeeded: then it existed, even if it is gone. What failed may name anything. */
export async function isEhrAudited(ehrId: string): Promise<boolean> {
  const succeeded = { ...aboutEhr(ehrId), status: trusted({ $lt: 400 }) };
  return (await Audit.exists(succeeded).exec()) !== null;
}

/** A merge is about two EHRs: in older records the other one is its target. */
function aboutEhr(ehrId: string): { readonly $or: object[] } {
  return { $or: [{ ehr_id: ehrId }, { ehr_ids: ehrId }, { target: ehrId }] };
}
