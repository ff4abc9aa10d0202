import type Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import type { JsonObject } from '../../base/json.js';
import { toXml } from '../../format/canonical-xml.js';
import { responseBody, type BodyType } from '../../format/media-type.js';
import { audited } from '../http/audit-trail.js';
import { writeText } from '../http/exchange.js';
import { setFailureRecord, type FailureRecord } from '../http/failure-record.js';

/** What stands before every administration operation: token check and body. */
export interface AdminGuards {
  readonly authenticate: Middleware;
  readonly readBody: Middleware;
}

/** One administration operation. */
export interface AdminOperation {
  /** Name in the contract and in the audit, such as `deleteEhr`. */
  readonly name: string;
  readonly method: 'get' | 'put' | 'post' | 'delete';
  /** Below `/rest/admin`. */
  readonly path: string;
  /** Name of the success record: root element in XML. */
  readonly record: string;
  /** The record's fields with neutral values, repeated in an error body (contract, section 7). */
  readonly neutral: FailureRecord['fields'];
  /** true: the success is a string. */
  readonly isText?: boolean;
  readonly handle: (ctx: Context) => Promise<void> | void;
}

/**
 * Adds an operation to the router: its error record is known before the token is looked at, every call of a
 * known user is audited, and the token is judged before anything is looked up.
 */
export function addOperation(router: Router, guards: AdminGuards, operation: AdminOperation): void {
  const failure: Middleware = async (ctx: Context, next: Next) => {
    const { record: root, neutral: fields, isText = false } = operation;
    setFailureRecord(ctx, { root, fields, isText });
    await next();
  };
  const audit = audited({ operation: () => operation.name, recordsAnonymous: false });
  router[operation.method](
    operation.path,
    failure,
    audit,
    guards.authenticate,
    guards.readBody,
    async (ctx) => {
      await operation.handle(ctx);
    },
  );
}

/** Form of an administration answer, JSON or XML. @throws not-acceptable */
export function adminForm(ctx: Context): BodyType {
  return responseBody('admin', ctx.get('Accept'));
}

/** Answers a record with 200 (or the given status) as JSON or XML with the record's name as root. */
export function writeRecord(
  ctx: Context,
  form: BodyType,
  answer: { readonly record: string; readonly fields: JsonObject; readonly status?: number },
): void {
  ctx.status = answer.status ?? 200;
  const text = form.format === 'XML' ? toXml(answer.fields, answer.record) : JSON.stringify(answer.fields);
  writeText(ctx, form, text);
}
