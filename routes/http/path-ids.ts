import type { Context } from 'koa';
import { CdrError } from '../../base/errors.js';
import {
  formatObjectVersionId,
  isUuid,
  parseEhrId,
  parseObjectVersionId,
  type ObjectVersionId,
} from '../../base/object-version-id.js';

/** A path segment, percent-decoded once; one that cannot be decoded stays as it is and fits no grammar. */
function segment(ctx: Context, name: string): string {
  const { params } = ctx as { params?: Record<string, string | undefined> };
  return params?.[name] ?? '';
}

/** The ehr_id of the path. @throws invalid when malformed */
export function ehrIdFrom(ctx: Context): string {
  const ehrId = parseEhrId(segment(ctx, 'ehr_id'));
  if (ehrId === null)
    throw new CdrError('invalid', 'the ehr_id must be a UUID, an ISO OID or an internet id');
  return ehrId;
}

/** A UUID of the path in lower case. @throws invalid when malformed */
export function uuidFrom(ctx: Context, name: string): string {
  const text = segment(ctx, name);
  if (!isUuid(text)) throw new CdrError('invalid', `the ${name} must be a UUID`);
  return text.toLowerCase();
}

/** An OBJECT_VERSION_ID with its normalised text. */
export interface NamedVersion {
  readonly id: ObjectVersionId;
  /** UUID in lower case. */
  readonly uid: string;
}

/** An OBJECT_VERSION_ID of the path. @throws invalid when malformed */
export function versionUidFrom(ctx: Context, name: string): NamedVersion {
  const version = namedVersion(segment(ctx, name));
  if (version === null)
    throw new CdrError('invalid', `the ${name} must be <uuid>::<system id>::<version number>`);
  return version;
}

/** Either form of a path's `uid_based_id`: the id of a container or of one version. @throws invalid */
export function uidBasedIdFrom(ctx: Context, name: string): NamedVersion | { readonly objectId: string } {
  const text = segment(ctx, name);
  const version = namedVersion(text);
  if (version !== null) return version;
  if (isUuid(text)) return { objectId: text.toLowerCase() };
  throw new CdrError('invalid', `the ${name} must be a UUID or <uuid>::<system id>::<version number>`);
}

function namedVersion(text: string): NamedVersion | null {
  const id = parseObjectVersionId(text);
  return id === null ? null : { id, uid: formatObjectVersionId(id) };
}

/**
 * The version uid of `If-Match`: quoted, bare or weak. @throws invalid when missing, `*`, a list or no version uid
 */
export function ifMatchFrom(ctx: Context): string {
  const header = ctx.get('If-Match').trim();
  if (header === '') throw new CdrError('invalid', 'the header If-Match is required');
  const text = /^(?:W\/)?"([^"]*)"$/.exec(header)?.[1] ?? header;
  const version = namedVersion(text);
  if (version === null)
    throw new CdrError('invalid', 'If-Match must be one version uid, <uuid>::<system id>::<version number>');
  return version.uid;
}
