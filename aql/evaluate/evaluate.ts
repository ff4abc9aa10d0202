import { parseEhrId } from '../../openehr/base/object-version-id.js';
import type { JsonValue } from '../../openehr/base/json.js';
import type { Aggregate, ColumnExpression } from '../syntax/ast.js';
import type { OrderKey, Scope } from '../semantics/scope/types.js';
import { aggregate } from './aggregate.js';
import { canonicalText } from './canonical-text.js';
import { RowEvaluator } from './condition.js';
import { FromEvaluator, type Bound, type Tuple } from './contains.js';
import type { ReferenceData, ReferenceOptions } from './data.js';
import { compareForOrder } from './order.js';
import { rowsOf, type Row } from './rows.js';
import { ehrsAt } from './store.js';
import { compareKeys, plain, type Found } from './value.js';

/** The answer of the evaluator. */
export interface ReferenceResult {
  readonly columns: readonly { readonly name: string; readonly path: string | null }[];
  readonly rows: readonly (readonly JsonValue[])[];
  /**
   * All rows in order before paging, each with the number of its group of equal ORDER BY keys: rows of one
   * group may come in any order.
   */
  readonly ordered: readonly { readonly cells: readonly JsonValue[]; readonly group: number }[];
}

interface Line {
  readonly cells: readonly (Found | null)[];
  readonly keys: readonly (Found | null)[];
  /** Final order where the keys are equal. */
  readonly tie: readonly (string | number)[];
}

/**
 * Interpreter: evaluates a bound, checked query over plain data, step by step (docs/spec/aql.md#evaluation-order),
 * simple rather than fast. Production runs it for GROUP BY and COUNT(DISTINCT) of whole objects (query/evaluate.ts);
 * the tests compare every pipeline with it. `ehrId`: the request's ehr_id, as it was given to `resolveScope`.
 */
export function evaluateQuery(
  scope: Scope,
  data: ReferenceData,
  options: ReferenceOptions & { readonly ehrId?: string | null },
): ReferenceResult {
  const rules = {
    systemId: options.systemId,
    subsumption: options.subsumption ?? false,
    ehrId: options.ehrId == null ? null : (parseEhrId(options.ehrId) ?? options.ehrId),
  };
  const clock = { now: options.now, offsetMinutes: options.zoneOffsetMinutes ?? 0 };
  const evaluator = new RowEvaluator(scope, rules, clock);
  const ehrs = ehrsAt(data, options.asOf ?? null);
  const { where } = scope.query;
  const rows = new FromEvaluator(scope, ehrs, rules)
    .tuples()
    .flatMap((tuple) => rowsOf(tuple, scope, rules))
    .filter((row) => where === null || evaluator.truth(where, row) === true);
  const lines = isGrouped(scope)
    ? groupedLines(scope, rows, evaluator)
    : rows.map((row) => lineOf(scope, row, evaluator));
  const distinct = scope.query.select.distinct ? distinctLines(lines) : lines;
  const sorted = [...distinct].sort((a, b) => compareLines(a, b, scope.orderBy) || compareTies(a.tie, b.tie));
  const ordered = withGroups(sorted, scope.orderBy);
  return {
    columns: scope.columns,
    rows: paged(
      ordered.map(({ cells }) => cells),
      options.page,
    ),
    ordered,
  };
}

function isGrouped({ columns }: Scope): boolean {
  return columns.some(({ expression }) => expression.kind === 'aggregate');
}

function lineOf(scope: Scope, row: Row, evaluator: RowEvaluator): Line {
  const cell = (expression: ColumnExpression): Found | null => {
    if (expression.kind === 'aggregate') throw new TypeError('an aggregate needs a group');
    return evaluator.value(expression, row);
  };
  return {
    cells: scope.columns.map(({ expression }) => rendered(cell(expression), row, expression, scope)),
    keys: scope.orderBy.map(({ expression }) => cell(expression)),
    tie: tieOf(row.tuple),
  };
}

/** A whole EHR is shown as summary, not as the object that paths walk through. */
function rendered(found: Found | null, row: Row, expression: ColumnExpression, scope: Scope): Found | null {
  if (found === null || expression.kind !== 'path' || expression.steps.length > 0) return found;
  const bound = row.tuple[scope.useOf(expression).alias.index];
  return bound?.kind === 'ehr' ? plain(bound.ehr.cell) : found;
}

function groupedLines(scope: Scope, rows: readonly Row[], evaluator: RowEvaluator): readonly Line[] {
  const groups = new Map<string, { rows: Row[]; cells: readonly (Found | null)[] }>();
  const isKey = (expression: ColumnExpression): boolean =>
    expression.kind === 'path' || expression.kind === 'function';
  for (const row of rows) {
    const cells = scope.columns.map(({ expression }) =>
      expression.kind === 'aggregate'
        ? null
        : rendered(evaluator.value(expression, row), row, expression, scope),
    );
    const keys = cells.filter((_, index) => isKey(scope.columns[index]?.expression ?? NULL_COLUMN));
    const key = keys.map((cell) => canonicalText(cell?.value ?? null)).join('\n');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { rows: [row], cells });
    else group.rows.push(row);
  }
  const hasKeys = scope.columns.some(({ expression }) => isKey(expression));
  if (groups.size === 0 && !hasKeys) return [groupLine(scope, [], [], evaluator)];
  return [...groups.values()].map((group) => groupLine(scope, group.rows, group.cells, evaluator));
}

const NULL_COLUMN: ColumnExpression = { kind: 'null', at: { line: 1, column: 1 } };

function groupLine(
  scope: Scope,
  rows: readonly Row[],
  cells: readonly (Found | null)[],
  evaluator: RowEvaluator,
): Line {
  const own = scope.columns.map(({ expression, name }, index) => {
    if (expression.kind === 'aggregate') {
      const values = argumentsOf(expression, rows, evaluator);
      return values === null ? plain(rows.length) : aggregate(expression, values, name);
    }
    const isLiteral = expression.kind !== 'path' && expression.kind !== 'function';
    return isLiteral && expression.kind !== 'null' && 'value' in expression
      ? plain(expression.value)
      : (cells[index] ?? null);
  });
  const keys = scope.orderBy.map(({ column }) => (column === null ? null : (own[column] ?? null)));
  return { cells: own, keys, tie: own.map((cell) => canonicalText(cell?.value ?? null)) };
}

/** The values that an aggregate folds; null for COUNT(*). */
function argumentsOf(
  { argument }: Aggregate,
  rows: readonly Row[],
  evaluator: RowEvaluator,
): readonly Found[] | null {
  if (argument === null) return null;
  return rows.map((row) => evaluator.value(argument, row)).filter((value) => value !== null);
}

function distinctLines(lines: readonly Line[]): readonly Line[] {
  const found = new Map<string, Line>();
  for (const line of lines) {
    const key = line.cells.map((cell) => canonicalText(cell?.value ?? null)).join('\n');
    if (!found.has(key)) found.set(key, line);
  }
  return [...found.values()];
}

function compareLines(a: Line, b: Line, orderBy: readonly OrderKey[]): number {
  for (const [index, { descending }] of orderBy.entries()) {
    const order = compareForOrder(a.keys[index] ?? null, b.keys[index] ?? null);
    if (order !== 0) return descending ? -order : order;
  }
  return 0;
}

/** Version ids and node numbers of the bound objects, in the order of the text (docs/spec/aql.md#order-by). */
function tieOf(tuple: Tuple): readonly (string | number)[] {
  return tuple.flatMap((bound) => boundTie(bound ?? null));
}

function boundTie(bound: Bound | null): (string | number)[] {
  if (bound === null) return ['', -1];
  if (bound.kind === 'ehr') return [bound.ehr.source.ehrId, 0];
  return [bound.version.uid, bound.kind === 'node' ? bound.node.number : 0];
}

function compareTies(a: Line['tie'], b: Line['tie']): number {
  for (const [index, key] of a.entries()) {
    const order = compareKeys(key, b[index] ?? key);
    if (order !== 0) return order;
  }
  return 0;
}

function withGroups(lines: readonly Line[], orderBy: readonly OrderKey[]): ReferenceResult['ordered'] {
  let group = 0;
  return lines.map((line, index) => {
    const before = lines[index - 1];
    if (before !== undefined && compareLines(before, line, orderBy) !== 0) group++;
    return { cells: line.cells.map((cell) => cell?.value ?? null), group };
  });
}

function paged<T>(rows: readonly T[], page: ReferenceOptions['page']): readonly T[] {
  if (page === undefined) return rows;
  const { top, offset, limit } = page;
  const kept = top === null ? rows : top.backward ? rows.slice(-top.count) : rows.slice(0, top.count);
  return kept.slice(offset, limit === null ? undefined : offset + limit);
}
