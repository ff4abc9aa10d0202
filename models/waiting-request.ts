import { model, Schema, trusted } from 'mongoose';
import type { JsonObject } from '../openehr/base/json.js';
import { COLLECTIONS } from './layout.js';
import { SCHEMA_OPTIONS } from './access/schema.js';
import type { InsertWrite, RemoveWrite } from './access/write.js';

/** An administrator, by what never changes, and the name. */
export interface Administrator {
  readonly name: string;
  readonly sub: string;
  /** Absent: the token names no issuer. */
  readonly iss?: string;
  /** The `sub` of this person's tokens; absent: a user with a password of whom nobody said it. */
  readonly person?: string;
}

/** What an administrator asked for, as far as it takes to carry it out. */
export type WaitingAct =
  | {
      readonly operation: 'moveComposition';
      readonly ehr_id: string;
      readonly target_ehr: string;
      readonly object_id: string;
      readonly reason?: string;
    }
  | { readonly operation: 'deleteEhr'; readonly ehr_id: string; readonly cascade: boolean }
  | {
      readonly operation: 'deleteComposition' | 'deleteDirectory';
      readonly ehr_id: string;
      readonly object_id: string;
    }
  | { readonly operation: 'finaliseMerge'; readonly merge_id: string; readonly reason: string }
  | {
      readonly operation: 'giveQueryNameSpace';
      readonly name_space: string;
      readonly sub: string;
      readonly issuer?: string;
    };

/** What an act would do, worked out at one moment. */
export interface ActPlan extends JsonObject {
  /** The same for plans that do the same to the same data. */
  readonly digest: string;
  /** In words. */
  readonly summary: string;
  /** EHRs that it changes, first the one that it is about; none where it is about no record. */
  readonly ehr_ids: string[];
}

/** What waits for a second person, but merges (fields: docs/spec/storage.md#other-collections). */
export interface WaitingRequestDoc {
  /** UUID. */
  readonly _id: string;
  readonly act: WaitingAct;
  /** What it is asked for, of what. Unique by index: the same waits once at a time. */
  readonly subject: string;
  readonly ehr_id?: string;
  readonly other_ehr?: string;
  readonly object_id?: string;
  readonly requested_at: Date;
  /** From this time on it counts as not there. */
  readonly expires_at: Date;
  readonly requester: Administrator;
  readonly plan: ActPlan;
}

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.waitingRequests]: WaitingRequestDoc;
  }
}

/** Opaque to mongoose. */
type StoredRequest = Omit<WaitingRequestDoc, 'act' | 'requester' | 'plan'> & {
  readonly act: object;
  readonly requester: object;
  readonly plan: object;
};

const OPAQUE = Schema.Types.Mixed;

const WaitingRequest = model(
  'WaitingRequest',
  new Schema<StoredRequest>(
    {
      _id: String,
      act: OPAQUE,
      subject: String,
      ehr_id: String,
      other_ehr: String,
      object_id: String,
      requested_at: Date,
      expires_at: Date,
      requester: OPAQUE,
      plan: OPAQUE,
    },
    SCHEMA_OPTIONS,
  ),
  COLLECTIONS.waitingRequests,
);

/** What waits with this id, null when nothing does. Joins the caller's transaction. */
export function waitingRequest(id: string): Promise<WaitingRequestDoc | null> {
  return WaitingRequest.findOne({ _id: id }).lean<WaitingRequestDoc>().exec();
}

/** What waits of this subject, null when nothing does. Joins the caller's transaction. */
export function waitingRequestOf(subject: string): Promise<WaitingRequestDoc | null> {
  return WaitingRequest.findOne({ subject }).lean<WaitingRequestDoc>().exec();
}

/** What waits at this time, oldest first; `ehrId`: of this EHR only. */
export function waitingRequests(ehrId: string | null, now: Date): Promise<WaitingRequestDoc[]> {
  return WaitingRequest.find({
    expires_at: trusted({ $gt: now }),
    ...(ehrId !== null && { $or: [{ ehr_id: ehrId }, { other_ehr: ehrId }] }),
  })
    .sort({ requested_at: 1, _id: 1 })
    .lean<WaitingRequestDoc[]>()
    .exec();
}

/** What has lapsed at this time, in no order. */
export function lapsedRequests(now: Date): Promise<WaitingRequestDoc[]> {
  return WaitingRequest.find({ expires_at: trusted({ $lte: now }) })
    .lean<WaitingRequestDoc[]>()
    .exec();
}

/** All ids, with the EHRs that they name. */
export function allWaitingRequests(): Promise<Pick<WaitingRequestDoc, '_id' | 'ehr_id' | 'other_ehr'>[]> {
  return WaitingRequest.find({}, { ehr_id: 1, other_ehr: 1 })
    .lean<Pick<WaitingRequestDoc, '_id' | 'ehr_id' | 'other_ehr'>[]>()
    .exec();
}

/** The write that lets something wait. */
export function waitingRequestInsert(insert: WaitingRequestDoc): InsertWrite<'waiting_requests'> {
  return { collection: COLLECTIONS.waitingRequests, insert };
}

/** Ends what waits by this id. */
export function waitingRequestRemoval(id: string): RemoveWrite<'waiting_requests'> {
  return { collection: COLLECTIONS.waitingRequests, remove: { _id: id } };
}

/** Ends what waits and names one of these EHRs. */
export function waitingRequestRemovals(ehrIds: readonly string[]): RemoveWrite<'waiting_requests'>[] {
  return (['ehr_id', 'other_ehr'] as const).map((field) => ({
    collection: COLLECTIONS.waitingRequests,
    remove: { [field]: { $in: ehrIds } },
  }));
}

/** Ends what waits and is about this object. */
export function waitingRequestRemovalOf(objectId: string): RemoveWrite<'waiting_requests'> {
  return { collection: COLLECTIONS.waitingRequests, remove: { object_id: objectId } };
}
