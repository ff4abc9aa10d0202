import Router from '@koa/router';
import type { Context } from 'koa';

import { CdrError } from '../base/errors.js';
import type { JsonObject, JsonValue } from '../base/json.js';
import { isJsonObject } from '../base/json.js';
import type { Settings } from '../base/settings.js';
import { deleteTagsByKey, listEhrTags, listTags, replaceTags } from '../change/item-tag.js';
import type { TagContent } from '../change/tag-content.js';
import { requestBody, responseBody } from '../format/media-type.js';
import type { ItemTagDoc } from '../models/item-tag.js';
import { ehrIdFrom } from './path-ids.js';
import { parsePrefer } from './prefer.js';
import { queryParameters } from './query-parameter.js';
import { jsonArrayBody, optionalText, tagAddressFrom } from './tag-request.js';

const TAG_MEMBERS = ['key', 'value', 'target_path', 'target', 'owner_id'];

/** Item tags of ITS-REST development (contract section 11, face B). */
export function itemTagRoutes(settings: Settings): Router {
  const router = new Router();
  router.get('/ehr/:ehr_id/tags', getEhrTags(settings));
  for (const resource of ['composition', 'ehr_status']) {
    const path = `/ehr/:ehr_id/${resource}/:uid_based_id/tags`;
    router.get(path, getTags(settings));
    router.put(path, putTagList(settings));
    router.delete(`${path}/:key`, deleteTag);
  }
  return router;
}

function getEhrTags(settings: Settings) {
  return async (ctx: Context): Promise<void> => {
    responseBody('item-tag', ctx.get('Accept'));
    const tags = await listEhrTags(ehrIdFrom(ctx), {
      keys: queryParameters(ctx, 'tag_key'),
      values: queryParameters(ctx, 'tag_value'),
      targetPaths: queryParameters(ctx, 'tag_target_path'),
    });
    ctx.body = tags.map((tag) => itemTag(tag, settings.systemId));
  };
}

function getTags(settings: Settings) {
  return async (ctx: Context): Promise<void> => {
    responseBody('item-tag', ctx.get('Accept'));
    const tags = await listTags(tagAddressFrom(ctx));
    ctx.body = tags.map((tag) => itemTag(tag, settings.systemId));
  };
}

function putTagList(settings: Settings) {
  return async (ctx: Context): Promise<void> => {
    requestBody('item-tag', ctx.get('Content-Type'));
    responseBody('item-tag', ctx.get('Accept'));
    const address = tagAddressFrom(ctx);
    const contents = (await jsonArrayBody(ctx)).map(contentOf);
    const tags = await replaceTags(address, contents);
    const { returns, applied } = parsePrefer(ctx.get('Prefer'));
    if (applied !== '') ctx.set('Preference-Applied', applied);
    if (returns === 'representation') ctx.body = tags.map((tag) => itemTag(tag, settings.systemId));
    else {
      ctx.status = settings.preferMinimalUpdateStatus;
      ctx.body = ctx.status === 204 ? null : '';
      ctx.remove('Content-Type');
    }
  };
}

async function deleteTag(ctx: Context): Promise<void> {
  await deleteTagsByKey(tagAddressFrom(ctx), (ctx.params as Record<string, string>).key ?? '');
  ctx.status = 204;
}

function contentOf(value: JsonValue): TagContent {
  if (!isJsonObject(value) || typeof value.key !== 'string')
    throw new CdrError('invalid', 'each item tag must be an object with a key');
  const unknown = Object.keys(value).find((name) => !TAG_MEMBERS.includes(name));
  if (unknown !== undefined) throw new CdrError('invalid', 'an item tag has key, value and target_path only');
  const targetPath = optionalText(value, 'target_path');
  return {
    key: value.key,
    value: optionalText(value, 'value'),
    targetPath: targetPath === '' ? null : targetPath,
  };
}

/** ITEM_TAG of RM common: `target` and `owner_id` as OBJECT_REFs. */
function itemTag(tag: ItemTagDoc, systemId: string): JsonObject {
  const { target, target_type, target_version } = tag;
  const isContainer = target_version === null;
  const id: JsonObject = isContainer
    ? { _type: 'HIER_OBJECT_ID', value: target }
    : { _type: 'OBJECT_VERSION_ID', value: `${target}::${systemId}::${target_version}` };
  return {
    key: tag.key,
    ...(tag.value !== null && { value: tag.value }),
    ...(tag.target_path !== null && { target_path: tag.target_path }),
    target: {
      _type: 'OBJECT_REF',
      id,
      namespace: 'local',
      type: isContainer ? `VERSIONED_${target_type}` : target_type,
    },
    owner_id: {
      _type: 'OBJECT_REF',
      id: { _type: 'HIER_OBJECT_ID', value: tag.owner_id },
      namespace: 'local',
      type: 'EHR',
    },
  };
}
