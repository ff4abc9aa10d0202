import type { JsonValue } from '../../openehr/base/json.js';
import type { Page } from '../result/paging.js';
import type { Column, OrderKey } from '../semantics/scope-types.js';
import { cellOf } from './cell.js';
import type { Cell } from './cell.js';
import { fieldsOf } from './expression.js';
import type { Expression, Stage } from './expression.js';
import { lookup } from './bind-state.js';
import { groupOf } from './group.js';
import type { Group } from './group.js';
import type { ValueState } from './operand.js';
import { sortValue } from './order.js';
import { checkPipeline } from './pipeline-check.js';
import { probeOf } from './probe.js';
import { sortable } from './sort-keys.js';
import type { SortValue } from './order.js';
import type { PlanColumn, QueryPlan } from './plan.js';
import { deferLookups } from './defer-lookups.js';
import { emitStages } from './stages.js';
import { COLLECTION_FIELDS } from './steps.js';
import { startOrder } from './start-order.js';
import type { Finish } from './start-order.js';
import type { SortKeys, Step } from './steps.js';

/** SELECT, grouping, DISTINCT, ORDER BY and LIMIT. docs/spec/aql.md#evaluation-order, steps 8 to 12. */
export function finish(query: Finish): QueryPlan {
  const { columns, query: ast } = query.state.scope;
  if (columns.some(({ expression }) => expression.kind === 'aggregate'))
    return comparesNodes(query.state) ? candidateEhrs(query) : groups(query);
  if (!ast.select.distinct) return plain(query);
  const kinds = columns.map((column) => plainCell(column, query.state).kind);
  return kinds.includes('object') ? distinctInProcess(query) : groups(query);
}

// ---------------------------------------------------------------- rows as they are

function plain(query: Finish): QueryPlan {
  const { collection, state, page, required } = query;
  const start = startOrder(query);
  if (start !== null) return plainByStart(query, start);
  const { scope, tree } = state;
  const cells = scope.columns.map((column) => plainCell(column, state));
  const { steps } = tree;
  const sorted = scope.orderBy.length > 0;
  const keys = scope.orderBy.flatMap((key, index) => sortKeys(key, index, state, required));
  const rows = sorted ? keptCells(cells, steps) : cells;
  const isCut = page.limit !== null || page.offset > 0 || page.top !== null;
  const isBackward = page.top?.backward === true;
  const order = sorted || isBackward ? sortable([...keys, ...tieBreak(state)], steps) : [];
  if (sorted || isCut) placeOrder(order, page, steps);
  cut(page, order, steps);
  const late = sorted || isCut;
  const output = { ...outputOf(rows, scope.columns, steps, late), ehrs: noticedEhrs(query) };
  const plan = close(collection, deferLookups(steps), output, null);
  return sorted ? { ...plan, probe: probeOf(query, keys, steps, shapeOf(output)) } : plan;
}

/** The cells computed before the sort, since what they are computed from is dropped there. */
function keptCells(cells: readonly Cell[], steps: Step[]): Cell[] {
  cells.forEach(({ value }, index) => keepSmall(value, `y${index}`, steps));
  return cells.map((cell, index) => (isField(cell.value) ? cell : { ...cell, value: `$y${index}` }));
}

/**
 * ORDER BY the start time of the COMPOSITION with a limit: the index gives the documents in that order, so only
 * as many are read as rows are wanted.
 */
function plainByStart(query: Finish, direction: 1 | -1): QueryPlan {
  const { collection, state, page } = query;
  const { scope, tree } = state;
  tree.steps.splice(1, 0, { kind: 'sort', keys: [['start', direction]] });
  const cells = scope.columns.map((column) => plainCell(column, state));
  const rows = keptCells(cells, tree.steps);
  cut(page, [], tree.steps);
  const output = { ...outputOf(rows, scope.columns, tree.steps, true), ehrs: noticedEhrs(query) };
  return close(collection, deferLookups(tree.steps), output, null);
}

function plainCell({ expression }: Column, state: ValueState): Cell {
  if (expression.kind === 'aggregate') throw new TypeError('aggregates are grouped');
  return cellOf(expression, state);
}

function isField(value: Expression): boolean {
  return typeof value === 'string' && !value.includes('.');
}

/** What is carried through a sort should be small: a cell instead of the document that it is in. */
function keepSmall(value: Expression, field: string, steps: Step[]): void {
  if (!isField(value)) steps.push({ kind: 'set', field, value });
}

function sortKeys(
  { expression, descending }: OrderKey,
  index: number,
  state: ValueState,
  required: ReadonlySet<number>,
): SortKeys {
  if (expression.kind === 'aggregate') throw new TypeError('aggregates are grouped');
  return keysOf(sortValue(expression, state, required), index, descending, state.tree.steps);
}

function keysOf({ rank, value }: SortValue, index: number, descending: boolean, steps: Step[]): SortKeys {
  const direction = descending ? -1 : 1;
  const keys: [string, 1 | -1][] = [];
  if (rank !== null) {
    steps.push({ kind: 'set', field: `r${index}`, value: rank });
    keys.push([`r${index}`, direction]);
  }
  steps.push({ kind: 'set', field: `k${index}`, value });
  keys.push([`k${index}`, direction]);
  return keys;
}

function tieBreak({ tree }: ValueState): SortKeys {
  return tree.order.map((field) => [field, 1]);
}

/**
 * With ORDER BY a sort over the rows. Without it pages still need one order: the documents are sorted before
 * they are unfolded, so that a limit stops early; unfolding keeps the order.
 */
function placeOrder(order: SortKeys, page: Page, steps: Step[]): void {
  if (order.length > 0) {
    steps.push({ kind: 'sort', keys: page.top?.backward === true ? reversed(order) : order });
    return;
  }
  const first = steps.findIndex(({ kind }) => kind !== 'match');
  const at = first < 0 ? steps.length : first;
  steps.splice(at, 0, { kind: 'sort', keys: [['_id', 1]] });
}

function reversed(keys: SortKeys): SortKeys {
  return keys.map(([field, direction]) => [field, direction === 1 ? -1 : 1]);
}

function cut({ top, offset, limit }: Page, forward: SortKeys, steps: Step[]): void {
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
  readonly ehrs?: readonly Expression[];
}

/** The EHR of each EHR class of FROM that the query does not fix. */
function noticedEhrs({ notesEhrs, state }: Finish): Expression[] {
  if (!notesEhrs) return [];
  const { scope, tree } = state;
  const unknown = scope.aliases.filter(({ kind, fixedEhrId }) => kind === 'ehr' && fixedEhrId === null);
  return unknown.flatMap(({ index }) => tree.places.get(index)?.slot ?? []);
}

/** The EHR of a group when it is of one, without a list of all: the least id is then also the greatest. */
function onlyEhr(slot: Expression, index: number, accumulators: Group['accumulators']): Expression {
  const [least, greatest] = [`el${index}`, `eg${index}`];
  Object.assign(accumulators, { [least]: { $min: slot }, [greatest]: { $max: slot } });
  return { $cond: [{ $eq: [`$${least}`, `$${greatest}`] }, `$${least}`, null] };
}

/** Fetches texts and nested segments for the rows that are left; `late`: their documents are gone by now. */
function outputOf(cells: readonly Cell[], columns: readonly Column[], steps: Step[], late: boolean): Output {
  const segs: Expression[] = [];
  const row = cells.map((cell, index): Expression => {
    if (cell.kind === 'text') return textOf(cell.value, index, steps);
    if (cell.kind === 'object') segs.push(segmentsOf(cell, index, steps, late));
    return cell.value;
  });
  let nextSegs = 0;
  const planned = columns.map(({ name, path }, index): PlanColumn => {
    const kind = cells[index]?.kind ?? 'plain';
    return { name, path, kind, segs: kind === 'object' ? nextSegs++ : null };
  });
  return { row, segs, columns: planned };
}

function textOf(versionUid: Expression, index: number, steps: Step[]): Expression {
  const isPath = typeof versionUid === 'string' && versionUid.startsWith('$');
  const localField = isPath ? versionUid.slice(1) : `id${index}`;
  if (!isPath) steps.push({ kind: 'set', field: localField, value: versionUid });
  steps.push(lookup({ as: `w${index}`, from: 'versions', localField, foreignField: '_id' }, []));
  return { $first: `$w${index}.data` };
}

function segmentsOf(cell: Cell, index: number, steps: Step[], late: boolean): Expression {
  if (!late || cell.documentId === null) return cell.segs;
  const as = `g${index}`;
  const localField = cell.documentId.slice(1);
  steps.push(lookup({ as, from: 'aql', localField, foreignField: '_id' }, []));
  return { $first: `$${as}.segs` };
}

function shapeOf({ row, segs, ehrs = [] }: Omit<Output, 'columns'>): Stage {
  return { _id: 0, row, ...(segs.length > 0 && { segs }), ...(ehrs.length > 0 && { ehrs }) };
}

function close(
  collection: 'aql' | 'ehrs',
  steps: readonly Step[],
  { columns, ...output }: Output,
  emptyRow: readonly JsonValue[] | null,
): QueryPlan {
  const shape = shapeOf(output);
  const needed = fieldsOf(shape);
  const pipeline: Stage[] = emitStages(steps, needed, COLLECTION_FIELDS[collection]);
  pipeline.push({ $project: shape });
  checkPipeline(pipeline);
  return { collection, pipeline, columns, emptyRow, probe: null, inProcess: null };
}

/** DISTINCT over objects with nested archetypes: equal only as a whole, so the server compares, then pages. */
function distinctInProcess(query: Finish): QueryPlan {
  const { top, offset, limit } = query.page;
  const all: Page = { ...query.page, top: null, offset: 0, limit: null };
  const plan = plain({ ...query, page: all });
  const most = top === null ? limit : Math.max(top.count - offset, 0);
  return { ...plan, inProcess: { kind: 'distinct', offset, limit: most } };
}

/** Whether groups or different values are told by objects that hold nested archetypes. */
function comparesNodes(state: ValueState): boolean {
  return state.scope.columns.some(({ expression }) => {
    if (expression.kind !== 'aggregate') return cellOf(expression, state).kind === 'object';
    const { distinct, argument } = expression;
    return distinct && argument?.kind === 'path' && cellOf(argument, state).kind === 'object';
  });
}

/** The EHRs of all tuples, for the evaluator to look at. */
function candidateEhrs({ collection, state, notesEhrs }: Finish): QueryPlan {
  const { scope, tree } = state;
  const ehrs = scope.aliases.filter(({ kind }) => kind === 'ehr');
  const slots = ehrs.map(({ index }) => tree.places.get(index)?.slot ?? null);
  const id = Object.fromEntries(slots.map((slot, index) => [`e${index}`, slot]));
  tree.steps.push({ kind: 'group', id, accumulators: {} });
  const row = slots.map((_, index) => `$_id.e${index}`);
  const columns = scope.columns.map(({ name, path }): PlanColumn => ({
    name,
    path,
    kind: 'plain',
    segs: null,
  }));
  const output = { row, segs: [], columns, ehrs: notesEhrs ? row : [] };
  const plan = close(collection, tree.steps, output, null);
  return { ...plan, inProcess: { kind: 'evaluate' } };
}

// ---------------------------------------------------------------- groups

/** DISTINCT and aggregates: one row per group. */
function groups(query: Finish): QueryPlan {
  const { collection, state, page } = query;
  const { scope, tree } = state;
  const group = groupOf(scope.columns, state);
  const ehrs = noticedEhrs(query).map((slot, index) => onlyEhr(slot, index, group.accumulators));
  const keys = scope.orderBy.flatMap((key, index) => groupSortKeys(key, index, group, query));
  tree.steps.push({ kind: 'group', id: group.id, accumulators: group.accumulators });
  tree.steps.push(...group.sortFields);
  const isCut = page.limit !== null || page.offset > 0 || page.top !== null;
  const isSorted = keys.length > 0 || (isCut && group.id !== null);
  const order = sortable([...keys, ['_id', 1]], tree.steps);
  if (isSorted)
    tree.steps.push({ kind: 'sort', keys: page.top?.backward === true ? reversed(order) : order });
  cut(page, order, tree.steps);
  const output = { ...outputOf(group.cells, scope.columns, tree.steps, true), ehrs };
  return close(collection, tree.steps, output, group.id === null ? group.empty : null);
}

/** The sort value of a selected column: of a group key that of any member, else of the aggregate's result. */
function groupSortKeys(
  { expression, column, descending }: OrderKey,
  index: number,
  group: Group,
  { state, required }: Finish,
): SortKeys {
  if (expression.kind === 'aggregate') {
    const { rank, value } = group.results[column ?? 0] ?? { rank: null, value: null };
    return keysOf({ rank, value }, index, descending, group.sortFields);
  }
  const keys = sortKeys({ expression, column, descending }, index, state, required);
  for (const [field] of keys) group.accumulators[field] = { $first: `$${field}` };
  return keys;
}
