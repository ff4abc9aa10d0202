import type { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import {
  formatObjectVersionId,
  parseObjectVersionId,
  rootOfUid,
  type ObjectVersionId,
} from '../../openehr/base/object-version-id.js';
import { violationAt } from '../../openehr/base/violation.js';
import { textAt, withoutAttributes } from '../../openehr/rm/access.js';
import { validateRm } from '../../openehr/rm/invariants/validate.js';
import type { PartialRm } from '../../openehr/rm/model/rm.js';
import { readRm } from '../../openehr/rm/read.js';
import { LIFECYCLE, lifecycleStateOf, type LifecycleState } from '../commit/codes.js';
import type { ImportedItem } from '../commit/request.js';
import { validationError } from '../content/content.js';

/** The `item` of an IMPORTED_VERSION, its data not validated yet. */
export interface ReadItem {
  readonly imported: ImportedItem;
  readonly lifecycleState: LifecycleState;
  readonly precedingVersionUid: string | undefined;
  /** Without `uid`, which is that of the item. */
  readonly data: JsonValue | undefined;
  /** `commit_audit/change_type` */
  readonly changeType: PartialRm<'DV_CODED_TEXT'>;
}

/**
 * Reads the ORIGINAL_VERSION that is imported: whole, since nothing of it is filled in here, and nothing changed.
 * @throws invalid with all violations
 */
export function readItem(given: JsonValue, path: string): ReadItem {
  if (!isJsonObject(given) || (given._type ?? 'ORIGINAL_VERSION') !== 'ORIGINAL_VERSION')
    throw violated(path, 'Object should be type ORIGINAL_VERSION');
  const { data = null, ...rest } = given;
  const { object: item, violations } = readRm(
    { ...rest, _type: 'ORIGINAL_VERSION' },
    'ORIGINAL_VERSION',
    path,
  );
  if (violations.length > 0 || item === null) throw validationError('invalid', violations);
  const broken = validateRm(item, { rootPath: path });
  if (broken.length > 0) throw validationError('invalid', broken);
  const id = versionIdAt(item.uid, `${path}/uid`);
  const lifecycleState = stateOf(item);
  if ((lifecycleState === LIFECYCLE.deleted) !== (data === null))
    throw violated(path, 'data and lifecycle_state must agree on whether it is a deletion');
  return {
    imported: { id, ...keptOf(item, path) },
    lifecycleState,
    precedingVersionUid: precedingIn(item, id, path),
    data: data === null ? undefined : withoutUid(data, id, path),
    changeType: item.commit_audit?.change_type ?? { _type: 'DV_CODED_TEXT' },
  };
}

function stateOf({ lifecycle_state: state }: PartialRm<'ORIGINAL_VERSION'>): LifecycleState {
  return lifecycleStateOf({ code: state?.defining_code?.code_string, rubric: state?.value });
}

/** What is kept as it is. */
function keptOf(item: PartialRm<'ORIGINAL_VERSION'>, path: string): Omit<ImportedItem, 'id'> {
  const { signature, attestations = [], other_input_version_uids: inputs = [] } = item;
  return {
    lifecycleState: objectOf(item.lifecycle_state),
    otherInputVersionUids: inputs.map((uid, index) =>
      formatObjectVersionId(versionIdAt(uid, `${path}/other_input_version_uids[${index}]`)),
    ),
    attestations: attestations.map(objectOf),
    act: {
      contribution: objectOf(item.contribution),
      commit_audit: objectOf(item.commit_audit),
      ...(signature !== undefined && { signature }),
    },
  };
}

/** The first version follows none, every other one its own container's. */
function precedingIn(
  item: PartialRm<'ORIGINAL_VERSION'>,
  id: ObjectVersionId,
  path: string,
): string | undefined {
  const at = `${path}/preceding_version_uid`;
  if (item.preceding_version_uid === undefined) {
    if (id.version === 1) return undefined;
    throw violated(at, 'Attribute is required for a version with another number than 1');
  }
  const preceding = versionIdAt(item.preceding_version_uid, at);
  if (preceding.versionedObjectUid !== id.versionedObjectUid || preceding.version !== id.version - 1)
    throw violated(at, `The value must name the version before ${formatObjectVersionId(id)}`);
  return formatObjectVersionId(preceding);
}

/** What names another object as its `uid` is not what the item says it is. */
function withoutUid(data: JsonValue, id: ObjectVersionId, path: string): JsonValue {
  if (!isJsonObject(data)) return data;
  const uid = textAt(data, 'uid', 'value');
  const isOwn = uid === undefined || rootOfUid(uid).toLowerCase() === id.versionedObjectUid;
  if (!isOwn) throw violated(`${path}/data/uid`, `The value must be ${formatObjectVersionId(id)}`);
  return withoutAttributes(data, ['uid']);
}

function versionIdAt(uid: PartialRm<'OBJECT_VERSION_ID'> | undefined, path: string): ObjectVersionId {
  const id = parseObjectVersionId(uid?.value ?? '');
  if (id === null) throw violated(`${path}/value`, 'The value must be an OBJECT_VERSION_ID');
  return id;
}

/** What `validateRm` has found to be there. */
function objectOf(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw new TypeError('a required attribute was validated and is missing');
  return value;
}

function violated(path: string, text: string): CdrError {
  return validationError('invalid', [violationAt(path, text)]);
}
