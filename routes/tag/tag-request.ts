import type { Context } from 'koa';

import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import type { TagAddress } from '../../change/item-tag/item-tag.js';
import { pathParameter } from '../http/request/parameter-values.js';
import { parseJsonBody } from '../http/request/request-body.js';

/** The two kinds of targets and their words in paths. */
export const TAG_RESOURCES = { composition: 'COMPOSITION', ehr_status: 'EHR_STATUS' } as const;

/** What the path `…/{composition|ehr_status}/{uid_based_id}/…` names. @throws invalid when an id is malformed */
export function tagAddressFrom(ctx: Context, type: TagAddress['type']): TagAddress {
  const ehrId = pathParameter(ctx, 'ehr_id');
  const uid = pathParameter(ctx, 'uid_based_id');
  return 'id' in uid
    ? { ehrId, type, versionedObjectUid: uid.id.versionedObjectUid, version: uid.id }
    : { ehrId, type, versionedObjectUid: uid.versionedObjectUid, version: null };
}

/** The body, a JSON array. @throws invalid when it is anything else */
export async function jsonArrayBody(ctx: Context): Promise<readonly JsonValue[]> {
  const text: unknown = ctx.request.body;
  if (typeof text !== 'string') throw new CdrError('invalid', 'Required request body is missing');
  const value = await parseJsonBody(ctx, text);
  if (!Array.isArray(value)) throw new CdrError('invalid', 'the body must be an array');
  return value;
}

/** A text member of a JSON object, null when absent or null. @throws invalid for any other type */
export function optionalText(object: JsonObject, name: string): string | null {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new CdrError('invalid', `${name} must be a text`);
  return value;
}
