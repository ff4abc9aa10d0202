import { ambient } from '../../database/transaction.js';
import { completedRequestInsert, type IdempotentResult } from '../../models/idempotency.js';
import { runWrites, type Session, type Write } from '../../models/access/write.js';

/** A request that asks to be carried out once only. */
export interface IdempotencyClaim {
  /** From `idempotencyId`. */
  readonly id: string;
  /** SHA-256 of the body, hexadecimal. */
  readonly bodyHash: string;
  /** HTTP status of the answer when the transaction is committed. */
  readonly status: number;
}

/** How long an answer is given again. */
const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1000;

declare module '../../database/transaction.js' {
  interface Ambient {
    readonly claim?: IdempotencyClaim;
  }
}

/** Runs the work of one request; what it makes is stored under the claim, in the transaction that makes it. */
export function withIdempotencyClaim<T>(claim: IdempotencyClaim, work: () => Promise<T>): Promise<T> {
  return ambient.run({ ...ambient.getStore(), claim }, work);
}

/**
 * The write that stores what the request under way makes, for its transaction; none without an `Idempotency-Key`.
 * When the same key was completed meanwhile the transaction ends with a duplicate key, and the middleware gives the
 * stored answer.
 */
export function idempotencyWrites(result: IdempotentResult): readonly Write[] {
  const claim = ambient.getStore()?.claim;
  if (claim === undefined) return [];
  const expires = new Date(Date.now() + IDEMPOTENCY_LIFETIME_MS);
  return [
    completedRequestInsert({
      _id: claim.id,
      body_hash: claim.bodyHash,
      status: claim.status,
      result,
      expires_at: expires,
    }),
  ];
}

/** Runs `idempotencyWrites` in the caller's transaction. */
export async function recordIdempotentResult(session: Session, result: IdempotentResult): Promise<void> {
  await runWrites(session, idempotencyWrites(result));
}
