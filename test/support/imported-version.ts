import { randomUUID } from 'node:crypto';
import { readRm } from '../../openehr/rm/read.js';
import { aComposition, type Json } from './resources.js';

/** System that made what tests import. */
export const OTHER_SYSTEM = 'old.system';

/** DV_CODED_TEXT of the terminology openehr. */
export function openehrTerm(code: string, rubric: string): Json {
  const terminology_id = { _type: 'TERMINOLOGY_ID', value: 'openehr' };
  return {
    _type: 'DV_CODED_TEXT',
    value: rubric,
    defining_code: { _type: 'CODE_PHRASE', terminology_id, code_string: code },
  };
}

/** AUDIT_DETAILS of another system. `day`: of January 2020. */
export function otherAudit(day: number, code = '249', rubric = 'creation'): Json {
  return {
    _type: 'AUDIT_DETAILS',
    system_id: OTHER_SYSTEM,
    committer: { _type: 'PARTY_IDENTIFIED', name: 'Grace Elder' },
    time_committed: { _type: 'DV_DATE_TIME', value: `2020-01-0${day}T10:00:00.123456Z` },
    change_type: openehrTerm(code, rubric),
  };
}

/** With `_type` on every object, as it is stored. */
function typed(composition: Json): Json {
  const { object } = readRm(composition, 'COMPOSITION');
  return object as Json;
}

/** A version that another system made. */
export function otherVersion(
  id: { readonly uuid: string; readonly number: number; readonly after?: string },
  further: Json = {},
): Json {
  const { uuid, number, after } = id;
  const first = number === 1;
  return {
    _type: 'ORIGINAL_VERSION',
    contribution: {
      _type: 'OBJECT_REF',
      id: { _type: 'HIER_OBJECT_ID', value: randomUUID() },
      namespace: OTHER_SYSTEM,
      type: 'CONTRIBUTION',
    },
    commit_audit: first ? otherAudit(1) : otherAudit(number, '251', 'modification'),
    uid: { _type: 'OBJECT_VERSION_ID', value: `${uuid}::${OTHER_SYSTEM}::${number}` },
    ...(!first && {
      preceding_version_uid: {
        _type: 'OBJECT_VERSION_ID',
        value: after ?? `${uuid}::${OTHER_SYSTEM}::${number - 1}`,
      },
    }),
    lifecycle_state: openehrTerm('532', 'complete'),
    data: typed(aComposition()),
    ...further,
  };
}

/** It as an IMPORTED_VERSION. */
export function imported(item: Json, further: Json = {}): Json {
  const commit_audit = {
    _type: 'AUDIT_DETAILS',
    change_type: openehrTerm('249', 'creation'),
    committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada Mover' },
  };
  return { _type: 'IMPORTED_VERSION', commit_audit, item, ...further };
}
