import type { Context } from 'koa';
import type { JsonObject } from '../../../openehr/base/json.js';

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
