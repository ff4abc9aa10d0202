import type { FunctionCall, IdentifiedPath, Literal, ValueExpression } from '../../syntax/ast.js';
import type { Domain } from '../../semantics/scope-types.js';
import type { Operand } from '../value/comparison.js';
import { call, disjunction, fieldRef, literal, present } from '../../plan/expression.js';
import type { Expression } from '../../plan/expression.js';
import { constantFunction, functionValue } from '../value/functions.js';
import type { Clock } from '../../semantics/present-time.js';
import { pathOperand } from './predicate.js';
import { valueOfUse } from './tree.js';
import type { TreeState } from './tree.js';
import { domainValues, textForm } from '../value/values.js';
import type { ValueRef } from '../value/values.js';
import type { Scope } from '../../semantics/scope-types.js';
import { counted, step } from '../../../openehr/base/work.js';

/** What turning values and conditions into expressions needs. */
export interface ValueState {
  readonly scope: Scope;
  readonly tree: TreeState;
  /** One instant per query. */
  readonly clock: Clock;
}

/** Where a path's value stands in the current row. */
export function valueOfPath(path: IdentifiedPath, state: ValueState): ValueRef {
  return valueOfUse(state.scope.useOf(path), state.tree);
}

/** The literal that a value is whatever the row; null when it depends on the row. */
export function constantOf(value: ValueExpression, state: ValueState): Literal | null {
  switch (value.kind) {
    case 'path':
      return null;
    case 'function':
      return constantFunction(value, state.clock);
    default:
      return value;
  }
}

/** A value that depends on the row, with its readings. */
export function operandOf(value: ValueExpression, state: ValueState): Operand {
  switch (value.kind) {
    case 'path':
      return pathOperand(valueOfPath(value, state));
    case 'function': {
      const constant = constantOf(value, state);
      return constant === null ? functionOperand(value, state) : literalOperand(constant);
    }
    default:
      return literalOperand(value);
  }
}

function functionOperand(call: FunctionCall, state: ValueState): Operand {
  const { value, domain } = functionResult(call, state);
  const there = present(value);
  return {
    values: [{ domain, guard: there, value, native: null, codedValue: null }],
    present: there,
  };
}

/** The expression and domain of a function call. */
export function functionResult(
  call: FunctionCall,
  state: ValueState,
): { readonly value: Expression; readonly domain: Domain } {
  const args = {
    text: (arg: ValueExpression) => textArgument(arg, state),
    number: (arg: ValueExpression) => numberArgument(arg, state),
  };
  return functionValue(call, args, state.clock);
}

function literalOperand(item: Literal): Operand {
  if (item.kind === 'null') return { values: [], present: false };
  const domain = item.kind === 'string' ? 'text' : item.kind === 'boolean' ? 'boolean' : 'number';
  const value = literal(item.value);
  return { values: [{ domain, guard: true, value, native: null, codedValue: null }], present: true };
}

function textArgument(value: ValueExpression, state: ValueState): Expression {
  if (value.kind === 'path') return textForm(valueOfPath(value, state));
  const constant = constantOf(value, state);
  if (constant !== null) return constant.kind === 'null' ? null : literal(String(constant.value));
  if (value.kind !== 'function') return null;
  const { domain, value: result } = innerResult(value, state);
  return domain === 'text' || result === null ? result : call('$toString', result);
}

function numberArgument(value: ValueExpression, state: ValueState): Expression {
  if (value.kind === 'path') {
    const numbers = counted(domainValues(valueOfPath(value, state))).filter(
      ({ domain }) => domain === 'number',
    );
    const [first] = numbers;
    if (first === undefined) return null;
    return call('$cond', [
      disjunction(counted(numbers).map(({ guard }) => guard)),
      chosenValue(numbers),
      null,
    ]);
  }
  const constant = constantOf(value, state);
  if (constant !== null)
    return constant.kind === 'integer' || constant.kind === 'real' ? literal(constant.value) : null;
  if (value.kind !== 'function') return null;
  const result = innerResult(value, state);
  return result.domain === 'number' ? result.value : null;
}

/** Levels of calls in one expression: the time that MongoDB needs to read one doubles with each. */
const CALLS_IN_ONE = 5;

/** As `functionResult`; in a field of its own where calls are nested deeply. */
function innerResult(call: FunctionCall, state: ValueState): ReturnType<typeof functionResult> {
  step();
  const result = functionResult(call, state);
  if (levelsOf(call) % CALLS_IN_ONE !== 0) return result;
  const { steps } = state.tree;
  const field = `f${steps.length}`;
  steps.push({ kind: 'set', field, value: result.value });
  return { ...result, value: fieldRef(field) };
}

function levelsOf({ args }: FunctionCall): number {
  return (
    1 + counted(args).reduce((most, arg) => Math.max(most, arg.kind === 'function' ? levelsOf(arg) : 0), 0)
  );
}

function chosenValue(
  values: readonly { readonly guard: Expression; readonly value: Expression }[],
): Expression {
  return counted(values).reduceRight<Expression>(
    (otherwise, { guard, value }) => call('$cond', [guard, value, otherwise]),
    null,
  );
}
