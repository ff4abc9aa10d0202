import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import type { Subject } from '../../models/ehr.js';
import type { EhrFlags } from './progress.js';

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
  const reference = attribute(attribute(status, 'subject'), 'external_ref');
  const id = attribute(attribute(reference, 'id'), 'value');
  const namespace = attribute(reference, 'namespace');
  return typeof id === 'string' && typeof namespace === 'string' ? { namespace, id } : null;
}

function attribute(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}
