import { parseEhrId } from '../../openehr/base/object-version-id.js';
import type { JsonValue } from '../../openehr/base/json.js';
import { counted, step } from '../../openehr/base/work.js';
import type { ColumnExpression } from '../syntax/ast.js';
import type { OrderKey, Scope } from '../semantics/scope-types.js';
import { Identities } from './canonical-text.js';
import { RowEvaluator } from './condition.js';
import { Conjuncts } from './conjuncts.js';
import { FromEvaluator, type Bound, type Tuple } from './contains.js';
import type { ReferenceData, ReferenceOptions } from './data.js';
import { Groups, rendered, type Line } from './groups.js';
import { compareForOrder } from './order.js';
import type { Row } from './rows.js';
import { judgeOf } from './permitted.js';
import { ehrsAt } from './store.js';
import { compareKeys, type Found } from './value.js';

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

function* rowsAfterWhere(tuples: Iterable<Tuple>, conjuncts: Conjuncts): Generator<Row> {
  for (const tuple of tuples) {
    step();
    yield* conjuncts.rows(tuple);
  }
}

/**
 * Interpreter: evaluates a bound, checked query over plain data, step by step (docs/spec/aql.md#evaluation-order),
 * simple rather than fast. Production runs it in a thread for GROUP BY and COUNT(DISTINCT) of whole objects
 * (query/evaluate.ts), within the budget of the request; the tests compare every pipeline with it. `ehrId`: the request's ehr_id, as it was given to `resolveScope`.
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
  const ehrs = ehrsAt(
    data,
    options.asOf ?? null,
    options.permitted === undefined ? null : judgeOf(options.permitted, options.systemId),
  );
  const conjuncts = new Conjuncts(scope, evaluator, rules);
  const found = new FromEvaluator(scope, ehrs, rules, (tuple, alias) => conjuncts.admits(tuple, alias));
  const identities = new Identities();
  const rows = rowsAfterWhere(found.tuples(), conjuncts);
  const lines = isGrouped(scope)
    ? new Groups(scope, evaluator, identities).of(rows)
    : evaluatedLines(scope, rows, evaluator);
  const distinct = scope.query.select.distinct ? distinctLines(lines, identities) : lines;
  const sorted = counted([...distinct]).sort(
    (a, b) => compareLines(a, b, scope.orderBy) || compareTies(a.tie, b.tie),
  );
  const ordered = withGroups(sorted, scope.orderBy);
  return {
    columns: scope.columns,
    rows: paged(
      counted(ordered).map(({ cells }) => cells),
      options.page,
    ),
    ordered,
  };
}

function isGrouped({ columns }: Scope): boolean {
  return counted(columns).some(({ expression }) => expression.kind === 'aggregate');
}

function evaluatedLines(scope: Scope, rows: Iterable<Row>, evaluator: RowEvaluator): readonly Line[] {
  const lines: Line[] = [];
  for (const row of rows) {
    step();
    lines.push(evaluatedLine(scope, row, evaluator));
  }
  return lines;
}

function evaluatedLine(scope: Scope, row: Row, evaluator: RowEvaluator): Line {
  const cell = (expression: ColumnExpression): Found | null => {
    if (expression.kind === 'aggregate') throw new TypeError('an aggregate needs a group');
    return evaluator.value(expression, row);
  };
  return {
    cells: counted(scope.columns).map(({ expression }) => rendered(cell(expression), row, expression, scope)),
    keys: counted(scope.orderBy).map(({ expression }) => cell(expression)),
    tie: tieOf(row.tuple),
  };
}

function distinctLines(lines: readonly Line[], identities: Identities): readonly Line[] {
  const found = new Map<string, Line>();
  for (const line of lines) {
    step();
    const key = identities.ofAll(counted(line.cells).map((cell) => cell?.value ?? null));
    if (!found.has(key)) found.set(key, line);
  }
  return [...found.values()];
}

function compareLines(a: Line, b: Line, orderBy: readonly OrderKey[]): number {
  step();
  for (const [index, { descending }] of counted(orderBy).entries()) {
    const order = compareForOrder(a.keys[index] ?? null, b.keys[index] ?? null);
    if (order !== 0) return descending ? -order : order;
  }
  return 0;
}

/** Version ids and node numbers of the bound objects, in the order of the text (docs/spec/aql.md#order-by). */
function tieOf(tuple: Tuple): readonly (string | number)[] {
  return counted(tuple).flatMap((bound) => boundTie(bound ?? null));
}

function boundTie(bound: Bound | null): (string | number)[] {
  if (bound === null) return ['', -1];
  if (bound.kind === 'ehr') return [bound.ehr.source.ehrId, 0];
  return [bound.version.uid, bound.kind === 'node' ? bound.node.number : 0];
}

function compareTies(a: Line['tie'], b: Line['tie']): number {
  for (const [index, key] of counted(a).entries()) {
    const order = compareKeys(key, b[index] ?? key);
    if (order !== 0) return order;
  }
  return 0;
}

function withGroups(lines: readonly Line[], orderBy: readonly OrderKey[]): ReferenceResult['ordered'] {
  let group = 0;
  return counted(lines).map((line, index) => {
    const before = lines[index - 1];
    if (before !== undefined && compareLines(before, line, orderBy) !== 0) group++;
    return { cells: counted(line.cells).map((cell) => cell?.value ?? null), group };
  });
}

function paged<T>(rows: readonly T[], page: ReferenceOptions['page']): readonly T[] {
  if (page === undefined) return rows;
  const { top, offset, limit } = page;
  const kept = top === null ? rows : top.backward ? rows.slice(-top.count) : rows.slice(0, top.count);
  return kept.slice(offset, limit === null ? undefined : offset + limit);
}
