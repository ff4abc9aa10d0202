import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../openehr/base/json.js';
import { uidParts } from '../../openehr/base/object-version-id.js';
import { objectAt, objectsAt, textAt } from '../../openehr/rm/access.js';
import type { RootType } from '../../openehr/rm/root-type.js';

/** A VERSION of the old server. */
export interface OldVersion {
  readonly uid: string;
  readonly type: RootType;
  /** ORIGINAL_VERSION. */
  readonly version: JsonObject;
  /** Digest of the revision of its template by which it was judged; null: it has none, or the old server does not tell. */
  readonly revision: string | null;
}

/** The number in a version uid; 0: there is none. */
export function numberIn(uid: string): number {
  return Number(uidParts(uid)[2] ?? 0);
}

/** The reference of a VERSION to its CONTRIBUTION. */
export function contributionReference(uid: string): JsonObject {
  return {
    _type: 'OBJECT_REF',
    namespace: 'local',
    type: 'CONTRIBUTION',
    id: { _type: 'HIER_OBJECT_ID', value: uid },
  };
}

/** A CONTRIBUTION of one version, for an old server that tells none; its uid is the same each time (a UUID of RFC 9562, version 8). */
export function madeUpContribution(
  { uid, type }: Pick<OldVersion, 'uid' | 'type'>,
  audit: JsonObject,
): JsonObject {
  const hex = createHash('sha256').update(`contribution of ${uid}`).digest('hex');
  const variant = ((parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`];
  const value = [...parts, variant + hex.slice(17, 20), hex.slice(20, 32)].join('-');
  const id = { _type: 'OBJECT_VERSION_ID', value: uid };
  return {
    _type: 'CONTRIBUTION',
    uid: { _type: 'HIER_OBJECT_ID', value },
    versions: [{ _type: 'OBJECT_REF', namespace: 'local', type, id }],
    audit,
  };
}

/** Ids of a list of references; none where there is no list. */
export function idsIn(object: JsonObject, name: string): string[] {
  return objectsAt(object, name).flatMap((reference) => textAt(reference, 'id', 'value') ?? []);
}

/** The content of an ORIGINAL_VERSION, or of the one that an IMPORTED_VERSION has; undefined of a deletion. */
export function contentOf(version: JsonObject): JsonObject | undefined {
  return objectAt(version, 'data') ?? objectAt(version, 'item', 'data');
}

/** A VERSION with the ids that some servers leave out. `before`: uid of the one before it. */
export function completed(given: JsonObject, uid: string, before: string | null): JsonObject {
  if (given._type === 'IMPORTED_VERSION')
    return { ...given, item: completed(objectAt(given, 'item') ?? {}, uid, before) };
  const { data = null, ...version } = given;
  const id = { _type: 'OBJECT_VERSION_ID', value: uid };
  const isFollowing = before !== null && objectAt(version, 'preceding_version_uid') === undefined;
  return {
    ...version,
    _type: 'ORIGINAL_VERSION',
    uid: id,
    ...(isFollowing && { preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value: before } }),
    ...(isJsonObject(data) && { data: { ...data, uid: id } }),
  };
}
