import { FIELD } from '../index/document.js';
import { indexedClass, indexedField } from '../index/indexed-paths.js';
import type { Page } from '../result/paging.js';
import type { Alias, PathUse } from '../semantics/scope-types.js';
import type { ValueState } from './operand.js';

/** The bound tuples and what is wanted of them. */
export interface Finish {
  readonly collection: 'aql' | 'ehrs';
  readonly state: ValueState;
  readonly page: Page;
  readonly required: ReadonlySet<number>;
  /** Key of the leaf that ORDER BY starts with, if WHERE compares it. */
  readonly sortedLeaf: string | null;
  /** Whether rows tell the EHRs that they are of. */
  readonly notesEhrs: boolean;
  /** Whether the documents' `start` orders COMPOSITIONs as AQL does. */
  readonly ordersByStart: boolean;
}

/**
 * The direction of ORDER BY where rows are wanted by the start time of the COMPOSITION in the first document alone,
 * and not all: the index on `start` has that order. Null elsewhere.
 */
export function startOrder({ collection, state, page, ordersByStart }: Finish): 1 | -1 | null {
  const [key, another] = state.scope.orderBy;
  if (!ordersByStart || key?.expression.kind !== 'path' || another !== undefined) return null;
  if (collection !== 'aql' || page.limit === null || page.top !== null) return null;
  const use = state.scope.useOf(key.expression);
  if (!isStartTime(use) || !isFirstLatest(use.alias, state)) return null;
  return key.descending ? -1 : 1;
}

function isStartTime({ alias, path, steps }: PathUse): boolean {
  const isPlain = steps.every(({ filter }) => filter === null);
  return isPlain && indexedField(indexedClass(alias), path.steps) === FIELD.startTime;
}

/** Whether an alias is the root of the document that the pipeline starts with, in its latest version. */
function isFirstLatest(alias: Alias, { tree }: ValueState): boolean {
  const [first] = tree.steps;
  const isLatest = first?.kind === 'match' && first.match[FIELD.isLatest] === true;
  return isLatest && !alias.optional && tree.places.get(alias.index)?.document === '';
}
