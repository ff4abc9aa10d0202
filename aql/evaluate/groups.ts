import type { Aggregate, ColumnExpression } from '../syntax/ast.js';
import type { Scope } from '../semantics/scope-types.js';
import { counted, step } from '../../openehr/base/work.js';
import { aggregate } from './aggregate.js';
import type { Identities } from './canonical-text.js';
import type { RowEvaluator } from './condition.js';
import type { Row } from './rows.js';
import { plain, type Found } from './value.js';

/** A line of the answer before it is sorted and cut. */
export interface Line {
  readonly cells: readonly (Found | null)[];
  readonly keys: readonly (Found | null)[];
  /** Final order where the keys are equal. */
  readonly tie: readonly (string | number)[];
}

/** What is kept of the rows of one group. */
interface Group {
  readonly cells: readonly (Found | null)[];
  rows: number;
  /** By column, what its aggregate folds. */
  readonly values: readonly Found[][];
}

/** Puts rows into groups while they come: of a row only what the columns need is kept. */
export class Groups {
  constructor(
    private readonly scope: Scope,
    private readonly evaluator: RowEvaluator,
    private readonly identities: Identities,
  ) {}

  /** One line for each group; without a column to group by, one in all. */
  of(rows: Iterable<Row>): readonly Line[] {
    const groups = new Map<string, Group>();
    for (const row of rows) {
      step();
      this.#add(row, groups);
    }
    const hasKeys = counted(this.scope.columns).some(({ expression }) => isKey(expression));
    if (groups.size === 0 && !hasKeys) return [this.#line({ cells: [], rows: 0, values: [] })];
    return counted([...groups.values()]).map((group) => this.#line(group));
  }

  #add(row: Row, groups: Map<string, Group>): void {
    const { columns } = this.scope;
    const cells = counted(columns).map(({ expression }) =>
      expression.kind === 'aggregate'
        ? null
        : rendered(this.evaluator.value(expression, row), row, expression, this.scope),
    );
    const keys = counted(cells).filter((_, index) => isKey(columns[index]?.expression ?? NULL_COLUMN));
    const key = this.identities.ofAll(counted(keys).map((cell) => cell?.value ?? null));
    let group = groups.get(key);
    if (group === undefined)
      groups.set(key, (group = { cells, rows: 0, values: counted(columns).map(() => []) }));
    group.rows += 1;
    for (const [index, { expression }] of counted(columns).entries()) {
      if (expression.kind !== 'aggregate' || expression.argument === null) continue;
      const value = this.evaluator.value(expression.argument, row);
      if (value !== null) group.values[index]?.push(value);
    }
  }

  #line({ cells, rows, values }: Group): Line {
    step();
    const own = counted(this.scope.columns).map(({ expression, name }, index) => {
      if (expression.kind === 'aggregate')
        return this.#aggregate(expression, rows, values[index] ?? [], name);
      const isLiteral = expression.kind !== 'path' && expression.kind !== 'function';
      return isLiteral && expression.kind !== 'null' && 'value' in expression
        ? plain(expression.value)
        : (cells[index] ?? null);
    });
    const keys = counted(this.scope.orderBy).map(({ column }) =>
      column === null ? null : (own[column] ?? null),
    );
    return { cells: own, keys, tie: counted(own).map((cell) => this.identities.textOf(cell?.value ?? null)) };
  }

  #aggregate(call: Aggregate, rows: number, values: readonly Found[], column: string): Found | null {
    return call.argument === null ? plain(rows) : aggregate(call, values, column, this.identities);
  }
}

function isKey({ kind }: ColumnExpression): boolean {
  return kind === 'path' || kind === 'function';
}

const NULL_COLUMN: ColumnExpression = { kind: 'null', at: { line: 1, column: 1 } };

/** A whole EHR is shown as summary, and a whole VERSION as it is, not as the object that paths walk through. */
export function rendered(
  found: Found | null,
  row: Row,
  expression: ColumnExpression,
  scope: Scope,
): Found | null {
  if (found === null || expression.kind !== 'path' || expression.steps.length > 0) return found;
  const bound = row.tuple[scope.useOf(expression).alias.index];
  if (bound?.kind === 'version') return plain(bound.version.cell);
  return bound?.kind === 'ehr' ? plain(bound.ehr.cell) : found;
}
