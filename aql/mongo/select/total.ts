import type { Aggregate } from '../../syntax/ast.js';
import {
  and,
  call,
  equal,
  fieldRef,
  isOneOf,
  literal,
  member,
  present,
  when,
} from '../../plan/expression.js';
import type { Expression } from '../../plan/expression.js';
import { DURATION, isSummable, POINTS_IN_TIME } from '../../semantics/summable.js';
import { operandOf, valueOfPath } from '../path/operand.js';
import type { ValueState } from '../path/operand.js';
import { domainValues } from '../value/values.js';
import type { ValueRef } from '../value/values.js';
import { counted } from '../../../openehr/base/work.js';

/** A sum or average as accumulators of `$group`, and its cell made of them. */
interface Total {
  readonly accumulators: Readonly<Record<string, Expression>>;
  /** A number or NULL; where `isChecked`, the name of a class that cannot be added (`refusedTotal`). */
  readonly result: Expression;
  readonly isChecked: boolean;
}

/** SUM or AVG of the values of a path or function (docs/spec/aql.md#aggregates). */
export function total(
  operator: '$sum' | '$avg',
  argument: NonNullable<Aggregate['argument']>,
  field: string,
  state: ValueState,
): Total {
  if (argument.kind === 'function') {
    const [value] = operandOf(argument, state).values;
    return numbersOnly(operator, value?.value ?? null, field);
  }
  const ref = valueOfPath(argument, state);
  const points = POINTS_IN_TIME.filter((name) => ref.classes.has(name));
  if (points.length === 0 && !ref.classes.has(DURATION)) return numbersOnly(operator, numericRef(ref), field);
  const type = member(ref.raw, '_type');
  const numbers = added(operator, numericRef(ref), field);
  const seconds = when(equal(type, literal(DURATION)), member(ref.raw, '_m'));
  const durations = added(operator, seconds, `${field}d`);
  const point = fieldRef(`${field}t`);
  const accumulators = {
    ...numbers.accumulators,
    ...durations.accumulators,
    [point.path]: call('$max', when(isOneOf(type, points), type)),
  };
  const sum = when(numbers.isAny, numbers.value, when(durations.isAny, durations.value));
  const checked = when(present(point), point, when(and(numbers.isAny, durations.isAny), DURATION, sum));
  return { accumulators, result: checked, isChecked: true };
}

function numbersOnly(operator: '$sum' | '$avg', number: Expression, field: string): Total {
  if (operator === '$avg') {
    const result = call('$ifNull', [fieldRef(field), null]);
    return { accumulators: { [field]: call('$avg', number) }, result, isChecked: false };
  }
  const { accumulators, isAny, value } = added(operator, number, field);
  return { accumulators, result: call('$cond', [isAny, value, null]), isChecked: false };
}

function added(operator: '$sum' | '$avg', number: Expression, field: string) {
  const count = `${field}n`;
  const counted = call('$sum', call('$cond', [call('$isNumber', number), 1, 0]));
  const accumulators = { [field]: call(operator, number), [count]: counted };
  return { accumulators, isAny: call('$gt', [fieldRef(count), 0]), value: fieldRef(field) };
}

/** The number that is added: of other values nothing. */
function numericRef(ref: ValueRef): Expression {
  const classes = new Set(counted([...ref.classes]).filter(isSummable));
  const values = counted(domainValues({ ...ref, classes })).filter(({ domain }) => domain === 'number');
  if (classes.size === ref.classes.size && values.length === 1) return values[0]?.value ?? null;
  const guarded = domainValues({ ...ref, classes: new Set([...classes, 'Boolean', 'DV_BOOLEAN']) });
  return counted(guarded)
    .filter(({ domain }) => domain === 'number')
    .reduceRight<Expression>((rest, { guard, value }) => call('$cond', [guard, value, rest]), null);
}
