import { step } from '../../openehr/base/work.js';
import type {
  ClassExpression,
  Condition,
  FromExpression,
  IdentifiedPath,
  Placeholder,
  Predicate,
  Test,
  Unbound,
  ValueExpression,
} from './ast.js';

/** The tests of a condition, in the order of the text; none where there is no condition. Counts on the budget of the request. */
export function* testsOf<P extends Unbound = never>(condition: Condition<P> | null): Generator<Test<P>> {
  step();
  if (condition === null) return;
  switch (condition.kind) {
    case 'and':
    case 'or':
      for (const operand of condition.operands) yield* testsOf(operand);
      break;
    case 'not':
      yield* testsOf(condition.operand);
      break;
    default:
      yield condition;
  }
}

/** A condition of the same shape, with what `leaf` makes of each test. @throws as `leaf` does */
export function mapCondition<P extends Unbound, Q extends Unbound>(
  condition: Condition<P>,
  leaf: (test: Test<P>) => Condition<Q>,
): Condition<Q> {
  step();
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { ...condition, operands: condition.operands.map((each) => mapCondition(each, leaf)) };
    case 'not':
      return { ...condition, operand: mapCondition(condition.operand, leaf) };
    default:
      return leaf(condition);
  }
}

/** The conditions that must all be true: the operands of the ANDs at the top; none where there is no condition. */
export function conjunctsOf<P extends Unbound = never>(
  condition: Condition<P> | null,
): readonly Condition<P>[] {
  step();
  if (condition === null) return [];
  return condition.kind === 'and' ? condition.operands.flatMap((each) => conjunctsOf(each)) : [condition];
}

/** The path that a test asks no more of than whether something stands there: EXISTS, `= NULL` and `!= NULL`. Null for other tests. */
export function existencePath(test: Test): IdentifiedPath | null {
  if (test.kind === 'exists') return test.path;
  const isNullTest = test.kind === 'comparison' && test.right.kind === 'null';
  return isNullTest && test.left.kind === 'path' ? test.left : null;
}

/** The values that a test compares: none where it asks for existence alone. */
export function comparedValues(test: Test): readonly ValueExpression[] {
  if (test.kind === 'exists' || existencePath(test) !== null) return [];
  return test.kind === 'comparison' ? [test.left, test.right] : [test.left];
}

/** The paths of a value: itself, or those of the arguments of a function. */
export function* pathsOf(value: ValueExpression): Generator<IdentifiedPath> {
  step();
  if (value.kind === 'path') yield value;
  else if (value.kind === 'function') for (const arg of value.args) yield* pathsOf(arg);
}

/** FROM of the same shape, with the predicates that `predicateOf` gives its classes. @throws as `predicateOf` does */
export function mapPredicates<P extends Placeholder, Q extends Placeholder>(
  from: FromExpression<P>,
  predicateOf: (each: ClassExpression<P>) => Predicate<Q> | null,
): FromExpression<Q> {
  step();
  if (from.kind !== 'class')
    return { ...from, operands: from.operands.map((each) => mapPredicates(each, predicateOf)) };
  const { contains } = from;
  return {
    ...from,
    predicate: predicateOf(from),
    contains: contains === null ? null : { ...contains, child: mapPredicates(contains.child, predicateOf) },
  };
}

/** The classes of FROM, in the order of the text. */
export function* classesOf<P extends Placeholder = never>(
  from: FromExpression<P>,
): Generator<ClassExpression<P>> {
  step();
  if (from.kind !== 'class') for (const operand of from.operands) yield* classesOf(operand);
  else {
    yield from;
    if (from.contains !== null) yield* classesOf(from.contains.child);
  }
}
