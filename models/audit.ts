import { trusted } from 'mongoose';
import { CdrError } from '../openehr/base/errors.js';
import type { JsonObject } from '../openehr/base/json.js';
import { COLLECTIONS } from './access/layout.js';
import {
  collection,
  date,
  flag,
  mark,
  number,
  opaque,
  optional,
  text,
  type DocumentOf,
} from './access/collection.js';
import type { InsertWrite } from './access/write.js';

/** Most ids of one kind that a record lists. */
export const MAX_AUDIT_IDS = 1_000;

const SUBJECT = {
  /** The one EHR that the request is about. */
  ehr_id: optional(text),
  /** EHRs of the rows of a query, or both of a merge; at most `MAX_AUDIT_IDS`: further ones stand in further parts. */
  ehr_ids: optional(opaque<readonly string[]>()),
  /** How many EHRs there were, in all parts together, where `ehr_ids` does not list them all. */
  ehr_count: optional(number),
  /** Of administration: an id of a composition, template, query, or the other EHR of a merge. */
  target: optional(text),
  /** Ids of versions, containers, CONTRIBUTIONs, templates, stored queries, dashboards; at most `MAX_AUDIT_IDS`. */
  objects: optional(opaque<readonly string[]>()),
  /** Templates of the content that was read or written; of few versions alone. */
  templates: optional(opaque<readonly string[]>()),
  /** Categories of it: `event`, `persistent`, `episodic`, or another code. */
  categories: optional(opaque<readonly string[]>()),
  /** Other systems that it came from, by its FEEDER_AUDIT; absent: it was written here. */
  origins: optional(opaque<readonly string[]>()),
  /** Text of a query with `?` for every literal. */
  aql: optional(text),
  /** Equal for equal texts of queries in one database; discloses nothing else of their literals. */
  aql_hash: optional(text),
  /** Equal for equal parameters of queries in one database; discloses nothing else of them. */
  parameters_hash: optional(text),
  /** Rows answered. */
  rows: optional(number),
  /** true: rows may stand for many EHRs, as those of an aggregate over all. */
  population: optional(mark),
  /** What was chosen, where that matters: the options of a merge, how many refusals were not recorded one by one. */
  options: optional(opaque<JsonObject>()),
  reason: optional(text),
  /** What it came to, where the status does not say. */
  outcome: optional(text),
  dry_run: optional(flag),
  /** true: the answer is still being sent, with rows and EHRs added at its end; or what is asked for is being done. */
  pending: optional(mark),
  /** Where the user works and what he asks for, by the claims of his token, where policies of access were asked. */
  organisation: optional(text),
  purpose: optional(text),
  /** Policies of access that decided about what was judged one by one, at most `MAX_AUDIT_IDS`; none of lists and queries. */
  policies: optional(opaque<readonly string[]>()),
  /** true: policies of access hid something that was asked for. */
  hidden: optional(mark),
};

/** What a record says of its subject, as far as it is known. */
export type AuditSubject = DocumentOf<typeof SUBJECT>;

const SENDER = {
  /** Name of the user, `anonymous` without one. */
  user: text,
  /** `sub` of the token or name of the user with a password; absent without a user, and in older records. */
  sub: optional(text),
  issuer: optional(text),
  /** The application. */
  client_id: optional(text),
  /** Who acts for the user: `sub` of the claim `act` (RFC 8693), and its `iss`. */
  actor: optional(text),
  actor_issuer: optional(text),
  /** Of the client, as far as `TRUSTED_PROXIES` lets it be known. */
  address: optional(text),
  /** operationId; `unknown` where no operation has the address. */
  operation: text,
  request_id: text,
};

/** Who sent a request, and what was asked for. */
export type AuditSender = DocumentOf<typeof SENDER>;

const AUDIT = {
  ...SENDER,
  ...SUBJECT,
  /** Time and a random tail, so that ids sort as the records do; of a further part that of the first, and its number. */
  _id: text,
  /** 2 and more: the record goes on the first one of its request, and names further EHRs. */
  part: optional(number),
  time: date,
  /** HTTP status of the answer. */
  status: number,
  /** SHA-256, in hexadecimal, of each note of `removals` that the same transaction made: no other note is explained by it. */
  notes: optional(opaque<readonly string[]>()),
  /** The import that brought it from elsewhere: it says nothing of what was done here. */
  restored: optional(text),
  /** Written with every new one; the sealer takes it away. */
  unsealed: optional(mark),
};

/** One record of who did what. What is recorded when: docs/operations.md. */
export type AuditDoc = DocumentOf<typeof AUDIT>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.audit]: AuditDoc;
  }
}

/** Which records are asked for. */
export interface AuditFilter {
  readonly from?: Date;
  readonly to?: Date;
  /** Name or `sub`. */
  readonly user?: string;
  readonly operation?: string;
  readonly status?: number;
  readonly ehrId?: string;
  /** Which come first; the newest unless given. */
  readonly order?: 'newest' | 'oldest';
  /** Id of the record behind which the page begins, or with which; null: with the first. */
  readonly after?: string | null;
  readonly includesAfter?: boolean;
  readonly offset: number;
  readonly fetch: number;
}

const Audit = collection(COLLECTIONS.audit, AUDIT);

/** Adds one record, in the caller's transaction if there is one. */
export async function insertAudit(record: AuditDoc): Promise<void> {
  await Audit.create([{ ...record, unsealed: true }]);
}

/** The same as a write of a batch. */
export function auditWrite(record: AuditDoc): InsertWrite<'audit'> {
  return { collection: COLLECTIONS.audit, insert: { ...record, unsealed: true } };
}

/** Adds to a record of which the answer has not ended what is known so far; nothing where it is not written yet. */
export async function notePending(id: string, subject: AuditSubject): Promise<void> {
  await Audit.updateOne({ _id: id, pending: true }, { $set: subject }).exec();
}

/** Adds to a pending record what its answer came to; afterwards it never changes again. */
export async function completeAudit(
  id: string,
  subject: AuditSubject & Partial<Pick<AuditDoc, 'status'>>,
): Promise<void> {
  await Audit.updateOne({ _id: id, pending: true }, { $set: subject, $unset: { pending: 1 } }).exec();
}

/** The id of a further part of a record; it sorts behind that of the first, and before that of any other. */
export function partId(id: string, part: number): string {
  return `${id}.${String(part).padStart(6, '0')}`;
}

/** The id of the first part of a record, whichever part has this one. */
export function firstPartId(id: string): string {
  return id.replace(/\.\d{6,}$/, '');
}

/** Adds to all further parts of a record what its answer came to; afterwards they never change again. */
export async function completeParts(id: string, subject: AuditSubject, status?: number): Promise<void> {
  const { rows, ehr_count: count, outcome } = subject;
  const known = {
    ...(rows !== undefined && { rows }),
    ...(count !== undefined && { ehr_count: count }),
    ...(outcome !== undefined && { outcome }),
    ...(status !== undefined && { status }),
  };
  const parts = { _id: trusted({ $gt: `${id}.`, $lt: `${id}/` }), pending: true as const };
  await Audit.updateMany(parts, { $set: known, $unset: { pending: 1 } }).exec();
}

/** The records that fit, in their order, from `offset`, at most `fetch`. @throws invalid where `after` names no record */
export async function auditRecords(filter: AuditFilter): Promise<AuditDoc[]> {
  const { from, to, user, operation, status, ehrId } = filter;
  const period = { ...(from !== undefined && { $gte: from }), ...(to !== undefined && { $lte: to }) };
  const choices = [
    ...(user === undefined ? [] : [{ $or: [{ user }, { sub: user }] }]),
    ...(ehrId === undefined ? [] : [aboutEhr(ehrId)]),
    ...(filter.after == null ? [] : [await behind(filter.after, filter)]),
  ];
  const conditions = {
    ...(Object.keys(period).length > 0 && { time: trusted(period) }),
    ...(operation !== undefined && { operation }),
    ...(status !== undefined && { status }),
    ...(choices.length > 0 && { $and: choices }),
  };
  const direction = filter.order === 'oldest' ? 1 : -1;
  return Audit.find(conditions)
    .sort({ time: direction, _id: direction })
    .skip(filter.offset)
    .limit(filter.fetch)
    .exec();
}

async function behind(
  id: string,
  { order, includesAfter = false }: Pick<AuditFilter, 'order' | 'includesAfter'>,
): Promise<object> {
  const last = await Audit.findOne({ _id: id }, { time: 1 }).exec();
  if (last === null) throw new CdrError('invalid', 'after names no record that there is');
  const beyond = order === 'oldest' ? '$gt' : '$lt';
  const from = includesAfter ? `${beyond}e` : beyond;
  return {
    $or: [{ time: trusted({ [beyond]: last.time }) }, { time: last.time, _id: trusted({ [from]: id }) }],
  };
}

/** A record of something that policies of access hid, or would have. */
export type HiddenRecord = Pick<
  AuditDoc,
  'user' | 'sub' | 'issuer' | 'organisation' | 'purpose' | 'operation' | 'time' | 'policies'
>;

/** The records since a time of what policies of access hid or would have, newest first, at most `most`. */
export function hiddenSince(from: Date, most: number): AsyncIterable<HiddenRecord> {
  const fields = {
    user: 1,
    sub: 1,
    issuer: 1,
    organisation: 1,
    purpose: 1,
    operation: 1,
    time: 1,
    policies: 1,
  };
  return (
    Audit.collection
      // Requests, not parts of their records.
      .find<HiddenRecord>(
        { hidden: true, part: { $exists: false }, time: { $gte: from } },
        { projection: fields },
      )
      .sort({ time: -1 })
      .limit(most)
  );
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
