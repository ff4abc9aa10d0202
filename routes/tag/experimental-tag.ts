import type { Context } from 'koa';

import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { isJsonObject } from '../../openehr/base/json.js';
import { isUuid, rootOfUid } from '../../openehr/base/object-version-id.js';
import { itemTagDto } from '../../change/item-tag/item-tag-dto.js';
import type { TagAddress, TagEntry } from '../../change/item-tag/item-tag.js';
import { deleteTagsById, listTags, putTags } from '../../change/item-tag/item-tag.js';
import { requestBody, responseBody } from '../http/negotiation/media-type.js';
import type { TagTargetType } from '../../models/item-tag.js';
import type { BodyDescription, Operation, OperationGroup } from '../http/operation/operation.js';
import { filledPath } from '../http/operation-table.js';
import { queryParameters } from '../http/parameter-values.js';
import { parsePrefer } from '../http/request/prefer.js';
import { currentOperation } from '../http/request/request-state.js';
import { jsonArrayBody, optionalText, TAG_RESOURCES, tagAddressFrom } from './tag-headers.js';

const EHR = '/rest/experimental/tags/ehr/{ehr_id}';
const DTOS: BodyDescription = { schema: 'ItemTagDtoList', types: 'json' };
const IDS: BodyDescription = { schema: 'ItemTagIds', types: 'json' };

/** The same tags by their ids, as clients of EHRbase know them. */
export function experimentalTagOperations(): OperationGroup {
  return {
    tag: 'ITEM_TAG of EHRbase',
    description: 'The same tags by their ids, as clients of EHRbase know them',
    operations: [...resourceOperations('composition'), ...resourceOperations('ehr_status')],
  };
}

function resourceOperations(resource: keyof typeof TAG_RESOURCES): Operation[] {
  const type = TAG_RESOURCES[resource];
  const path = `${EHR}/${resource}/{uid_based_id}/item_tag`;
  return [
    {
      id: `${resource}_item_tag_get`,
      discloses: 'read',
      method: 'GET',
      path,
      summary: 'List the tags of a target',
      access: 'read',
      audit: 'read',
      parameters: ['ids', 'keys'],
      responses: { 200: { description: 'The tags; may be empty', body: DTOS } },
      errors: [400, 404],
      handle: (ctx) => getTags(ctx, type),
    },
    {
      id: `${resource}_item_tag_put`,
      discloses: 'update',
      method: 'PUT',
      path,
      summary: 'Add tags, or change those whose id is given',
      access: 'write',
      audit: 'write',
      parameters: ['Prefer'],
      request: DTOS,
      responses: {
        200: {
          description: 'Ids of the tags, or the tags when `Prefer` asks for them',
          body: IDS,
          headers: ['Location'],
        },
      },
      errors: [400, 404, 409, 422],
      handle: (ctx) => putTagEntries(ctx, type),
    },
    {
      id: `${resource}_item_tag_delete`,
      discloses: 'update',
      method: 'DELETE',
      path,
      summary: 'Delete tags by their ids; unknown ids are ignored',
      access: 'write',
      audit: 'write',
      request: IDS,
      responses: { 204: { description: 'Deleted' } },
      errors: [400, 404, 409, 422],
      handle: (ctx) => deleteTagList(ctx, type),
    },
  ];
}

async function getTags(ctx: Context, type: TagTargetType): Promise<void> {
  responseBody('item-tag', ctx.get('Accept'));
  const address = tagAddressFrom(ctx, type);
  const ids = queryParameters(ctx, 'ids');
  const tags = await listTags(address, { ids, keys: queryParameters(ctx, 'keys') });
  ctx.body = tags.map(itemTagDto);
}

async function putTagEntries(ctx: Context, type: TagTargetType): Promise<void> {
  requestBody('item-tag', ctx.get('Content-Type'));
  responseBody('item-tag', ctx.get('Accept'));
  const address = tagAddressFrom(ctx, type);
  const entries = (await jsonArrayBody(ctx)).map((value) => entryOf(value, address));
  const tags = await putTags(address, entries);
  const { returns, applied } = parsePrefer(ctx.get('Prefer'), ctx.state.preferDefault);
  if (applied !== '') ctx.set('Preference-Applied', applied);
  ctx.set('Location', `${ctx.state.baseUrl}${filledPath(currentOperation(ctx))}`);
  ctx.body = returns === 'representation' ? tags.map(itemTagDto) : tags.map((tag) => tag._id);
}

async function deleteTagList(ctx: Context, type: TagTargetType): Promise<void> {
  requestBody('item-tag', ctx.get('Content-Type'));
  const address = tagAddressFrom(ctx, type);
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
function requireSameTarget(dto: JsonObject, { ehrId, type, versionedObjectUid }: TagAddress): void {
  const target = rootOfUid(optionalText(dto, 'target')?.toLowerCase() ?? versionedObjectUid);
  const targetType = optionalText(dto, 'target_type') ?? type;
  if (target !== versionedObjectUid || targetType.toUpperCase() !== type)
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
