import { CdrError } from './errors.js';

/** BASE identification: OBJECT_VERSION_ID, `object_id::creating_system_id::version`, trunk versions only. */
export interface ObjectVersionId {
  /** UUID of the VERSIONED_OBJECT, lower case. */
  readonly versionedObjectUid: string;
  readonly systemId: string;
  /** 1 or more. */
  readonly version: number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const VERSION = /^[1-9]\d{0,8}$/;
const SYSTEM_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const OID = /^\d+(\.\d+)+$/;
const INTERNET_ID = /^[A-Za-z][\w-]*(\.[\w-]+)+$/;
const EXTENSION = /^[\w.:-]{1,100}$/;

/** Whether the text is a UUID in its 36-character form, any letter case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Whether the text can be a system id (middle of a version uid). */
export function isSystemId(text: string): boolean {
  return SYSTEM_ID.test(text);
}

/** The parts of a uid between `::`, as many as it has, whatever they are. */
export function uidParts(uid: string): string[] {
  return uid.split('::');
}

/** Reads an OBJECT_VERSION_ID, null when the text is none (branch versions included). */
export function parseObjectVersionId(text: string): ObjectVersionId | null {
  const parts = uidParts(text);
  const [versionedObjectUid, systemId, version] = parts;
  if (
    parts.length !== 3 ||
    versionedObjectUid === undefined ||
    systemId === undefined ||
    version === undefined
  )
    return null;
  if (!UUID.test(versionedObjectUid) || !SYSTEM_ID.test(systemId) || !VERSION.test(version)) return null;
  return { versionedObjectUid: versionedObjectUid.toLowerCase(), systemId, version: Number(version) };
}

/** The version uid with the system id in this server's case: BASE compares ids without it. */
export function inOwnCase(id: ObjectVersionId, systemId: string): ObjectVersionId {
  return id.systemId.toLowerCase() === systemId.toLowerCase() ? { ...id, systemId } : id;
}

/** Reads an OBJECT_VERSION_ID of this server, its system id in any case; null when the text is none. */
export function ownVersionId(text: string, systemId: string): ObjectVersionId | null {
  const id = parseObjectVersionId(text);
  const own = id === null ? null : inOwnCase(id, systemId);
  return own?.systemId === systemId ? own : null;
}

/**
 * The part of a HIER_OBJECT_ID or OBJECT_VERSION_ID before the first `::`, as it is written: of a version uid the
 * uid of the VERSIONED_OBJECT. BASE: UID_BASED_ID.root.
 */
export function rootOfUid(uid: string): string {
  const end = uid.indexOf('::');
  return end < 0 ? uid : uid.slice(0, end);
}

/** As `parseObjectVersionId`. @throws invalid when the text is no OBJECT_VERSION_ID. */
export function requireObjectVersionId(text: string): ObjectVersionId {
  const id = parseObjectVersionId(text);
  if (id === null)
    throw new CdrError('invalid', 'the version uid must be <uuid>::<system id>::<version number>');
  return id;
}

/** The text form of an OBJECT_VERSION_ID. */
export function formatObjectVersionId(id: ObjectVersionId): string {
  return `${id.versionedObjectUid}::${id.systemId}::${id.version}`;
}

/** The uid of the version before one of the same container; null for the first, and for what is no OBJECT_VERSION_ID. */
export function precedingUid(versionUid: string): string | null {
  const id = parseObjectVersionId(versionUid);
  return id === null || id.version === 1 ? null : formatObjectVersionId({ ...id, version: id.version - 1 });
}

/**
 * Reads an ehr_id: UUID, ISO OID or internet id, each with an optional `::extension` (HIER_OBJECT_ID).
 * UUIDs come back in lower case; null when the text is none of them.
 */
export function parseEhrId(text: string): string | null {
  if (text.length > 256) return null;
  const cut = text.indexOf('::');
  const root = cut < 0 ? text : text.slice(0, cut);
  const extension = cut < 0 ? null : text.slice(cut + 2);
  if (extension !== null && !EXTENSION.test(extension)) return null;
  if (UUID.test(root)) return root.toLowerCase() + text.slice(root.length);
  return OID.test(root) || INTERNET_ID.test(root) ? text : null;
}
