import { trusted } from 'mongoose';
import type { JsonObject } from '../openehr/base/json.js';
import type { Category } from '../policy/categories.js';
import { COLLECTIONS } from './access/layout.js';
import { collection, date, opaque, optional, text, type DocumentOf } from './access/collection.js';
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

/** Why something is erased, and who asked for it. */
interface Motive {
  readonly reason?: string;
  readonly requested_by?: string;
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
  | (Motive & { readonly operation: 'deleteEhr'; readonly ehr_id: string; readonly cascade: boolean })
  | (Motive & {
      readonly operation: 'deleteComposition' | 'deleteDirectory';
      readonly ehr_id: string;
      readonly object_id: string;
    })
  | { readonly operation: 'finaliseMerge'; readonly merge_id: string; readonly reason: string }
  | {
      readonly operation: 'giveQueryNameSpace';
      readonly name_space: string;
      readonly sub: string;
      readonly issuer?: string;
    }
  | PolicyAct
  | CategoriesAct;

/** A change of a policy of access. */
export type PolicyAct =
  | { readonly operation: 'putPolicy'; readonly policy_id: string; readonly policy: string }
  | { readonly operation: 'removePolicy'; readonly policy_id: string };

/** A change of the map of categories. */
export interface CategoriesAct {
  readonly operation: 'putCategories';
  readonly categories: readonly Category[];
}

/** Whether an act changes who may see what: it is carried out by the rules of such changes. */
export function changesAccess(act: WaitingAct): act is PolicyAct | CategoriesAct {
  return 'policy_id' in act || act.operation === 'putCategories';
}

/** What an act would do, worked out at one moment. */
export interface ActPlan extends JsonObject {
  /** The same for plans that do the same to the same data. */
  readonly digest: string;
  /** In words. */
  readonly summary: string;
  /** EHRs that it changes, first the one that it is about; none where it is about no record. */
  readonly ehr_ids: string[];
}

const WAITING_REQUEST = {
  /** UUID. */
  _id: text,
  act: opaque<WaitingAct>(),
  /** What it is asked for, of what. Unique by index: the same waits once at a time. */
  subject: text,
  ehr_id: optional(text),
  other_ehr: optional(text),
  object_id: optional(text),
  requested_at: date,
  /** From this time on it counts as not there. */
  expires_at: date,
  requester: opaque<Administrator>(),
  plan: opaque<ActPlan>(),
};

/** What waits for a second person, but merges (fields: docs/spec/storage.md#other-collections). */
export type WaitingRequestDoc = DocumentOf<typeof WAITING_REQUEST>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.waitingRequests]: WaitingRequestDoc;
  }
}

const WaitingRequest = collection(COLLECTIONS.waitingRequests, WAITING_REQUEST);

/** What waits with this id, null when nothing does. Joins the caller's transaction. */
export function waitingRequest(id: string): Promise<WaitingRequestDoc | null> {
  return WaitingRequest.findOne({ _id: id }).exec();
}

/** What waits of this subject, null when nothing does. Joins the caller's transaction. */
export function waitingRequestOf(subject: string): Promise<WaitingRequestDoc | null> {
  return WaitingRequest.findOne({ subject }).exec();
}

/** What waits at this time, oldest first; `ehrId`: of this EHR only. */
export function waitingRequests(ehrId: string | null, now: Date): Promise<WaitingRequestDoc[]> {
  return WaitingRequest.find({
    expires_at: trusted({ $gt: now }),
    ...(ehrId !== null && { $or: [{ ehr_id: ehrId }, { other_ehr: ehrId }] }),
  })
    .sort({ requested_at: 1, _id: 1 })
    .exec();
}

/** What has lapsed at this time, in no order. */
export function lapsedRequests(now: Date): Promise<WaitingRequestDoc[]> {
  return WaitingRequest.find({ expires_at: trusted({ $lte: now }) }).exec();
}

/** All ids, with the EHRs that they name. */
export function allWaitingRequests(): Promise<Pick<WaitingRequestDoc, '_id' | 'ehr_id' | 'other_ehr'>[]> {
  return WaitingRequest.find({}, { ehr_id: 1, other_ehr: 1 }).exec();
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
