import type { Page } from '../paging.js';
import type { Alias, PathUse } from '../scope-types.js';
import { joined } from './document-scope.js';
import type { Stage } from './expression.js';
import type { ValueState } from './operand.js';
import type { SortKeys, Step } from './steps.js';

/** The bound tuples and what is wanted of them. */
export interface Finish {
  readonly collection: 'aql' | 'ehrs';
  readonly state: ValueState;
  readonly page: Page;
  readonly required: ReadonlySet<number>;
  /** Key of the leaf that ORDER BY starts with, if WHERE compares it. */
  readonly sortedLeaf: string | null;
}

/** A query whose order is that of the index on `start`. */
export interface StartOrder {
  readonly direction: 1 | -1;
  /** WHERE leaves no row without start time. */
  readonly isRequired: boolean;
}

/** Before every date: finds all documents that have one. */
export const FIRST_DATE = new Date(-8_640_000_000_000_000);

/** Whether rows are wanted by the start time of the COMPOSITION in the first document alone, and not all. */
export function startOrder({ collection, state, page, required }: Finish): StartOrder | null {
  const [key, another] = state.scope.orderBy;
  if (key?.expression.kind !== 'path' || another !== undefined) return null;
  if (collection !== 'aql' || page.limit === null || page.top !== null) return null;
  const use = state.scope.useOf(key.expression);
  if (!isStartTime(use) || !isFirstLatest(use.alias, state)) return null;
  return { direction: key.descending ? -1 : 1, isRequired: required.has(use.index) };
}

function isStartTime({ alias, path, steps }: PathUse): boolean {
  const text = path.steps.map(({ attribute }) => attribute).join('/');
  return (
    START_TIMES.includes(text) &&
    steps.every(({ filter }) => filter === null) &&
    alias.classes.every((each) => each === 'COMPOSITION')
  );
}

const START_TIMES = ['context/start_time', 'context/start_time/value'];

/** Whether an alias is the root of the document that the pipeline starts with, in its latest version. */
function isFirstLatest(alias: Alias, { tree }: ValueState): boolean {
  const [first] = tree.steps;
  const isLatest = first?.kind === 'match' && first.match.latest === true;
  return isLatest && !alias.optional && tree.places.get(alias.index)?.document === '';
}

/** The steps with one more condition on the documents, which come in an order; the first `count` rows. */
export function branchSteps(steps: readonly Step[], condition: Stage, keys: SortKeys, count: number): Step[] {
  const [first, ...rest] = steps;
  const match = first?.kind === 'match' ? joined([first.match, condition]) : condition;
  return [{ kind: 'match', match }, { kind: 'sort', keys }, ...rest, { kind: 'limit', count }];
}
