import type { Context } from 'koa';
import { CdrError } from '../../../openehr/base/errors.js';
import {
  formatObjectVersionId,
  inOwnCase,
  isUuid,
  parseObjectVersionId,
  type ObjectVersionId,
} from '../../../openehr/base/object-version-id.js';

/** How a parameter is called, and the system id of this server. */
interface Named {
  readonly name: string;
  readonly systemId: string;
}

/** An OBJECT_VERSION_ID with its normalised text. */
export interface NamedVersion {
  readonly id: ObjectVersionId;
  /** UUID in lower case, the system id as this server writes it. */
  readonly uid: string;
}

/** Either form of a `uid_based_id`: one version, or the container. */
export type UidBasedId = NamedVersion | { readonly versionedObjectUid: string };

/** A UUID in lower case. @throws invalid when malformed */
export function uuidOf(text: string, { name }: { readonly name: string }): string {
  if (!isUuid(text)) throw new CdrError('invalid', `the ${name} must be a UUID`);
  return text.toLowerCase();
}

/** An OBJECT_VERSION_ID. @throws invalid when malformed */
export function versionUidOf(text: string, { name, systemId }: Named): NamedVersion {
  const version = namedVersion(text, systemId);
  if (version === null)
    throw new CdrError('invalid', `the ${name} must be <uuid>::<system id>::<version number>`);
  return version;
}

/** The id of a container or of one version. @throws invalid when malformed */
export function uidBasedIdOf(text: string, { name, systemId }: Named): UidBasedId {
  const version = namedVersion(text, systemId);
  if (version !== null) return version;
  if (isUuid(text)) return { versionedObjectUid: text.toLowerCase() };
  throw new CdrError('invalid', `the ${name} must be a UUID or <uuid>::<system id>::<version number>`);
}

/** The container that a `uid_based_id` names. @throws invalid when it names a version */
export function containerUidOf(uid: UidBasedId): string {
  if ('id' in uid) throw new CdrError('invalid', 'the versioned_object_uid must be a UUID');
  return uid.versionedObjectUid;
}

/** The version that a `uid_based_id` names. @throws invalid when it names a container */
export function requireVersionUid(uid: UidBasedId): NamedVersion {
  if ('id' in uid) return uid;
  throw new CdrError('invalid', 'the version_uid must be <uuid>::<system id>::<version number>');
}

function namedVersion(text: string, systemId: string): NamedVersion | null {
  const parsed = parseObjectVersionId(text);
  if (parsed === null) return null;
  const id = inOwnCase(parsed, systemId);
  return { id, uid: formatObjectVersionId(id) };
}

/**
 * The version uid of `If-Match`: quoted, bare or weak, in any case. An entity tag that is none is given
 * as it is: it equals no latest version. @throws invalid when missing, `*` or a list
 */
export function ifMatchFrom(ctx: Context, systemId: string): string {
  const header = ctx.get('If-Match').trim();
  if (header === '') throw new CdrError('invalid', 'the header If-Match is required');
  const tag = /^(?:W\/)?"([^"]*)"$/.exec(header)?.[1];
  const version = namedVersion(tag ?? header, systemId);
  if (version !== null) return version.uid;
  // An entity tag that no version has: the change follows something else than the latest version.
  if (tag !== undefined) return tag;
  throw new CdrError('invalid', 'If-Match must be one version uid, "<uuid>::<system id>::<version number>"');
}

/** What stands beside the policies in their paths. */
const NO_POLICY = ['validate', 'decide', 'compare', 'observed'];

/** @throws invalid for what no policy can be called */
export function policyIdOf(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text) || NO_POLICY.includes(text))
    throw new CdrError(
      'invalid',
      `the id of a policy has 1 to 64 letters, digits, dots, lines and hyphens, begins with a letter or digit, and is none of ${NO_POLICY.join(', ')}`,
    );
  return text;
}
