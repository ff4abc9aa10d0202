import type { ColumnExpression } from '../../syntax/ast.js';
import type { Domain } from '../../semantics/scope-types.js';
import type { DomainValue } from '../value/values.js';
import { and, call, literal, present } from '../../plan/expression.js';
import type { Expression } from '../../plan/expression.js';
import { constantOf, operandOf, valueOfPath } from '../path/operand.js';
import type { ValueState } from '../path/operand.js';
import { uidOrder } from '../value/identifier.js';
import { domainValues } from '../value/values.js';
import { counted } from '../../../openehr/base/work.js';

/** What rows are sorted by: `rank` first (missing values after all others), then `value`. */
export interface SortValue {
  /** Null when there is but one kind of value, and it is always there. */
  readonly rank: Expression | null;
  readonly value: Expression;
}

/** Order of kinds of values in one column (docs/spec/aql.md#order-by). */
const RANKS: Readonly<Record<Domain, number>> = {
  number: 0,
  duration: 1,
  time: 2,
  date: 3,
  instant: 4,
  boolean: 5,
  text: 6,
};

const OTHER_RANK = 7;
const MISSING_RANK = 8;

/** The sort value of a column expression or of a value that is not selected. `required`: it is never NULL. */
export function sortValue(
  expression: Exclude<ColumnExpression, { kind: 'aggregate' }>,
  state: ValueState,
  required: ReadonlySet<number>,
): SortValue {
  if (expression.kind === 'path') {
    const use = state.scope.useOf(expression);
    const ref = valueOfPath(expression, state);
    const isRequired = required.has(use.index);
    if (use.type.identifier === 'version')
      return { rank: isRequired ? null : presence(ref.raw), value: uidOrder(ref.raw) };
    return sortValueOf(domainValues(ref), ref.raw, isRequired);
  }
  if (constantOf(expression, state) !== null) return { rank: null, value: literal(null) };
  const { values, present: there } = operandOf(expression, state);
  const [only] = values;
  return { rank: call('$cond', [there, 0, MISSING_RANK]), value: only?.value ?? null };
}

/** Rank and value from the readings of a value. */
export function sortValueOf(values: readonly DomainValue[], raw: Expression, isRequired: boolean): SortValue {
  const [only] = values;
  if (values.length === 1 && only !== undefined && only.native !== null)
    return { rank: isRequired ? null : presence(only.value), value: only.value };
  const branches = counted(values).map(({ guard, value, domain }) => ({
    guard: and(guard, present(value)),
    value,
    rank: RANKS[domain],
  }));
  const other: Expression = call('$cond', [present(raw), OTHER_RANK, MISSING_RANK]);
  return {
    rank: counted(branches).reduceRight<Expression>(
      (rest, { guard, rank }) => call('$cond', [guard, rank, rest]),
      other,
    ),
    value: counted(branches).reduceRight<Expression>(
      (rest, { guard, value }) => call('$cond', [guard, value, rest]),
      null,
    ),
  };
}

function presence(value: Expression): Expression {
  return call('$cond', [present(value), 0, MISSING_RANK]);
}
