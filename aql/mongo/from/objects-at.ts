import type { Expression, Reference } from '../../plan/expression.js';
import { member, call, concatenate, flatten, listOf } from '../../plan/expression.js';
import { counted, step } from '../../../openehr/base/work.js';

/** The objects at any of the dotted paths below `object` (`x1.o`, a variable), as one array. */
export function objectsAt(
  object: Reference,
  paths: readonly string[],
  isMultiple: (a: string) => boolean,
): Expression {
  return concatenate(counted(paths).map((path) => objectsAtPath(object, path, isMultiple)));
}

function objectsAtPath(object: Reference, path: string, isMultiple: (a: string) => boolean): Expression {
  const lists = counted(path.split('.')).filter(isMultiple).length;
  const value = member(object, path);
  // A path through lists yields lists within lists; a missing value yields nothing at all.
  if (lists === 0) return call('$cond', [call('$gt', [value, null]), [value], []]);
  let result: Expression = listOf(value);
  step(lists);
  for (let level = 1; level < lists; level++) result = flatten(result);
  return result;
}
