import { call, fieldRef } from '../../plan/expression.js';
import type { Expression } from '../../plan/expression.js';
import type { SortKeys, Step } from '../../plan/steps.js';
import { counted } from '../../../openehr/base/work.js';

/** Most keys of one sort: MongoDB takes no more. */
const MAX_SORT_KEYS = 32;

/**
 * The same order by at most `MAX_SORT_KEYS` keys. Neighbours of one direction are put into one object, which is
 * ordered by its members one after the other; should that not be enough, the last keys, which only make the order
 * unambiguous, follow the direction before them.
 */
export function sortable(keys: SortKeys, steps: Step[]): SortKeys {
  if (keys.length <= MAX_SORT_KEYS) return keys;
  const groups: { direction: 1 | -1; fields: string[] }[] = [];
  for (const [field, direction] of counted(keys)) {
    const last = groups[groups.length - 1];
    const isJoined = last?.direction === direction || groups.length === MAX_SORT_KEYS;
    if (last !== undefined && isJoined) last.fields.push(field);
    else groups.push({ direction, fields: [field] });
  }
  return counted(groups).map(({ direction, fields }, index): [string, 1 | -1] => {
    const [only] = fields;
    if (only !== undefined && fields.length === 1) return [only, direction];
    const field = `s${index}`;
    steps.push({ kind: 'set', field, value: membersOf(fields) });
    return [field, direction];
  });
}

/** A missing member would be left out, and then the next one compared. */
function membersOf(fields: readonly string[]): Expression {
  return Object.fromEntries(
    counted(fields).map((field, index) => [`m${index}`, call('$ifNull', [fieldRef(field), null])]),
  );
}
