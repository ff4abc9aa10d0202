import { CdrError } from '../base/errors.js';
import type { JsonObject } from '../base/json.js';
import { readRm } from '../rm/read.js';
import { validateRm } from '../rm/validate.js';
import { findings } from './content.js';

/** A PARTY_IDENTIFIED that a client gave as committer. @throws invalid when it breaks the RM */
export function judgedCommitter(committer: JsonObject): JsonObject {
  const { object, violations } = readRm(committer, 'PARTY_PROXY');
  if (object === null || violations.length > 0) throw findings('invalid', violations);
  const broken = validateRm(object);
  if (broken.length > 0) throw new CdrError('invalid', `committer: ${broken.join(', ')}`);
  return object;
}
