import { FIELD } from '../../index/document.js';
import { call, fieldRef, isNode } from '../../plan/expression.js';
import type { Expression } from '../../plan/expression.js';
import type { LogicalPlan, PlanColumn, RowOrder, RowShape } from '../../plan/logical-plan.js';
import { lookup, type SortKeys, type Step } from '../../plan/steps.js';
import type { Page } from '../../semantics/page.js';
import type { Column, OrderKey, PathUse } from '../../semantics/scope-types.js';
import { cellKindOf, cellOf } from './cell.js';
import type { Cell, RowValue } from './cell.js';
import { groupOf } from './group.js';
import type { Group } from './group.js';
import type { ValueState } from '../path/operand.js';
import { sortValue } from './order.js';
import type { SortValue } from './order.js';
import { sortable } from './sort-keys.js';
import { counted } from '../../../openehr/base/work.js';

/** The bound tuples and what is wanted of them. */
export interface SelectInput {
  readonly collection: 'aql' | 'ehrs';
  readonly state: ValueState;
  readonly page: Page;
  readonly required: ReadonlySet<number>;
  /** Whether rows have the EHRs that they are of. */
  readonly notesEhrs: boolean;
}

/** SELECT, grouping, DISTINCT, ORDER BY and LIMIT. docs/spec/aql.md#evaluation-order, steps 8 to 12. */
export function compileSelect(query: SelectInput): LogicalPlan {
  const { columns, query: ast } = query.state.scope;
  if (counted(columns).some(({ expression }) => expression.kind === 'aggregate'))
    return comparesNodes(query.state) ? candidateEhrs(query) : groupsPlan(query);
  if (!ast.select.distinct) return plainPlan(query);
  const kinds = counted(columns).map(({ expression }) => cellKindOf(rowValue(expression), query.state));
  return kinds.includes('object') ? distinctInProcess(query) : groupsPlan(query);
}

// ---------------------------------------------------------------- rows as they are

function plainPlan(query: SelectInput): LogicalPlan {
  const { state, page, required } = query;
  const { scope, tree } = state;
  const cells = counted(scope.columns).map(({ expression }) => cellOf(rowValue(expression), state));
  const { steps } = tree;
  const isSorted = scope.orderBy.length > 0;
  const sorts = counted(scope.orderBy).map((key, index) => rowSort(key, index, state, required));
  const rows = isSorted ? keptCells(cells, steps) : cells;
  const isCut = page.limit !== null || page.offset > 0 || page.top !== null;
  const isBackward = page.top?.backward === true;
  const keys = counted(sorts).flatMap((sort) => sort.keys);
  const order = isSorted || isBackward ? sortable([...keys, ...tieBreak(state)], steps) : [];
  if (order.length > 0) steps.push({ kind: 'sort', keys: isBackward ? reversed(order) : order });
  else if (isCut) sortDocuments(steps);
  cutPage(page, order, steps);
  const output = outputOf(rows, scope.columns, steps, isSorted || isCut);
  return close(query, { ...output, ehrs: noticedEhrs(query) }, { order: rowOrder(query, sorts) });
}

/** The cells computed before the sort, since what they are computed from is dropped there. */
function keptCells(cells: readonly Cell[], steps: Step[]): Cell[] {
  counted(cells).forEach(({ value }, index) => keepSmall(value, `y${index}`, steps));
  return counted(cells).map((cell, index) =>
    isField(cell.value) ? cell : { ...cell, value: fieldRef(`y${index}`) },
  );
}

function rowValue(expression: Column['expression']): RowValue {
  if (expression.kind === 'aggregate') throw new TypeError('aggregates are grouped');
  return expression;
}

function isField(value: Expression): boolean {
  return isNode(value) && value.kind === 'field' && !value.path.includes('.');
}

/** What is carried through a sort should be small: a cell instead of the document that it is in. */
function keepSmall(value: Expression, field: string, steps: Step[]): void {
  if (!isField(value)) steps.push({ kind: 'set', field, value });
}

/** The sort keys that one key of ORDER BY becomes, and the field of its value. */
interface RowSort {
  readonly field: string;
  readonly direction: 1 | -1;
  readonly isRanked: boolean;
  readonly keys: SortKeys;
}

function rowSort(
  { expression, descending }: OrderKey,
  index: number,
  state: ValueState,
  required: ReadonlySet<number>,
): RowSort {
  const value = sortValue(rowValue(expression), state, required);
  return sortOf(value, index, descending, state.tree.steps);
}

function sortOf({ rank, value }: SortValue, index: number, descending: boolean, steps: Step[]): RowSort {
  const direction = descending ? -1 : 1;
  const field = `k${index}`;
  const isRanked = rank !== null;
  if (isRanked) steps.push({ kind: 'set', field: `r${index}`, value: rank });
  steps.push({ kind: 'set', field, value });
  const fields = isRanked ? [`r${index}`, field] : [field];
  return { field, direction, isRanked, keys: counted(fields).map((each) => [each, direction]) };
}

/** What passes may know of ORDER BY. */
function rowOrder({ state }: SelectInput, sorts: readonly RowSort[]): RowOrder | null {
  const [first, another] = sorts;
  const [key] = state.scope.orderBy;
  if (first === undefined || key === undefined) return null;
  const { field, direction, isRanked } = first;
  return { field, direction, isRanked, isByStart: another === undefined && isByStart(key, state) };
}

/** Whether a key of ORDER BY is the start time of the COMPOSITION that the first document is. */
function isByStart({ expression }: OrderKey, { scope, tree }: ValueState): boolean {
  if (expression.kind !== 'path') return false;
  const use = scope.useOf(expression);
  if (use.fallbacks !== undefined) return false;
  return isStartTime(use) && !use.alias.optional && tree.bindings.get(use.alias.index)?.document === '';
}

function isStartTime({ alias, path, steps }: PathUse): boolean {
  const text = counted(path.steps)
    .map(({ attribute }) => attribute)
    .join('/');
  return (
    START_TIMES.includes(text) &&
    counted(steps).every(({ filter }) => filter === null) &&
    counted(alias.classes).every((each) => each === 'COMPOSITION')
  );
}

const START_TIMES = ['context/start_time', 'context/start_time/value'];

function tieBreak({ tree }: ValueState): SortKeys {
  return counted(tree.order).map((field) => [field, 1]);
}

/**
 * Pages of rows without ORDER BY still need one order: the documents are sorted before they are unfolded, so that a
 * limit stops early; unfolding keeps the order.
 */
function sortDocuments(steps: Step[]): void {
  const first = counted(steps).findIndex(
    ({ kind }) => kind !== 'match' && kind !== 'filter' && kind !== 'documents',
  );
  const at = first < 0 ? steps.length : first;
  steps.splice(at, 0, { kind: 'sort', keys: [['_id', 1]] });
}

function reversed(keys: SortKeys): SortKeys {
  return counted(keys).map(([field, direction]) => [field, direction === 1 ? -1 : 1]);
}

function cutPage({ top, offset, limit }: Page, forward: SortKeys, steps: Step[]): void {
  if (top !== null) {
    steps.push({ kind: 'limit', count: top.count });
    if (top.backward) steps.push({ kind: 'sort', keys: forward });
  }
  if (offset > 0) steps.push({ kind: 'skip', count: offset });
  if (limit !== null) steps.push({ kind: 'limit', count: limit });
}

// ---------------------------------------------------------------- output

interface Output {
  readonly row: readonly Expression[];
  readonly segs: readonly Expression[];
  readonly columns: readonly PlanColumn[];
}

/** The EHR of each EHR class of FROM that the query does not fix. */
function noticedEhrs({ notesEhrs, state }: SelectInput): Expression[] {
  if (!notesEhrs) return [];
  const { scope, tree } = state;
  const unknown = counted(scope.aliases).filter(
    ({ kind, fixedEhrId }) => kind === 'ehr' && fixedEhrId === null,
  );
  return counted(unknown).flatMap(({ index }) => tree.bindings.get(index)?.slot ?? []);
}

/** The EHR of a group when it is of one, without a list of all: the least id is then also the greatest. */
function onlyEhr(slot: Expression, index: number, accumulators: Group['accumulators']): Expression {
  const [least, greatest] = [`el${index}`, `eg${index}`];
  Object.assign(accumulators, { [least]: call('$min', slot), [greatest]: call('$max', slot) });
  return call('$cond', [call('$eq', [fieldRef(least), fieldRef(greatest)]), fieldRef(least), null]);
}

/** Fetches texts and nested segments for the rows that are left; `late`: their documents are gone by now. */
function outputOf(cells: readonly Cell[], columns: readonly Column[], steps: Step[], late: boolean): Output {
  const segs: Expression[] = [];
  const row = counted(cells).map((cell, index): Expression => {
    if (cell.kind === 'text') return readVersionText(cell.value, index, steps);
    if (cell.kind === 'object') segs.push(cellSegments(cell, index, steps, late));
    return cell.value;
  });
  let nextSegs = 0;
  const planned = counted(columns).map(({ name, path }, index): PlanColumn => {
    const kind = cells[index]?.kind ?? 'plain';
    return { name, path, kind, segs: kind === 'object' ? nextSegs++ : null };
  });
  return { row, segs, columns: planned };
}

function readVersionText(versionUid: Expression, index: number, steps: Step[]): Expression {
  const isPath = isNode(versionUid) && versionUid.kind === 'field';
  const localField = isPath ? versionUid.path : `id${index}`;
  if (!isPath) steps.push({ kind: 'set', field: localField, value: versionUid });
  steps.push(lookup({ as: `w${index}`, from: 'versions', localField, foreignField: '_id' }, []));
  return call('$first', fieldRef(`w${index}.data`));
}

function cellSegments(cell: Cell, index: number, steps: Step[], late: boolean): Expression {
  if (!late || cell.documentId === null) return cell.segs;
  const as = `g${index}`;
  const localField = cell.documentId.path;
  steps.push(lookup({ as, from: 'aql', localField, foreignField: FIELD.versionUid }, []));
  return call('$first', fieldRef(`${as}.${FIELD.segments}`));
}

function close(
  { collection, page, state }: SelectInput,
  { row, segs, ehrs, columns }: Output & { readonly ehrs: readonly Expression[] },
  more: Partial<Pick<LogicalPlan, 'order' | 'emptyRow' | 'inProcess'>>,
): LogicalPlan {
  const shape: RowShape = { row, ...(segs.length > 0 && { segs }), ...(ehrs.length > 0 && { ehrs }) };
  const plan = { collection, steps: state.tree.steps, row: shape, columns, page };
  const isByEhr = state.scope.from.kind === 'class';
  return { ...plan, isByEhr, order: null, probe: null, emptyRow: null, inProcess: null, ...more };
}

/** DISTINCT over objects with nested archetypes: equal only as a whole, so the server compares, then pages. */
function distinctInProcess(query: SelectInput): LogicalPlan {
  const { top, offset, limit } = query.page;
  const all: Page = { ...query.page, top: null, offset: 0, limit: null };
  const plan = plainPlan({ ...query, page: all });
  const most = top === null ? limit : Math.max(top.count - offset, 0);
  return { ...plan, inProcess: { kind: 'distinct', offset, limit: most } };
}

/** Whether groups or different values are identified by objects that hold nested archetypes. */
function comparesNodes(state: ValueState): boolean {
  return counted(state.scope.columns).some(({ expression }) => {
    if (expression.kind !== 'aggregate') return cellKindOf(expression, state) === 'object';
    const { distinct, argument } = expression;
    return distinct && argument?.kind === 'path' && cellKindOf(argument, state) === 'object';
  });
}

/** The EHRs of all tuples, for the evaluator to look at. */
function candidateEhrs(query: SelectInput): LogicalPlan {
  const { scope, tree } = query.state;
  const ehrs = counted(scope.aliases).filter(({ kind }) => kind === 'ehr');
  const slots = counted(ehrs).map(({ index }) => tree.bindings.get(index)?.slot ?? null);
  const id = Object.fromEntries(counted(slots).map((slot, index) => [`e${index}`, slot]));
  tree.steps.push({ kind: 'group', id, accumulators: {} });
  const row = counted(slots).map((_, index) => fieldRef(`_id.e${index}`));
  const columns = counted(scope.columns).map(
    ({ name, path }) => ({ name, path, kind: 'plain', segs: null }) as const,
  );
  const output = { row, segs: [], columns, ehrs: query.notesEhrs ? row : [] };
  return close(query, output, { inProcess: { kind: 'evaluate' } });
}

// ---------------------------------------------------------------- groups

/** DISTINCT and aggregates: one row per group. */
function groupsPlan(query: SelectInput): LogicalPlan {
  const { state, page } = query;
  const { scope, tree } = state;
  const group = groupOf(scope.columns, state);
  const ehrs = counted(noticedEhrs(query)).map((slot, index) => onlyEhr(slot, index, group.accumulators));
  const keys = counted(scope.orderBy).flatMap((key, index) => groupSortKeys(key, index, group, query));
  tree.steps.push({ kind: 'group', id: group.id, accumulators: group.accumulators });
  tree.steps.push(...group.sortFields);
  // Groups come out of a hash table, in another order at each call.
  const isSorted = keys.length > 0 || group.id !== null;
  const order = sortable([...keys, ['_id', 1]], tree.steps);
  if (isSorted)
    tree.steps.push({ kind: 'sort', keys: page.top?.backward === true ? reversed(order) : order });
  cutPage(page, order, tree.steps);
  const output = outputOf(group.cells, scope.columns, tree.steps, true);
  return close(query, { ...output, ehrs }, { emptyRow: group.id === null ? group.empty : null });
}

/** The sort value of a selected column: of a group key that of any member, else of the aggregate's result. */
function groupSortKeys(
  key: OrderKey,
  index: number,
  group: Group,
  { state, required }: SelectInput,
): SortKeys {
  if (key.expression.kind === 'aggregate') {
    const { rank, value } = group.results[key.column ?? 0] ?? { rank: null, value: null };
    return sortOf({ rank, value }, index, key.descending, group.sortFields).keys;
  }
  const { keys } = rowSort(key, index, state, required);
  for (const [field] of counted(keys)) group.accumulators[field] = call('$first', fieldRef(field));
  return keys;
}
