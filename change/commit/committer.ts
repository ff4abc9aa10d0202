import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { violationText } from '../../openehr/base/violation.js';
import { readRm } from '../../openehr/rm/read.js';
import { validateRm } from '../../openehr/rm/invariants/validate.js';
import { validationError } from '../content/content.js';

/** A PARTY_IDENTIFIED that a client gave as committer. @throws invalid when it breaks the RM */
export function validatedCommitter(committer: JsonObject): JsonObject {
  const { object, violations } = readRm(committer, 'PARTY_PROXY');
  if (object === null || violations.length > 0) throw validationError('invalid', violations);
  const broken = validateRm(object);
  if (broken.length > 0) throw new CdrError('invalid', `committer: ${broken.map(violationText).join(', ')}`);
  return object;
}

/**
 * `onlyName`: name of the user who may commit in no other name; null: any committer is allowed. A committer with an
 * `external_ref` or `identifiers` is another one, for these could be anybody's.
 * @throws forbidden when another committer is named
 */
export function requireOwnCommitter(committer: JsonObject, onlyName: string | null): void {
  if (onlyName === null) return;
  const { _type: type, name, ...others } = committer;
  if (type === 'PARTY_IDENTIFIED' && name === onlyName && Object.keys(others).length === 0) return;
  throw new CdrError(
    'forbidden',
    'the committer must be the user of the request, by name only; naming another one needs the permission commit_for_others',
  );
}
