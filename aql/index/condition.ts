import type { MongoValue, Stage } from './stage.js';
import { counted } from '../../openehr/base/work.js';

/** A condition on `aql` documents that an index serves: necessary for a row, not sufficient. */
export type IndexCondition =
  | LeafCondition
  /** On a field that the document repeats. */
  | { readonly kind: 'field'; readonly match: Stage }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly IndexCondition[] };

/** Some leaf of the document has the key and a value in the range. */
export interface LeafCondition {
  readonly kind: 'leaf';
  readonly key: string;
  /** MongoDB's comparison operators with their constants. */
  readonly range: Readonly<Record<string, MongoValue>>;
}

/** Whether a condition looks at leaves. */
export function readsLeaf(condition: IndexCondition): boolean {
  if (condition.kind === 'leaf') return true;
  return condition.kind !== 'field' && counted(condition.operands).some(readsLeaf);
}
