/** Telling the few database errors apart that the product answers itself. */
import mongoose from 'mongoose';

const DUPLICATE_KEY = 11000;
const MAX_TIME_EXPIRED = 50;
const LOCK_TIMEOUT = 24;
/** TransactionTooLarge; since 6.2 TransactionTooLargeForCache. */
const TRANSACTION_TOO_LARGE: readonly unknown[] = [257, 313];
const NO_SUCH_TRANSACTION = 251;
/**
 * What a cluster answers while nothing is wrong with the command: ShutdownInProgress, PrimarySteppedDown, NotWritablePrimary and kin;
 * HostUnreachable, HostNotFound, NetworkTimeout, NetworkInterfaceExceededTimeLimit, SocketException between its members; ExceededTimeLimit,
 * MaxTimeMSExpired by the server's own limit; Interrupted, CursorNotFound, CursorKilled; ReadConcernMajorityNotAvailableYet.
 */
const AWAY: ReadonlySet<unknown> = new Set([
  ...[91, 189, 10107, 11600, 11602, 13435, 13436],
  ...[6, 7, 89, 202, 9001],
  ...[262, MAX_TIME_EXPIRED],
  ...[11601, 43, 237],
  134,
]);

/** Whether a unique index refused a write (E11000). */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoError && error.code === DUPLICATE_KEY;
}

/** Key pattern of the unique index that refused, e.g. `{ ehr_id: 1 }`; null when the error is another one. */
export function duplicateKeyIndex(error: unknown): Readonly<Record<string, unknown>> | null {
  if (!isDuplicateKey(error)) return null;
  const first = firstWriteError(error);
  return recordOf(first, 'keyPattern') ?? recordOf(recordOf(first, 'err'), 'keyPattern');
}

/** Whether an operation ran into its `maxTimeMS`. */
export function isTimeLimit(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoError && error.code === MAX_TIME_EXPIRED;
}

/** The database was away for as long as a request waits for it. */
export class DatabaseAway extends Error {}

/** Whether the database cannot be reached, has no primary, ended the command for reasons of its own, or its queue of transactions is full. */
export function isUnavailable(error: unknown): boolean {
  const { mongo } = mongoose;
  // A bulk write wraps what ended it.
  if (error instanceof mongo.MongoBulkWriteError && error.errorResponse instanceof Error)
    return isUnavailable(error.errorResponse);
  if (
    error instanceof DatabaseAway ||
    error instanceof mongo.MongoServerSelectionError ||
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoNotConnectedError ||
    error instanceof mongo.MongoTopologyClosedError ||
    error instanceof mongo.MongoServerClosedError ||
    isSocketFailure(error)
  )
    return true;
  return error instanceof mongo.MongoError && (error.code === LOCK_TIMEOUT || AWAY.has(error.code));
}

const LOST_CONNECTION: readonly unknown[] = [
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
];

/** Whatever ends a connection while the driver waits to write a command, it passes on as Node.js gives it. */
function isSocketFailure(error: unknown): boolean {
  return error instanceof Error && LOST_CONNECTION.includes((error as NodeJS.ErrnoException).code);
}

/** Whether a commit may have been carried out though it failed: its answer was lost, or the majority has not confirmed it. */
export function isUnknownCommit(error: unknown): boolean {
  const { mongo } = mongoose;
  return (
    isUnavailable(error) ||
    (error instanceof mongo.MongoError &&
      (error.hasErrorLabel(mongo.MongoErrorLabel.UnknownTransactionCommitResult) || isTransactionGone(error)))
  );
}

/** Whether a transaction changes more than the server can hold. */
export function isTransactionTooLarge(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoError && TRANSACTION_TOO_LARGE.includes(error.code);
}

/** Whether the server ended a transaction by itself: mostly because it lived too long. */
export function isTransactionGone(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoError && error.code === NO_SUCH_TRANSACTION;
}

/** Where the server's answer is: bulk writes carry it in a list or map of single errors. */
function firstWriteError(error: unknown): object {
  const single = recordOf(error, 'keyPattern') !== null ? error : null;
  if (single !== null && typeof single === 'object') return single;
  const listed: unknown = recordOf(error, 'writeErrors');
  const all: readonly unknown[] =
    listed instanceof Map ? [...listed.values()] : Array.isArray(listed) ? listed : [];
  const [first] = all;
  return typeof first === 'object' && first !== null ? first : {};
}

function recordOf(holder: unknown, name: string): Record<string, unknown> | null {
  if (typeof holder !== 'object' || holder === null) return null;
  const value = (holder as Record<string, unknown>)[name];
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}
