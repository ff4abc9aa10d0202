/** The one way to write several documents together. */
import { AsyncLocalStorage } from 'node:async_hooks';
import mongoose, { type ClientSession } from 'mongoose';
import { CdrError } from '../openehr/base/errors.js';
import { DatabaseAway, isUnavailable, isUnknownCommit } from './mongo-error.js';

/** What travels beside a call, so that no function on the way needs a parameter for it; others add what is theirs. */
export interface Ambient {
  /** Of the transaction under way, as mongoose asks for it. */
  readonly session?: ClientSession;
  /** One object for each attempt of a transaction: what is memoized under it ends with an attempt that failed. */
  readonly attempt?: object;
}

/**
 * The one asynchronous context of the process: Node.js 20 hands each of them on with every promise that is made, whoever makes
 * it, so whatever travels shares this one. Who adds to it keeps the rest: `{ ...ambient.getStore(), mine }`.
 */
export const ambient = new AsyncLocalStorage<Ambient>();

/** How often work may be tried again when it met a concurrent change. */
export interface TransactionOptions {
  /** Attempts in all; default: as many as fit into the time. */
  readonly maxAttempts?: number;
  /** No attempt starts later than this after the first; default: `WRITE_WAIT_MS`. */
  readonly retryMs?: number;
}

/** How long a write waits for others before it, in milliseconds, unless its connection says otherwise. */
export const WRITE_WAIT_MS = 10_000;
const RETRY_AFTER_S = 1;
const LOST_COMMIT =
  'The database went away while the change was being committed: it may have been carried out or not';
const HOW_TO_GO_ON =
  'Send the request again with the same Idempotency-Key, or read the resource before sending it without one';
let writeWaitMs = WRITE_WAIT_MS;

/** From now on what mongoose does inside a transaction joins it; its own setting would make an asynchronous context more. */
export function joinTransactions(): void {
  Object.assign(mongoose, { transactionAsyncLocalStorage: ambient });
}

/** From now on transactions are tried again for so long. */
export function setWriteWait(milliseconds: number): void {
  writeWaitMs = milliseconds;
}

/**
 * Runs `work` in one transaction and answers what it answers. Model calls inside join by themselves, native
 * collection calls only with the session passed to them. `work` may run several times: no effects other than
 * database writes, calls one after another, no swallowed database error.
 *
 * @throws CdrError `conflict` when concurrent changes did not let it through in `maxAttempts`, `unavailable` when
 * they did not in the time, or transactions before it took too long; `outcome-unknown` when it may have been committed; DatabaseAway when the database went away; Error when called inside another transaction; whatever `work` throws
 */
export async function inTransaction<T>(
  work: (session: ClientSession) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const outer = ambient.getStore();
  if (outer?.session !== undefined) throw new Error('a transaction cannot be started inside another one');
  const bound = new RetryBound(options);
  try {
    return await mongoose.connection.transaction<T>(
      (session) => {
        bound.watchCommits(session);
        return bound.attempt(() => ambient.run({ ...outer, session, attempt: {} }, () => work(session)));
      },
      {
        readConcern: { level: 'snapshot' },
        writeConcern: new mongoose.mongo.WriteConcern('majority', undefined, true),
        readPreference: 'primary',
      },
    );
  } catch (error) {
    throw bound.meaningOf(error);
  }
}

/**
 * Says to whoever asked for a write that it may have been carried out, and what to do. The driver asks whatever a commit throws
 * for its labels.
 */
export function outcomeUnknown(cause: unknown, what = LOST_COMMIT): CdrError {
  if (cause instanceof CdrError && cause.code === 'outcome-unknown') return cause;
  const message = `${what}. ${HOW_TO_GO_ON}`;
  const error = new CdrError('outcome-unknown', message, { cause, retryAfterSeconds: RETRY_AFTER_S });
  return Object.assign(error, { hasErrorLabel: () => false });
}

/** Ends the driver's retries, which go on for two minutes, earlier. */
class RetryBound {
  readonly #maxAttempts: number;
  readonly #deadline: number;
  #attempts = 0;
  #lastError: unknown;
  #failedAt = 0;
  #watched: ClientSession | null = null;
  /** The failure of a commit that may have been carried out: what fails after it does not tell that nothing was written. */
  #lostCommit: unknown;

  constructor(options: TransactionOptions) {
    this.#maxAttempts = options.maxAttempts ?? Infinity;
    this.#deadline = performance.now() + (options.retryMs ?? writeWaitMs);
  }

  /** Learns of each failed commit, of which the driver repeats some by itself for two minutes: here no longer than the work. */
  watchCommits(session: ClientSession): void {
    if (this.#watched === session) return;
    this.#watched = session;
    const commit = session.commitTransaction.bind(session);
    session.commitTransaction = async (...options) => {
      try {
        await commit(...options);
      } catch (error) {
        if (isUnknownCommit(error)) this.#lostCommit = error;
        if (this.#lostCommit !== undefined && performance.now() > this.#deadline) throw outcomeUnknown(error);
        throw error;
      }
    };
  }

  /** What the caller is told of a failed transaction. */
  meaningOf(error: unknown): unknown {
    return this.#lostCommit === undefined ? error : outcomeUnknown(error);
  }

  async attempt<T>(work: () => Promise<T>): Promise<T> {
    this.#attempts += 1;
    if (this.#attempts > this.#maxAttempts) throw this.#givenUp(false);
    if (this.#attempts > 1 && performance.now() > this.#deadline) throw this.#givenUp(true);
    if (this.#isAway()) throw new DatabaseAway('the database went away', { cause: this.#lastError });
    try {
      return await work();
    } catch (error) {
      this.#lastError = error;
      this.#failedAt = performance.now();
      throw error;
    }
  }

  /** Ending the attempt before took as long as one waits for a server: a further attempt would wait once more. */
  #isAway(): boolean {
    const { serverSelectionTimeoutMS } = mongoose.connection.getClient().options;
    return isUnavailable(this.#lastError) && performance.now() - this.#failedAt >= serverSelectionTimeoutMS;
  }

  /** Conflicts for so long are those with one that takes its time, such as a merge: it may be tried again later. */
  #givenUp(isLate: boolean): CdrError {
    const cause = this.#lastError;
    return isLate || isUnavailable(cause)
      ? new CdrError('unavailable', 'The database is busy', { cause, retryAfterSeconds: RETRY_AFTER_S })
      : new CdrError('conflict', 'The data was changed by others at the same time', { cause });
  }
}
