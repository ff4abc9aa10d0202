import { trusted } from 'mongoose';

import { COLLECTIONS } from './access/layout.js';
import { collection, date, number, opaque, text, type DocumentOf } from './access/collection.js';
import { duplicateIn, type InsertWrite } from './access/write.js';

/** What a completed request made; its answer is rendered anew from this. */
export interface IdempotentResult {
  /** Kind of the resource made, such as `COMPOSITION` or `TEMPLATE`. */
  readonly kind: string;
  /** Ids by which the resource is found again, by name. */
  readonly uids: Readonly<Record<string, string>>;
}

const IDEMPOTENCY_KEY = {
  /** User, path and key, from `idempotencyId`. */
  _id: text,
  /** SHA-256 of the body, hexadecimal. */
  body_hash: text,
  /** HTTP status of the answer. */
  status: number,
  result: opaque<IdempotentResult>(),
  /** From this time on the key counts as unused. */
  expires_at: date,
};

/** One completed request with an `Idempotency-Key`. Fields: docs/spec/storage.md#other-collections. */
export type IdempotencyDoc = DocumentOf<typeof IDEMPOTENCY_KEY>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.idempotencyKeys]: IdempotencyDoc;
  }
}

const IdempotencyKey = collection(COLLECTIONS.idempotencyKeys, IDEMPOTENCY_KEY);

/** `_id` of a key: the same key of another user or on another path is another one. */
export function idempotencyId(user: string, path: string, key: string): string {
  return JSON.stringify([user, path, key]);
}

/** The completed request of a key that has not expired at `now`, null when there is none. */
export function completedRequest(id: string, now: Date): Promise<IdempotencyDoc | null> {
  return IdempotencyKey.findOne({ _id: id, expires_at: trusted({ $gt: now }) }).exec();
}

/** The write that notes a completed request, for the transaction that completes it. */
export function completedRequestInsert(insert: IdempotencyDoc): InsertWrite<'idempotency_keys'> {
  return { collection: COLLECTIONS.idempotencyKeys, insert };
}

/** Whether a batch of writes failed since the same key was completed meanwhile. */
export function isCompletedMeanwhile(error: unknown): boolean {
  return duplicateIn(error) === COLLECTIONS.idempotencyKeys;
}

/** Removes a key if it expired before `now`, so that it can be used again. */
export async function removeIfExpired(id: string, now: Date): Promise<void> {
  await IdempotencyKey.deleteOne({ _id: id, expires_at: trusted({ $lte: now }) }).exec();
}

/** Removes keys that expired before `now`, for databases without a TTL monitor. Gives how many. */
export async function removeExpiredRequests(now: Date): Promise<number> {
  const { deletedCount } = await IdempotencyKey.deleteMany({ expires_at: trusted({ $lte: now }) }).exec();
  return deletedCount;
}
