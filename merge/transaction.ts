import { setTimeout } from 'node:timers/promises';
import { CdrError } from '../openehr/base/errors.js';
import { isTransactionGone, isTransactionTooLarge } from '../database/mongo-error.js';
import { inTransaction } from '../database/transaction.js';
import type { Session } from '../models/access/write.js';

/** No attempt of a merge starts later than this after the first. */
const RETRY_MS = 60_000;

/** Before a retry, doubled each time: whoever was faster is to end first. */
const PAUSE_MS = 10;

/** A transaction that the server ended after so long was ended for its age, so trying again is of no use. */
const AGED_MS = 30_000;

/**
 * Runs a merge or unmerge in one transaction, tried anew up to `retries` times when others were faster.
 * @throws conflict when they always were; transaction-too-large when the engine refuses it for size or age
 */
export function inMergeTransaction<T>(retries: number, work: (session: Session) => Promise<T>): Promise<T> {
  let attempts = 0;
  const attempt = async (session: Session): Promise<T> => {
    if (attempts > 0) await setTimeout(PAUSE_MS * 2 ** attempts * (0.5 + Math.random()));
    attempts += 1;
    const start = performance.now();
    try {
      return await work(session);
    } catch (error) {
      const isAged = isTransactionGone(error) && performance.now() - start > AGED_MS;
      if (isTransactionTooLarge(error) || isAged) throw tooLarge(error);
      throw error;
    }
  };
  return inTransaction(attempt, { maxAttempts: retries + 1, retryMs: RETRY_MS });
}

function tooLarge(cause: unknown): CdrError {
  return new CdrError(
    'transaction-too-large',
    'the EHR is too large to be merged in one transaction of this database, nothing was changed',
    { cause },
  );
}
