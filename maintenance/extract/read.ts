import type { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import {
  isSystemId,
  isUuid,
  parseEhrId,
  parseObjectVersionId,
} from '../../openehr/base/object-version-id.js';
import { violationAt } from '../../openehr/base/violation.js';
import { objectAt, textAt } from '../../openehr/rm/access.js';
import { ROOT_TYPES, type RootType } from '../../openehr/rm/root-type.js';
import { validationError } from '../../change/content/content.js';
import { instantOf } from '../interchange/line-parts.js';

/** One X_VERSIONED_OBJECT. */
export interface ReadObject {
  readonly type: RootType;
  readonly uid: string;
  readonly timeCreated: Date | null;
  /** ORIGINAL_VERSIONs and IMPORTED_VERSIONs, from the first. */
  readonly versions: readonly JsonObject[];
}

/** An EXTRACT of one EHR. */
export interface ReadExtract {
  readonly ehrId: string;
  /** null: it does not say. */
  readonly systemId: string | null;
  /** EHR_STATUS, directories, then COMPOSITIONs. */
  readonly objects: readonly ReadObject[];
}

const X_VERSIONED = 'X_VERSIONED_';
const ORDER: readonly RootType[] = ['EHR_STATUS', 'FOLDER', 'COMPOSITION'];

/** Reads an EXTRACT: what of it would not be kept is refused, not passed over. @throws invalid, naming the path */
export function readExtract(body: JsonValue): ReadExtract {
  if (!isJsonObject(body) || body._type !== 'EXTRACT') throw refused('/', 'Object should be type EXTRACT');
  const chapters = listAt(body, 'chapters', '');
  const [chapter, ...others] = chapters;
  if (chapter === undefined || others.length > 0)
    throw refused('/chapters', 'There must be one chapter, which is that of one EHR');
  if (chapter._type !== 'EXTRACT_ENTITY_CHAPTER')
    throw refused('/chapters[0]', 'Object should be type EXTRACT_ENTITY_CHAPTER');
  const ehrId = parseEhrId(textAt(chapter, 'extract_id_key') ?? '');
  if (ehrId === null)
    throw refused(
      '/chapters[0]/extract_id_key',
      'The value must be an ehr_id: a UUID, an ISO OID or an internet id',
    );
  const objects = listAt(chapter, 'items', '/chapters[0]').map((item, index) =>
    readItem(item, `/chapters[0]/items[${index}]`),
  );
  return {
    ehrId,
    systemId: systemOf(body),
    objects: ORDER.flatMap((type) => objects.filter((one) => one.type === type)),
  };
}

function systemOf(extract: JsonObject): string | null {
  const systemId = textAt(extract, 'system_id', 'value');
  if (systemId === undefined) return null;
  if (!isSystemId(systemId)) throw refused('/system_id/value', 'The value must be a system id');
  return systemId;
}

function readItem(content: JsonObject, path: string): ReadObject {
  const item = objectAt(content, 'item');
  if (item === undefined)
    throw refused(`${path}/item`, 'Attribute is required: what is masked cannot be kept');
  const kind = typeof item._type === 'string' && item._type.startsWith(X_VERSIONED) ? item._type : '';
  const type = ROOT_TYPES.find((known) => kind === X_VERSIONED + known);
  if (type === undefined)
    throw refused(
      `${path}/item`,
      `Object should be type ${ROOT_TYPES.map((known) => X_VERSIONED + known).join(', ')}`,
    );
  const uid = textAt(item, 'uid', 'value') ?? '';
  if (!isUuid(uid)) throw refused(`${path}/item/uid/value`, 'The value must be a UUID');
  const versions = listAt(item, 'versions', `${path}/item`);
  if (versions.length === 0) throw refused(`${path}/item/versions`, 'Attribute is required');
  for (const [index, version] of versions.entries())
    requireOwn(version, uid, `${path}/item/versions[${index}]`);
  const created = textAt(item, 'time_created', 'value');
  return {
    type,
    uid: uid.toLowerCase(),
    timeCreated: created === undefined ? null : instantOf(created, `${path}/item/time_created/value`),
    versions: [...versions].sort((one, other) => numberOf(one) - numberOf(other)),
  };
}

function requireOwn(version: JsonObject, uid: string, path: string): void {
  if (version._type !== 'ORIGINAL_VERSION' && version._type !== 'IMPORTED_VERSION')
    throw refused(path, 'Object should be type ORIGINAL_VERSION or IMPORTED_VERSION');
  const id = parseObjectVersionId(versionUidOf(version));
  if (id?.versionedObjectUid !== uid.toLowerCase())
    throw refused(`${path}/uid/value`, `The value must be an OBJECT_VERSION_ID of ${uid}`);
}

/** The uid of a VERSION; '' when it has none. */
function versionUidOf(version: JsonObject): string {
  const item = version._type === 'IMPORTED_VERSION' ? objectAt(version, 'item') : version;
  return textAt(item, 'uid', 'value') ?? '';
}

function numberOf(version: JsonObject): number {
  return parseObjectVersionId(versionUidOf(version))?.version ?? 0;
}

function listAt(object: JsonObject, name: string, path: string): JsonObject[] {
  const list = object[name] ?? [];
  if (!Array.isArray(list)) throw refused(`${path}/${name}`, 'The value must be a list');
  return list.map((one, index) => {
    if (!isJsonObject(one)) throw refused(`${path}/${name}[${index}]`, 'The value must be an object');
    return one;
  });
}

function refused(path: string, text: string): CdrError {
  return validationError('invalid', [violationAt(path, text)]);
}
