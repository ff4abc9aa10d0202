import { CHANGE_TYPE } from './commit/codes.js';
import type { Violation } from '../openehr/base/violation.js';
import type { JsonObject } from '../openehr/base/json.js';
import { validateRm } from '../openehr/rm/invariants/validate.js';
import { auditDetails, partyNamed, type AuditRequest } from './commit/audit.js';
import { withoutAttributes } from '../openehr/rm/access.js';
import { attributesOf } from '../openehr/rm/model/classes.js';
import { validationError } from './content/content.js';

/**
 * ATTESTATIONs of a request, validated: `reason` and `is_pending` are required, the committer is that of the
 * version where none is given, change type and all of the server's attributes are set. RM: ATTESTATION.
 * @throws invalid with all violations
 */
export function validatedAttestations(
  attestations: readonly JsonObject[],
  audit: AuditRequest,
  path: string,
): JsonObject[] {
  const violations: Violation[] = [];
  const validated = attestations.map((given, index) => {
    const rootPath = `${path}/attestations[${index}]`;
    const defaults = auditDetails({ ...audit, changeType: CHANGE_TYPE.attestation }, 'server', new Date(0));
    const filling = withoutAttributes(defaults, ['description']);
    const attestation: JsonObject = { ...filling, ...given, _type: 'ATTESTATION' };
    violations.push(...validateRm(attestation, { rootPath }));
    return attestation;
  });
  if (violations.length > 0) throw validationError('invalid', violations);
  return validated;
}

/** The attributes of ATTESTATION that AUDIT_DETAILS does not have. */
const OWN_ATTRIBUTES = [...attributesOf('ATTESTATION').keys()].filter(
  (name) => !attributesOf('AUDIT_DETAILS').has(name),
);

/**
 * What an audit of a request says as an ATTESTATION, validated; undefined when it is none. @throws invalid with all
 * violations
 */
export function attestedIn(audit: JsonObject, path: string): JsonObject | undefined {
  if (audit._type !== 'ATTESTATION') return undefined;
  const attested = Object.fromEntries(
    OWN_ATTRIBUTES.flatMap((name) => (audit[name] === undefined ? [] : [[name, audit[name]]])),
  );
  const placeholder = { changeType: CHANGE_TYPE.attestation, committer: partyNamed('server'), attested };
  const violations = validateRm(auditDetails(placeholder, 'server', new Date(0)), { rootPath: path });
  if (violations.length > 0) throw validationError('invalid', violations);
  return attested;
}
