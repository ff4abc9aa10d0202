import type { Context } from 'koa';
import type { JsonObject } from '../../openehr/base/json.js';
import { toXml } from '../../openehr/format/canonical-xml.js';
import { responseBody, type BodyType } from '../http/negotiation/media-type.js';
import { writeText } from '../http/exchange.js';
import type { Operation } from '../http/operation/operation.js';

/** Prefix of the administration API. */
const ADMIN = '/rest/admin';

/** What the row of an administration operation says; the rest follows from its being one. */
type AdminRow = Omit<Operation, 'access' | 'audit' | 'errors' | 'path'> &
  Partial<Pick<Operation, 'access' | 'errors'>> & {
    /** Below the administration API. */
    readonly path: string;
  };

/** An operation of the administration API: needs the permission `admin` unless it names another, and is recorded. */
export function adminOperation({ path, ...row }: AdminRow): Operation {
  return { access: 'admin', errors: [], ...row, audit: 'admin', path: `${ADMIN}${path}` };
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
