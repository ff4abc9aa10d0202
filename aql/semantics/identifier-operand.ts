import { CdrError } from '../../openehr/base/errors.js';
import { isSystemId, isUuid, uidParts } from '../../openehr/base/object-version-id.js';

/** A version id as an operand: `version` and `versionUid` null = any version of the object. */
export interface VersionOperand {
  /** Lower case. */
  readonly versionedObjectUid: string;
  readonly version: number | null;
  /** Text of the OBJECT_VERSION_ID. */
  readonly versionUid: string | null;
  /** The system that it names where that is not this one, as it is written; null: this one, or none. */
  readonly otherSystem: string | null;
}

/** Which systems an operand may name. */
export interface KnownSystems {
  /** Middle of our version ids. Null: no server is known, any system will do. */
  readonly systemId: string | null;
  /** Other systems whose versions were restored here; absent: none. */
  readonly systems?: readonly string[];
}

/** A query names a system of which nobody has said that its versions are here. */
export class UnknownSystem extends CdrError {
  /** As the query writes it. */
  readonly system: string;

  constructor(text: string, system: string, systemId: string) {
    super('invalid', `the system id of '${shorten(text)}' does not match this server (${systemId})`);
    this.system = system;
  }
}

const VERSION = /^[1-9]\d{0,8}$/;

/**
 * Reads an operand of `uid/value` (docs/spec/aql.md#version-uids): a bare uuid, `uuid::system::n` or `uuid::::n`.
 * Null when it is none of these; `systemId` null: no server is known.
 */
export function parseVersionOperand(text: string, systemId: string | null): VersionOperand | null {
  const [uuid = '', system, version, ...more] = uidParts(text);
  if (!isUuid(uuid) || more.length > 0) return null;
  const versionedObjectUid = uuid.toLowerCase();
  if (system === undefined) return { versionedObjectUid, version: null, versionUid: null, otherSystem: null };
  const own = systemId ?? system;
  const isOwn = system === '' || system.toLowerCase() === own.toLowerCase();
  if (!isVersionNumber(version) || !(isOwn || isSystemId(system))) return null;
  return {
    versionedObjectUid,
    version: Number(version),
    versionUid: `${versionedObjectUid}::${isOwn ? own : system}::${version}`,
    otherSystem: isOwn ? null : system,
  };
}

function isVersionNumber(text: string | undefined): text is string {
  return text !== undefined && VERSION.test(text);
}

/** As `parseVersionOperand`. @throws invalid when the text is malformed, UnknownSystem when it names a system that is not known */
export function requireVersionOperand(
  text: string,
  { systemId, systems = [] }: KnownSystems,
): VersionOperand {
  const operand = parseVersionOperand(text, systemId);
  if (operand === null)
    throw new CdrError('invalid', `'${shorten(text)}' is not a valid OBJECT_VERSION_ID/UID`);
  const { otherSystem } = operand;
  if (otherSystem !== null && !systems.includes(otherSystem))
    throw new UnknownSystem(text, otherSystem, systemId ?? '');
  return operand;
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
