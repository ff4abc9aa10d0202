/** Replies of the front's own, in the shape of the server's. */
import { asNumber, asText, fieldOf, asDocuments } from './bson-slice.js';
import { encode, type BsonValue } from './bson-write.js';

/** Server error codes that the front gives, with their names. */
const CODE_NAMES: Readonly<Record<number, string>> = {
  13: 'Unauthorized',
  18: 'AuthenticationFailed',
  22: 'InvalidBSON',
  24: 'LockTimeout',
  50: 'MaxTimeMSExpired',
  59: 'CommandNotFound',
  72: 'InvalidOptions',
  117: 'ConflictingOperationInProgress',
  225: 'TransactionTooOld',
  251: 'NoSuchTransaction',
  256: 'TransactionCommitted',
  257: 'TransactionTooLarge',
  263: 'OperationNotSupportedInTransaction',
  352: 'UnsupportedOpQueryCommand',
  91: 'ShutdownInProgress',
  1: 'InternalError',
};

/** Label by which drivers know that a whole transaction may be tried again. */
export const TRANSIENT = 'TransientTransactionError';

/** A failure that becomes a reply. */
export class CommandError extends Error {
  /** `labels`: error labels for the driver. */
  constructor(
    readonly code: number,
    message: string,
    readonly labels: readonly string[] = [],
  ) {
    super(message);
  }
}

/** `{…fields, ok: 1}`. */
export function okReply(content: Readonly<Record<string, BsonValue | undefined>> = {}): Buffer {
  return encode({ ...content, ok: 1.0 });
}

/** The reply for a failed command. */
export function errorReply(error: CommandError): Buffer {
  return encode({
    ok: 0,
    errmsg: error.message,
    code: error.code,
    codeName: CODE_NAMES[error.code] ?? `Location${error.code}`,
    errorLabels: error.labels.length === 0 ? undefined : error.labels,
  });
}

/** Whether a reply reports success in every part: `ok: 1`, no `writeErrors`, no `nErrors`. */
export function isSuccess(reply: Buffer): boolean {
  return (
    asNumber(fieldOf(reply, 'ok')) === 1 &&
    asDocuments(fieldOf(reply, 'writeErrors')).length === 0 &&
    (asNumber(fieldOf(reply, 'nErrors')) ?? 0) === 0
  );
}

/** Code and message of a failed reply, for messages and decisions. */
export function failureOf(reply: Buffer): { readonly code: number; readonly message: string } {
  const source = asDocuments(fieldOf(reply, 'writeErrors'))[0] ?? reply;
  return {
    code: asNumber(fieldOf(source, 'code')) ?? 0,
    message: asText(fieldOf(source, 'errmsg')) ?? 'no message',
  };
}
