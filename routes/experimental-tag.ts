import Router from '@koa/router';
import type { Context } from 'koa';

import { CdrError } from '../base/errors.js';
import type { JsonObject, JsonValue } from '../base/json.js';
import { isJsonObject } from '../base/json.js';
import { isUuid } from '../base/object-version-id.js';
import type { TagAddress, TagEntry } from '../change/item-tag.js';
import { deleteTagsById, listTags, putTags } from '../change/item-tag.js';
import { requestBody, responseBody } from '../format/media-type.js';
import type { ItemTagDoc } from '../models/item-tag.js';
import { parsePrefer } from './prefer.js';
import { queryParameters } from './query-parameter.js';
import { requestState } from './request-state.js';
import { jsonArrayBody, optionalText, tagAddressFrom } from './tag-request.js';

/** Prefix of the item tag API of EHRbase clients, after the origin. */
export const EXPERIMENTAL_TAGS = '/rest/experimental/tags';

/** Item tags as clients of EHRbase know them (contract section 11, face A); paths below `EXPERIMENTAL_TAGS`. */
export function experimentalTagRoutes(): Router {
  const router = new Router();
  for (const resource of ['composition', 'ehr_status']) {
    const path = `/ehr/:ehr_id/${resource}/:uid_based_id/item_tag`;
    router.get(path, getTags);
    router.put(path, putTagEntries);
    router.delete(path, deleteTagList);
  }
  return router;
}

async function getTags(ctx: Context): Promise<void> {
  responseBody('item-tag', ctx.get('Accept'));
  const address = tagAddressFrom(ctx);
  const ids = queryParameters(ctx, 'ids').map(tagIdOf);
  const tags = await listTags(address, { ids, keys: queryParameters(ctx, 'keys') });
  ctx.body = tags.map(itemTagDto);
}

async function putTagEntries(ctx: Context): Promise<void> {
  requestBody('item-tag', ctx.get('Content-Type'));
  responseBody('item-tag', ctx.get('Accept'));
  const address = tagAddressFrom(ctx);
  const entries = (await jsonArrayBody(ctx)).map((value) => entryOf(value, address));
  const tags = await putTags(address, entries);
  const { returns, applied } = parsePrefer(ctx.get('Prefer'));
  if (applied !== '') ctx.set('Preference-Applied', applied);
  ctx.set('Location', `${requestState(ctx).origin}${ctx.path}`);
  ctx.body = returns === 'representation' ? tags.map(itemTagDto) : tags.map((tag) => tag._id);
}

async function deleteTagList(ctx: Context): Promise<void> {
  requestBody('item-tag', ctx.get('Content-Type'));
  const address = tagAddressFrom(ctx);
  const ids = (await jsonArrayBody(ctx)).map((value) => tagIdOf(isJsonObject(value) ? value.id : value));
  await deleteTagsById(address, ids);
  ctx.status = 204;
}

function entryOf(value: JsonValue, address: TagAddress): TagEntry {
  if (!isJsonObject(value)) throw new CdrError('invalid', 'each item tag must be an object');
  requireSameTarget(value, address);
  const id = optionalText(value, 'id');
  const targetPath = optionalText(value, 'target_path');
  return {
    id: id === null ? null : tagIdOf(id),
    key: optionalText(value, 'key') ?? '',
    value: optionalText(value, 'value'),
    targetPath: targetPath === '' ? null : targetPath,
  };
}

/** What a DTO repeats of the path must agree with it. */
function requireSameTarget(dto: JsonObject, { ehrId, type, objectId }: TagAddress): void {
  const target = optionalText(dto, 'target')?.toLowerCase().split('::')[0] ?? objectId;
  const targetType = optionalText(dto, 'target_type') ?? type;
  if (target !== objectId || targetType.toUpperCase() !== type)
    throw new CdrError('invalid', 'target and target_type must be those of the path');
  const owner = optionalText(dto, 'owner_id') ?? ehrId;
  if (owner.toLowerCase() !== ehrId.toLowerCase())
    throw new CdrError('unprocessable', 'owner_id must be the EHR of the path');
}

function tagIdOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string' || !isUuid(value))
    throw new CdrError('invalid', 'the id of an item tag must be a UUID');
  return value.toLowerCase();
}

/** ItemTagDto: ids as plain texts. */
function itemTagDto(tag: ItemTagDoc): JsonObject {
  return {
    id: tag._id,
    owner_id: tag.owner_id,
    target: tag.target,
    target_type: tag.target_type,
    ...(tag.target_path !== null && { target_path: tag.target_path }),
    key: tag.key,
    ...(tag.value !== null && { value: tag.value }),
  };
}
