import type { Context } from 'koa';
import { exchangeTags, tagTarget, type TagAddress } from '../../change/item-tag/item-tag.js';
import { type TagContent, requireTags } from '../../change/item-tag/tag-content.js';
import type { ItemTagDoc, TagTargetType } from '../../models/item-tag.js';
import { formatTags, parseTags } from './tag-header-text.js';
import { requestVendorWord, vendorHeader } from '../http/request/headers.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { pathParameter } from '../http/parameter-values.js';
import { parseJsonBody } from '../http/request/request-body.js';

/** Of each of the two headers: common clients and proxies refuse an answer with more than 8 or 16 KiB of all headers. */
const MAX_HEADER_BYTES = 3072;

/** The tags that a write names in its headers; null = header absent, leave the tags as they are. */
export interface HeaderTags {
  /** `openehr-item-tag`: tags of the container. */
  readonly container: readonly TagContent[] | null;
  /** `openehr-version-item-tag`: tags of the version that the write makes. */
  readonly version: readonly TagContent[] | null;
}

/** Reads both tag headers. @throws invalid for bad syntax or a bad tag */
export function readTagHeaders(ctx: Context): HeaderTags {
  return {
    container: tagsOf(vendorHeader(ctx, 'item-tag')),
    version: tagsOf(vendorHeader(ctx, 'version-item-tag')),
  };
}

/** Tags belong to COMPOSITIONs and EHR_STATUSes here: one that is sent with a FOLDER would be lost. @throws invalid */
export function refuseTagHeaders(ctx: Context): void {
  for (const name of ['item-tag', 'version-item-tag'])
    if (vendorHeader(ctx, name) !== null)
      throw new CdrError(
        'invalid',
        `the header openehr-${name} is not possible with a FOLDER, which has no tags`,
      );
}

/** Stores the tags of the headers inside the transaction that makes `versionUid`, which holds the EHR. */
export async function storeHeaderTags(
  ehrId: string,
  type: TagTargetType,
  versionUid: string,
  tags: HeaderTags,
): Promise<void> {
  const version = tagTarget(ehrId, type, versionUid);
  if (tags.container !== null) await exchangeTags({ ...version, target_version: null }, tags.container);
  if (tags.version !== null) await exchangeTags(version, tags.version);
}

/** Sets the tag headers of an answer about one version, from the tags of its container; none without tags. */
export function setTagHeaders(ctx: Context, version: number, tags: readonly ItemTagDoc[]): void {
  if (tags.length === 0) return;
  const word = requestVendorWord(ctx);
  setHeader(
    ctx,
    `${word}-item-tag`,
    tags.filter((tag) => tag.target_version === null),
  );
  setHeader(
    ctx,
    `${word}-version-item-tag`,
    tags.filter((tag) => tag.target_version === version),
  );
}

/** Left out as a whole when it is too long: sent back with a write, a part of the tags would remove the others. */
function setHeader(ctx: Context, name: string, tags: readonly ItemTagDoc[]): void {
  if (tags.length === 0) return;
  const text = formatTags(tags);
  if (text.length <= MAX_HEADER_BYTES) ctx.set(name, text);
}

function tagsOf(header: string | null): TagContent[] | null {
  if (header === null) return null;
  const tags = parseTags(utf8Of(header));
  requireTags(tags, 'invalid');
  return tags;
}

/** Node gives header bytes as Latin-1; clients send UTF-8. */
function utf8Of(header: string): string {
  const text = Buffer.from(header, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? header : text;
}

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
