import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { CHANGE_TYPE, LIFECYCLE, type ChangeType } from '../commit/codes.js';
import type { VersionEnvelope } from './contribution-envelope.js';

/** Change types that are about a version which exists. */
const FOLLOWING: readonly ChangeType[] = [
  CHANGE_TYPE.amendment,
  CHANGE_TYPE.modification,
  CHANGE_TYPE.deleted,
  CHANGE_TYPE.attestation,
  CHANGE_TYPE.restoration,
];

/** Whether change type, preceding version, data and attestations go together. @throws invalid otherwise */
export function requireFitting({
  audit,
  precedingVersionUid: preceding,
  data,
  attestations,
  lifecycleState,
}: VersionEnvelope): void {
  const { changeType } = audit;
  if (changeType === CHANGE_TYPE.creation && preceding !== undefined)
    throw new CdrError('invalid', 'a creation (249) has no preceding_version_uid');
  if (FOLLOWING.includes(changeType) && preceding === undefined)
    throw new CdrError('invalid', `the change type ${changeType} needs a preceding_version_uid`);
  if (changeType === CHANGE_TYPE.attestation) requireAttesting(data, attestations);
  if (changeType === CHANGE_TYPE.deleted && data !== undefined)
    throw new CdrError('invalid', 'a deletion (523) has no data');
  if (changeType !== CHANGE_TYPE.deleted && lifecycleState === LIFECYCLE.deleted)
    throw new CdrError('invalid', 'the lifecycle state 523 is for deletions only');
}

function requireAttesting(data: JsonValue | undefined, attestations: readonly JsonObject[]): void {
  if (data !== undefined) throw new CdrError('invalid', 'an attestation (666) has no data');
  if (attestations.length === 0)
    throw new CdrError('invalid', 'an attestation (666) needs at least one entry in attestations');
}
