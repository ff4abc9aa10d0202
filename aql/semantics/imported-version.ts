import type { JsonObject } from '../../openehr/base/json.js';
import { counted } from '../../openehr/base/work.js';
import { withoutAttributes } from '../../openehr/rm/access.js';

/** What an IMPORTED_VERSION has itself; all else is its `item`'s. */
const OWN = ['contribution', 'commit_audit', 'signature'];

/**
 * The IMPORTED_VERSION of a version whose attributes are in one object. `act`: `contribution`, `commit_audit` and `signature` of its
 * `item`. RM common: IMPORTED_VERSION.
 */
export function importedVersion(version: JsonObject, act: JsonObject): JsonObject {
  const own = Object.fromEntries(counted(Object.entries(version)).filter(([name]) => OWN.includes(name)));
  const item = { ...withoutAttributes(version, OWN), _type: 'ORIGINAL_VERSION', ...act };
  return { _type: 'IMPORTED_VERSION', ...own, item };
}
