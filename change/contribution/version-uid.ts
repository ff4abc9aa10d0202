import {
  formatObjectVersionId,
  inOwnCase,
  parseObjectVersionId,
} from '../../openehr/base/object-version-id.js';
import { violationAt } from '../../openehr/base/violation.js';
import type { PartialRm } from '../../openehr/rm/model/rm.js';
import { validationError } from '../content/content.js';

/** The uid that another system gave its version means nothing here. */
export function ownVersionUidAt(
  uid: PartialRm<'OBJECT_VERSION_ID'> | undefined,
  path: string,
  systemId: string,
): string | undefined {
  const text = versionUidAt(uid, path, systemId);
  return text !== undefined && parseObjectVersionId(text)?.systemId === systemId ? text : undefined;
}

/** A version uid of a request, the system id in this server's case. @throws invalid when it is none */
export function versionUidAt(
  uid: PartialRm<'OBJECT_VERSION_ID'> | undefined,
  path: string,
  systemId: string,
): string | undefined {
  if (uid === undefined) return undefined;
  const id = parseObjectVersionId(uid.value ?? '');
  if (id === null)
    throw validationError('invalid', [
      violationAt(`${path}/value`, 'The value must be an OBJECT_VERSION_ID'),
    ]);
  return formatObjectVersionId(inOwnCase(id, systemId));
}
