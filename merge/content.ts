import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../openehr/base/json.js';
import { textAt } from '../openehr/rm/access.js';
import { lifecycleStateOf, type LifecycleState } from '../change/commit/codes.js';
import type { VersionDoc } from '../models/version.js';
import type { VersionedObjectDoc } from '../models/versioned-object.js';

/** The latest version of a container, as a snapshot holds it. @throws TypeError when it does not */
export function requiredVersion(
  latest: ReadonlyMap<string, VersionDoc>,
  { _id, latest_version_uid: uid }: VersionedObjectDoc,
): VersionDoc {
  const version = latest.get(_id);
  if (version?._id !== uid) throw new TypeError(`the snapshot lacks version ${uid}`);
  return version;
}

/** RM object of a version. */
export function contentOf(version: VersionDoc): JsonObject {
  if (version.data === null) throw new TypeError(`version ${version._id} is a deletion`);
  return JSON.parse(version.data) as JsonObject;
}

/** Lifecycle state of a version with content. */
export function stateOf(version: VersionDoc): LifecycleState {
  return lifecycleStateOf({ code: textAt(version.lifecycle_state, 'defining_code', 'code_string') ?? '' });
}

/** Whether two versions differ in nothing but their uids. */
export function isSameContent(one: VersionDoc, other: VersionDoc): boolean {
  if (one._id === other._id) return true;
  if (one.data === null || other.data === null) return one.data === other.data;
  return (
    isDeepStrictEqual(one.lifecycle_state, other.lifecycle_state) &&
    isDeepStrictEqual(withoutUid(one.data), withoutUid(other.data))
  );
}

function withoutUid(text: string): JsonObject {
  return { ...(JSON.parse(text) as JsonObject), uid: null };
}

/** An object with other values of some attributes; null takes one away. */
export function withFields(
  object: JsonObject,
  fields: readonly (readonly [string, JsonValue])[],
): JsonObject {
  const changed = { ...object, ...Object.fromEntries(fields) };
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null));
}
