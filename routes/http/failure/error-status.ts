import { STATUS_CODES } from 'node:http';
import type { Context } from 'koa';
import type { CdrError, ErrorCode, ErrorDetails, ErrorObstacle } from '../../../openehr/base/errors.js';
import { violationText } from '../../../openehr/base/violation.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import { violationsBody } from './violations-body.js';

/** HTTP status of every error code: docs/spec/rest.md#statuses */
export const ERROR_STATUS = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'restricted-read': 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  timeout: 408,
  conflict: 409,
  restricted: 409,
  'precondition-failed': 412,
  'too-large': 413,
  'uri-too-long': 414,
  'unsupported-media-type': 415,
  unprocessable: 422,
  'query-too-large': 422,
  'too-many-requests': 429,
  'transaction-too-large': 500,
  'not-implemented': 501,
  'bad-gateway': 502,
  unavailable: 503,
  'outcome-unknown': 503,
} as const satisfies Record<ErrorCode, number>;

/** Text of every answer to an HTTP method or operation that this server does not know. */
export const NOT_IMPLEMENTED_MESSAGE =
  'The current operation is not supported by this server. Please contact your administrator.';

/** The error body of the standard API: docs/spec/rest.md#error-body */
export function errorBody(
  status: number,
  message: string,
  code: ErrorCode | 'internal',
  { violations = [], problems = [] }: Pick<ErrorDetails, 'violations' | 'problems'> = {},
): JsonObject {
  const body: JsonObject = { error: STATUS_CODES[status] ?? 'Error', message, code: codeWord(code) };
  if (violations.length > 0) body.validationErrors = violations.map(violationText);
  const all = [...violations, ...problems];
  if (all.length > 0) body.violations = violationsBody(all);
  return body;
}

/** A code as answers have it: the status tells reads from writes. */
export function codeWord(code: ErrorCode | 'internal'): string {
  return code === 'restricted-read' ? 'restricted' : code;
}

/** Status and body of a `CdrError`. */
export function errorAnswer(error: CdrError): { readonly status: number; readonly body: JsonObject } {
  const status = ERROR_STATUS[error.code];
  const body = errorBody(status, error.message, error.code, error.details);
  if (error.details.reasons !== undefined) body.reasons = [...error.details.reasons];
  if (error.details.obstacles !== undefined) body.obstacles = error.details.obstacles.map(obstacleJson);
  if (error.details.marks !== undefined) body.marks = [...error.details.marks];
  if (error.details.plan !== undefined) body.plan = error.details.plan;
  return { status, body };
}

/** An obstacle as JSON, without what is not known of it. */
function obstacleJson({
  object_ids: ids,
  contribution_uid: uid,
  choices,
  ...text
}: ErrorObstacle): JsonObject {
  return {
    ...text,
    object_ids: [...ids],
    choices: [...choices],
    ...(uid !== undefined && { contribution_uid: uid }),
  };
}

/** How the error body of an administration operation begins: its own success record with neutral values. */
export interface FailureRecord {
  /** Root element in XML. */
  readonly root: string;
  /** May repeat the message. */
  readonly fields: JsonObject | ((message: string) => JsonObject);
  /** true: the success is a string, so the message alone is the answer to who wants `text/plain`. */
  readonly isText?: boolean;
}

/** Sets the record for the request under way. */
export function setFailureRecord(ctx: Context, record: FailureRecord): void {
  ctx.state.failureRecord = record;
}

/** The record of the request, null for operations of the standard API. */
export function failureRecord(ctx: Context): FailureRecord | null {
  return ctx.state.failureRecord ?? null;
}
