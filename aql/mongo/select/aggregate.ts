import { FIELD } from '../../index/document.js';
import type { Aggregate } from '../../syntax/ast.js';
import { and, call, disjunction, fieldRef, isNode, present, variable } from '../../plan/expression.js';
import type { Expression } from '../../plan/expression.js';
import { operandOf } from '../path/operand.js';
import type { ValueState } from '../path/operand.js';
import { sortValueOf } from './order.js';
import type { SortValue } from './order.js';
import { documentField } from '../path/binding.js';
import type { DomainValue } from '../value/values.js';
import { domainValues } from '../value/values.js';
import { valueOfPath } from '../path/operand.js';
import { total } from './total.js';
import { counted } from '../../../openehr/base/work.js';

/** Accumulators of one aggregate column and how its cell is made of them. */
export interface Accumulation {
  /** Field name of `$group` to accumulator. */
  readonly accumulators: Readonly<Record<string, Expression>>;
  /** The cell, from those fields. */
  readonly result: Expression;
  /** What the result is sorted by. */
  readonly sort: SortValue;
  /** The cell of a query without rows. */
  readonly empty: 0 | null;
  readonly kind: 'plain' | 'total';
}

/** COUNT, MIN, MAX, SUM, AVG as accumulators (docs/spec/aql.md#aggregates); `field` is the column's own prefix. */
export function accumulation(aggregate: Aggregate, field: string, state: ValueState): Accumulation {
  const { name, argument } = aggregate;
  if (argument === null) return countingField(call('$sum', 1), field);
  switch (name) {
    case 'COUNT':
      return countAggregate(aggregate, field, state);
    case 'MIN':
    case 'MAX':
      return extreme(name === 'MIN' ? '$min' : '$max', argument, field, state);
    case 'SUM':
    case 'AVG':
      return totalled(total(name === 'SUM' ? '$sum' : '$avg', argument, field, state));
  }
}

function countingField(accumulator: Expression, field: string): Accumulation {
  return madeAccumulation({ [field]: accumulator }, fieldRef(field), 0);
}

function madeAccumulation(
  accumulators: Accumulation['accumulators'],
  result: Expression,
  empty: 0 | null,
): Accumulation {
  return {
    accumulators,
    result,
    empty,
    kind: 'plain',
    sort: { rank: call('$cond', [present(result), 0, 1]), value: result },
  };
}

function totalled({ accumulators, result, isChecked }: ReturnType<typeof total>): Accumulation {
  return { ...madeAccumulation(accumulators, result, null), kind: isChecked ? 'total' : 'plain' };
}

type Argument = NonNullable<Aggregate['argument']>;

function countAggregate({ argument, distinct }: Aggregate, field: string, state: ValueState): Accumulation {
  const value = countedValue(argument as Argument, state);
  if (!distinct) {
    const one = isArgumentAlwaysThere(argument as Argument, value, state)
      ? 1
      : call('$cond', [present(value), 1, 0]);
    return countingField(call('$sum', one), field);
  }
  const set = call('$addToSet', call('$cond', [present(value), value, variable('REMOVE')]));
  return madeAccumulation({ [field]: set }, call('$size', fieldRef(field)), 0);
}

/** Ids of a document and its EHR, which every row has but where the variable may be missing. */
function isArgumentAlwaysThere(argument: Argument, value: Expression, state: ValueState): boolean {
  if (argument.kind === 'function' || state.scope.useOf(argument).alias.optional) return false;
  const field = isNode(value) && value.kind === 'field' ? value.path : '';
  return field === FIELD.versionUid || field === FIELD.ehrId;
}

/** A whole variable is identified by its document and place, not by its content. */
function countedValue(argument: Argument, state: ValueState): Expression {
  if (argument.kind === 'function') return argumentValue(argument, state);
  const { alias, path } = state.scope.useOf(argument);
  const binding = state.tree.bindings.get(alias.index);
  if (path.steps.length > 0 || path.predicate !== null || binding === undefined)
    return valueOfPath(argument, state).raw;
  const isRoot = counted(alias.classes).every((each) => each === 'COMPOSITION' || each === 'EHR_STATUS');
  return isRoot && !alias.optional ? documentField(binding, FIELD.versionUid) : (binding.slot ?? null);
}

function argumentValue(argument: Argument, state: ValueState): Expression {
  return operandOf(argument, state).values[0]?.value ?? null;
}

function readings(argument: Argument, state: ValueState): readonly DomainValue[] {
  if (argument.kind === 'function') return operandOf(argument, state).values;
  return domainValues(valueOfPath(argument, state));
}

function extreme(
  operator: '$min' | '$max',
  argument: Argument,
  field: string,
  state: ValueState,
): Accumulation {
  const raw = argument.kind === 'path' ? valueOfPath(argument, state).raw : argumentValue(argument, state);
  const values = readings(argument, state);
  const [only] = values;
  // The value itself is compared, and missing ones are left out by the accumulator.
  if (values.length === 1 && only !== undefined && only.value === raw && only.guard !== true)
    return madeAccumulation({ [field]: call(operator, raw) }, call('$ifNull', [fieldRef(field), null]), null);
  const { rank, value } = sortValueOf(values, raw, false);
  const ordered = disjunction(counted(values).map(({ guard, value: each }) => and(guard, present(each))));
  const entry = call('$cond', [ordered, { r: rank ?? 0, v: value, o: raw }, null]);
  return {
    ...madeAccumulation(
      { [field]: call(operator, entry) },
      call('$ifNull', [fieldRef(`${field}.o`), null]),
      null,
    ),
    sort: { rank: call('$ifNull', [fieldRef(`${field}.r`), 99]), value: fieldRef(`${field}.v`) },
  };
}
