import type { Page } from '../paging.js';
import { joined } from './document-scope.js';
import type { Stage } from './expression.js';
import type { ValueState } from './operand.js';
import type { SortKeys, Step } from './stages.js';

/** The bound tuples and what is wanted of them. */
export interface Finish {
  readonly collection: 'aql' | 'ehrs';
  readonly state: ValueState;
  readonly page: Page;
  readonly required: ReadonlySet<number>;
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
  const { scope, tree } = state;
  const [key, another] = scope.orderBy;
  if (key?.expression.kind !== 'path' || another !== undefined) return null;
  if (collection !== 'aql' || page.limit === null || page.top !== null) return null;
  const use = scope.useOf(key.expression);
  const text = use.path.steps.map(({ attribute }) => attribute).join('/');
  if (text !== 'context/start_time' && text !== 'context/start_time/value') return null;
  if (use.steps.some(({ filter }) => filter !== null)) return null;
  const { alias } = use;
  const isComposition = alias.classes.every((each) => each === 'COMPOSITION');
  const isFirst = tree.places.get(alias.index)?.document === '' && !alias.optional;
  const [first] = tree.steps;
  const isLatest = first?.kind === 'match' && first.match.latest === true;
  if (!isComposition || !isFirst || !isLatest) return null;
  return { direction: key.descending ? -1 : 1, isRequired: required.has(use.index) };
}

/** The steps with one more condition on the documents, which come in an order; the first `count` rows. */
export function branchSteps(steps: readonly Step[], condition: Stage, keys: SortKeys, count: number): Step[] {
  const [first, ...rest] = steps;
  const match = first?.kind === 'match' ? joined([first.match, condition]) : condition;
  return [{ kind: 'match', match }, { kind: 'sort', keys }, ...rest, { kind: 'limit', count }];
}
