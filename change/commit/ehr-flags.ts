import type { JsonObject } from '../../openehr/base/json.js';
import { objectAt, textAt } from '../../openehr/rm/access.js';
import type { Subject } from '../../models/ehr.js';
import type { EhrFlags } from './draft.js';

/** What an EHR_STATUS makes of its EHR: the two flags and the identity of the subject. */
export function flagsOf(versionedObjectUid: string, status: JsonObject): EhrFlags {
  return {
    versionedObjectUid,
    isQueryable: status.is_queryable !== false,
    isModifiable: status.is_modifiable !== false,
    subject: subjectOf(status),
  };
}

/** The external identity of an EHR_STATUS's subject, null when it has none. */
export function subjectOf(status: JsonObject): Subject | null {
  const reference = objectAt(status, 'subject', 'external_ref');
  const id = textAt(reference, 'id', 'value');
  const namespace = textAt(reference, 'namespace');
  return id === undefined || namespace === undefined ? null : { namespace, id };
}
