import { AsyncLocalStorage } from 'node:async_hooks';

import type { IdempotencyDoc, IdempotentResult } from '../../models/idempotency.js';
import { completedRequestWrite, insertCompletedRequest } from '../../models/idempotency.js';
import type { Write } from '../../models/write.js';

/** A request that asks to be carried out once only. */
export interface IdempotencyClaim {
  /** From `idempotencyId`. */
  readonly id: string;
  /** SHA-256 of the body, hexadecimal. */
  readonly bodyHash: string;
}

/** How long an answer is given again. */
const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1000;

const CREATED = 201;

/** The claim travels beside the call, so that no writing function needs a parameter for it. */
const claims = new AsyncLocalStorage<IdempotencyClaim>();

/** Runs the work of one request; what it commits is memoized under the claim. */
export function withIdempotencyClaim<T>(claim: IdempotencyClaim, work: () => Promise<T>): Promise<T> {
  return claims.run(claim, work);
}

/**
 * Remembers, inside the transaction that makes it, what the running request makes. Does nothing for a request
 * without `Idempotency-Key`. When the same key was completed meanwhile, the duplicate key error ends the
 * transaction, and the route gives the stored answer. `status`: HTTP status of the answer.
 */
export async function recordIdempotentResult(result: IdempotentResult, status = CREATED): Promise<void> {
  const doc = claimedDoc(result, status);
  if (doc !== null) await insertCompletedRequest(doc);
}

/** As `recordIdempotentResult`, as a write among others of a batch; none for a request without `Idempotency-Key`. */
export function idempotencyWrites(result: IdempotentResult): readonly Write[] {
  const doc = claimedDoc(result, CREATED);
  return doc === null ? [] : [completedRequestWrite(doc)];
}

function claimedDoc(result: IdempotentResult, status: number): IdempotencyDoc | null {
  const claim = claims.getStore();
  if (claim === undefined) return null;
  return {
    _id: claim.id,
    body_hash: claim.bodyHash,
    status,
    result,
    expires_at: new Date(Date.now() + IDEMPOTENCY_LIFETIME_MS),
  };
}
