import type { Context } from 'koa';

import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { isJsonObject } from '../../openehr/base/json.js';
import { formatObjectVersionId } from '../../openehr/base/object-version-id.js';
import type { Settings } from '../../config/settings.js';
import {
  deleteTagsByKey,
  listEhrTags,
  listTags,
  replaceTags,
  type TagAddress,
} from '../../change/item-tag/item-tag.js';
import type { TagContent } from '../../change/item-tag/tag-content.js';
import { requestBody, responseBody } from '../http/negotiation/media-type.js';
import type { ItemTagDoc, TagTargetType } from '../../models/item-tag.js';
import type { BodyDescription, Operation, OperationGroup } from '../http/operation/operation.js';
import { pathParameter, queryParameters } from '../http/parameter-values.js';
import { parsePrefer } from '../http/request/prefer.js';
import { STANDARD_API } from '../http/request/request-state.js';
import { jsonArrayBody, optionalText, TAG_RESOURCES, tagAddressFrom } from './tag-headers.js';

const TAG_MEMBERS = ['key', 'value', 'target_path', 'target', 'owner_id'];

const EHR = `${STANDARD_API}/ehr/{ehr_id}`;
const TAGS: BodyDescription = { schema: 'ItemTagList', types: 'json' };

/** Item tags of ITS-REST development, by their keys. */
export function itemTagOperations(settings: Settings): OperationGroup {
  return {
    tag: 'ITEM_TAG',
    description: 'Tags of versions and containers, outside versioning (ITS-REST development, experimental)',
    operations: [
      {
        id: 'ehr_tags_get',
        discloses: 'read',
        method: 'GET',
        path: `${EHR}/tags`,
        summary: 'List all tags in an EHR',
        access: 'read',
        audit: 'read',
        parameters: ['tag_key', 'tag_value', 'tag_target_path'],
        responses: { 200: { description: 'The tags; may be empty', body: TAGS } },
        errors: [400, 404],
        handle: getEhrTags,
      },
      ...resourceOperations('composition', settings),
      ...resourceOperations('ehr_status', settings),
    ],
  };
}

function resourceOperations(resource: keyof typeof TAG_RESOURCES, settings: Settings): Operation[] {
  const type = TAG_RESOURCES[resource];
  const path = `${EHR}/${resource}/{uid_based_id}/tags`;
  return [
    {
      id: `${resource}_tags_get`,
      discloses: 'read',
      method: 'GET',
      path,
      summary: 'List the tags of a target',
      access: 'read',
      audit: 'read',
      responses: { 200: { description: 'The tags; may be empty', body: TAGS } },
      errors: [400, 404],
      handle: async (ctx) => {
        responseBody('item-tag', ctx.get('Accept'));
        const address = tagAddressFrom(ctx, type);
        ctx.body = (await listTags(address)).map((tag) => itemTag(tag, uidOf(address)));
      },
    },
    {
      id: `${resource}_tags_update`,
      discloses: 'update',
      method: 'PUT',
      path,
      summary: 'Replace all tags of a target',
      access: 'write',
      audit: 'write',
      parameters: ['Prefer'],
      request: { schema: 'ItemTagUpdate', types: 'json' },
      responses: {
        200: { description: 'Replaced; the tags only when `Prefer` asks for them', body: TAGS },
        ...(settings.preferMinimalUpdateStatus === 204 && { 204: { description: 'Replaced' } }),
      },
      errors: [400, 404, 409],
      handle: (ctx) => putTagList(ctx, type, settings),
    },
    {
      id: `${resource}_tags_delete`,
      discloses: 'update',
      method: 'DELETE',
      path: `${path}/{key}`,
      summary: 'Delete the tags of a target that have this key',
      access: 'write',
      audit: 'write',
      responses: { 204: { description: 'Deleted' } },
      errors: [400, 404, 409],
      handle: async (ctx) => {
        await deleteTagsByKey(tagAddressFrom(ctx, type), pathParameter(ctx, 'key'));
        ctx.status = 204;
      },
    },
  ];
}

async function getEhrTags(ctx: Context): Promise<void> {
  responseBody('item-tag', ctx.get('Accept'));
  const tags = await listEhrTags(pathParameter(ctx, 'ehr_id'), {
    keys: queryParameters(ctx, 'tag_key'),
    values: queryParameters(ctx, 'tag_value'),
    targetPaths: queryParameters(ctx, 'tag_target_path'),
  });
  ctx.body = tags.map(({ tag, uid }) => itemTag(tag, uid));
}

async function putTagList(ctx: Context, type: TagTargetType, settings: Settings): Promise<void> {
  requestBody('item-tag', ctx.get('Content-Type'));
  responseBody('item-tag', ctx.get('Accept'));
  const address = tagAddressFrom(ctx, type);
  const contents = (await jsonArrayBody(ctx)).map(contentOf);
  const tags = await replaceTags(address, contents);
  const { returns, applied } = parsePrefer(ctx.get('Prefer'), ctx.state.preferDefault);
  if (applied !== '') ctx.set('Preference-Applied', applied);
  if (returns === 'representation') ctx.body = tags.map((tag) => itemTag(tag, uidOf(address)));
  else {
    ctx.status = settings.preferMinimalUpdateStatus;
    ctx.body = ctx.status === 204 ? null : '';
    ctx.remove('Content-Type');
  }
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

/** The uid of what a path names. */
function uidOf({ versionedObjectUid, version }: TagAddress): string {
  return version === null ? versionedObjectUid : formatObjectVersionId(version);
}

/** ITEM_TAG of RM common: `target` is a UID_BASED_ID, `owner_id` an OBJECT_REF. `uid`: of the container or version that it is on. */
function itemTag(tag: ItemTagDoc, uid: string): JsonObject {
  const _type = tag.target_version === null ? 'HIER_OBJECT_ID' : 'OBJECT_VERSION_ID';
  return {
    key: tag.key,
    ...(tag.value !== null && { value: tag.value }),
    ...(tag.target_path !== null && { target_path: tag.target_path }),
    target: { _type, value: uid },
    owner_id: {
      _type: 'OBJECT_REF',
      id: { _type: 'HIER_OBJECT_ID', value: tag.owner_id },
      namespace: 'local',
      type: 'EHR',
    },
  };
}
