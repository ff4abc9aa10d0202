import { model, Schema, trusted } from 'mongoose';

import { COLLECTIONS } from './layout.js';
import { SCHEMA_OPTIONS } from './access/schema.js';
import { duplicateIn, type InsertWrite } from './access/write.js';

/** What a completed request made; its answer is rendered anew from this. */
export interface IdempotentResult {
  /** Kind of the resource made, such as `COMPOSITION` or `TEMPLATE`. */
  readonly kind: string;
  /** Ids by which the resource is found again, by name. */
  readonly uids: Readonly<Record<string, string>>;
}

/** One completed request with an `Idempotency-Key`. Fields: docs/spec/storage.md#other-collections. */
export interface IdempotencyDoc {
  /** User, path and key, from `idempotencyId`. */
  readonly _id: string;
  /** SHA-256 of the body, hexadecimal. */
  readonly body_hash: string;
  /** HTTP status of the answer. */
  readonly status: number;
  readonly result: IdempotentResult;
  /** From this time on the key counts as unused. */
  readonly expires_at: Date;
}

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.idempotencyKeys]: IdempotencyDoc;
  }
}

const IdempotencyKey = model(
  'IdempotencyKey',
  new Schema<IdempotencyDoc>(
    {
      _id: String,
      body_hash: String,
      status: Number,
      result: Schema.Types.Mixed,
      expires_at: Date,
    },
    SCHEMA_OPTIONS,
  ),
  COLLECTIONS.idempotencyKeys,
);

/** `_id` of a key: the same key of another user or on another path is another one. */
export function idempotencyId(user: string, path: string, key: string): string {
  return JSON.stringify([user, path, key]);
}

/** The completed request of a key that has not expired at `now`, null when there is none. */
export function completedRequest(id: string, now: Date): Promise<IdempotencyDoc | null> {
  return IdempotencyKey.findOne({ _id: id, expires_at: trusted({ $gt: now }) })
    .lean<IdempotencyDoc>()
    .exec();
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
