import { isJsonObject, type JsonObject } from '../../openehr/base/json.js';
import { parseObjectVersionId } from '../../openehr/base/object-version-id.js';
import { objectsAt, textAt } from '../../openehr/rm/access.js';
import type { OriginalItem, VersionDoc } from '../../models/version.js';
import { committedAt, malformed, objectOf, uuidOf } from './line-parts.js';

/** A VERSION with its content as an object; null for a deletion. */
export interface RestoredVersion {
  readonly doc: VersionDoc;
  readonly content: JsonObject | null;
}

/** What is said of a VERSION outside of it. */
type Beside = Pick<VersionDoc, 'ehr_id' | 'type' | 'template_id' | 'validation_findings'>;

/** An ORIGINAL_VERSION or IMPORTED_VERSION as it was made. @throws invalid, naming what is missing or malformed */
export function versionIn(version: JsonObject, beside: Beside): RestoredVersion {
  const isImported = version._type === 'IMPORTED_VERSION';
  const { data = null, ...given } = isImported ? objectOf(version, 'item') : version;
  if (data !== null && !isJsonObject(data)) throw malformed('version/data must be an object');
  const uid = textAt(given, 'uid', 'value') ?? '';
  const id = parseObjectVersionId(uid);
  if (id === null || !uid.startsWith(id.versionedObjectUid))
    throw malformed('version/uid/value must be <uuid in lower case>::<system id>::<version number>');
  const audit = objectOf(version, 'commit_audit');
  const doc: VersionDoc = {
    _id: uid,
    object_id: id.versionedObjectUid,
    version: id.version,
    ...beside,
    time_committed: committedAt(audit),
    contribution_uid: uuidOf(textAt(version, 'contribution', 'id', 'value'), 'version/contribution/id/value'),
    ...precedingOf(given),
    ...signatureOf(version),
    commit_audit: audit,
    lifecycle_state: objectOf(given, 'lifecycle_state'),
    ...listsOf(given),
    ...(isImported && { item: itemOf(given) }),
    data: data === null ? null : JSON.stringify(data),
  };
  return { doc, content: data };
}

function itemOf(given: JsonObject): OriginalItem {
  return {
    contribution: objectOf(given, 'contribution'),
    commit_audit: objectOf(given, 'commit_audit'),
    ...signatureOf(given),
  };
}

function precedingOf(given: JsonObject): Pick<VersionDoc, 'preceding_version_uid'> {
  const preceding = textAt(given, 'preceding_version_uid', 'value');
  return preceding === undefined ? {} : { preceding_version_uid: preceding };
}

function signatureOf(version: JsonObject): Pick<VersionDoc, 'signature'> {
  const signature = textAt(version, 'signature');
  return signature === undefined ? {} : { signature };
}

function listsOf(given: JsonObject): Pick<VersionDoc, 'other_input_version_uids' | 'attestations'> {
  const inputs = objectsAt(given, 'other_input_version_uids').map((each) => textAt(each, 'value') ?? '');
  const attestations = objectsAt(given, 'attestations');
  return {
    ...(inputs.length > 0 && { other_input_version_uids: inputs }),
    ...(attestations.length > 0 && { attestations }),
  };
}
