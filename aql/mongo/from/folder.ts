import { SEGMENT_FIELD } from '../../index/document.js';
import { and, member, call, filter, flatten, listOf, map, variable } from '../../plan/expression.js';
import type { Expression } from '../../plan/expression.js';
import type { Subtree } from './subtree.js';

/** Object ids of the items of a FOLDER and of all FOLDERs below it, each once (docs/spec/aql.md#folders). */
export function referencedIds({ segs, at }: Subtree): Expression {
  const folder = at ?? variable('ROOT');
  const inside = and(
    call('$gte', [variable('g', SEGMENT_FIELD.number), member(folder, SEGMENT_FIELD.number)]),
    call('$lte', [variable('g', SEGMENT_FIELD.number), member(folder, SEGMENT_FIELD.last)]),
  );
  const ids = flatten(map(filter(segs, 'g', inside), 'g', listOf(variable('g', 'o.items.id.value'))));
  const versionedObjectUid = call(
    '$toLower',
    call('$arrayElemAt', [call('$split', [variable('id'), '::']), 0]),
  );
  return call('$setUnion', [map(ids, 'id', versionedObjectUid), []]);
}
