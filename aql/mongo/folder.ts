import { and, filter, flatten, listOf, map } from '../plan/expression.js';
import type { Expression } from '../plan/expression.js';
import type { Region } from './region.js';

/** Object ids of the items of a FOLDER and of all FOLDERs below it, each once (docs/spec/aql.md#folders). */
export function referencedIds({ segs, at }: Region): Expression {
  const folder = at ?? '';
  const inside = and({ $gte: ['$$g.s', `${folder}.s`] }, { $lte: ['$$g.s', `${folder}.e`] });
  const ids = flatten(map(filter(segs, 'g', inside), 'g', listOf('$$g.o.items.id.value')));
  const versionedObjectUid = { $toLower: { $arrayElemAt: [{ $split: ['$$id', '::'] }, 0] } };
  return { $setUnion: [map(ids, 'id', versionedObjectUid), []] };
}
