import { CdrError } from '../../openehr/base/errors.js';
import { isSystemId, isUuid, uidParts } from '../../openehr/base/object-version-id.js';

/** A version id as an operand: `version` and `versionUid` null = any version of the object. */
export interface VersionOperand {
  /** Lower case. */
  readonly versionedObjectUid: string;
  readonly version: number | null;
  /** Text of the OBJECT_VERSION_ID. */
  readonly versionUid: string | null;
}

const VERSION = /^[1-9]\d{0,8}$/;

/**
 * Reads an operand of `uid/value` (docs/spec/aql.md#version-uids): a bare uuid, `uuid::system::n` or `uuid::::n`.
 * Null when it is none of these or names another system; `systemId` null: any system will do.
 */
export function parseVersionOperand(text: string, systemId: string | null): VersionOperand | null {
  const [uuid = '', system, version, ...more] = uidParts(text);
  if (!isUuid(uuid) || more.length > 0) return null;
  const versionedObjectUid = uuid.toLowerCase();
  if (system === undefined) return { versionedObjectUid, version: null, versionUid: null };
  const own = systemId ?? system;
  if (
    (system !== '' && system.toLowerCase() !== own.toLowerCase()) ||
    version === undefined ||
    !VERSION.test(version)
  )
    return null;
  return {
    versionedObjectUid,
    version: Number(version),
    versionUid: `${versionedObjectUid}::${own}::${version}`,
  };
}

/** As `parseVersionOperand`. @throws invalid when the text is malformed or names another system */
export function requireVersionOperand(text: string, systemId: string | null): VersionOperand {
  const operand = parseVersionOperand(text, systemId);
  if (operand !== null) return operand;
  const [, system] = uidParts(text);
  if (system !== undefined && isSystemId(system) && parseVersionOperand(text, system) !== null)
    throw new CdrError(
      'invalid',
      `the system id of '${shorten(text)}' does not match this server (${systemId ?? ''})`,
    );
  throw new CdrError('invalid', `'${shorten(text)}' is not a valid OBJECT_VERSION_ID/UID`);
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
