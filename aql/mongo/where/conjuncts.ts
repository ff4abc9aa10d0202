import { parseEhrId } from '../../../openehr/base/object-version-id.js';
import type {
  ColumnExpression,
  Comparison,
  Condition,
  IdentifiedPath,
  ValueExpression,
  Test,
} from '../../syntax/ast.js';
import { comparedValues, conjunctsOf, existencePath, pathsOf, testsOf } from '../../syntax/walk.js';
import type { FromClass, PathNode, Scope } from '../../semantics/scope-types.js';
import type { Stage } from '../../index/stage.js';
import type { Step } from '../../plan/steps.js';
import { constantOf, valueOfPath } from '../path/operand.js';
import type { ValueState } from '../path/operand.js';
import { domainValues } from '../value/values.js';
import { truthOf } from './where.js';
import { literalIn } from '../../semantics/literal-value.js';
import { MONGO_OPERATOR } from '../../index/stage.js';
import { counted, step } from '../../../openehr/base/work.js';

/** The conditions that WHERE joins by AND at its top; `e/ehr_id/value = …` is left out where FROM has it. */
export function whereConjuncts(scope: Scope): readonly Condition[] {
  return counted(conjunctsOf(scope.query.where)).filter((each) => !isFixedEhr(each, scope));
}

function isFixedEhr(condition: Condition, scope: Scope): boolean {
  if (condition.kind !== 'comparison' || condition.operator !== '=') return false;
  const { left, right } = condition;
  if (left.kind !== 'path' || right.kind !== 'string') return false;
  const { alias, type } = scope.useOf(left);
  return (
    type.identifier === 'ehr' && alias.fixedEhrId !== null && parseEhrId(right.value) === alias.fixedEhrId
  );
}

/**
 * Paths whose NULL makes a row vanish: by a condition of WHERE, or because nothing but aggregates over that one
 * path is asked for. Their choices need no NULL alternative.
 */
export function requiredUses(scope: Scope, conjuncts: readonly Condition[]): ReadonlySet<number> {
  const required = new Set<number>();
  const add = (value: ValueExpression): void => {
    if (value.kind !== 'path') return;
    const { index, fallbacks } = scope.useOf(value);
    // Where it is NULL a fallback may not be.
    if (fallbacks === undefined) required.add(index);
  };
  const visit = (condition: Condition): void => {
    if (condition.kind === 'not') visitBelowNot(condition.operand);
    else if (condition.kind === 'exists') {
      const existence = scope.existenceOf(condition.path);
      if (existence.kind === 'use' && existence.use.fallbacks === undefined)
        required.add(existence.use.index);
    } else visitBelowNot(condition);
  };
  const visitBelowNot = (condition: Condition): void => {
    if (condition.kind === 'comparison' && condition.right.kind !== 'null') {
      add(condition.left);
      add(condition.right);
    } else if (condition.kind === 'like' || condition.kind === 'matches') add(condition.left);
  };
  counted(conjuncts).forEach(visit);
  const only = onlyAggregated(scope);
  if (only !== null) required.add(only);
  return required;
}

function onlyAggregated(scope: Scope): number | null {
  const indexes = counted(scope.columns).map(({ expression }) => aggregatedUse(expression, scope));
  const [first] = indexes;
  return first !== undefined && first !== null && counted(indexes).every((index) => index === first)
    ? first
    : null;
}

function aggregatedUse(expression: ColumnExpression, scope: Scope): number | null {
  if (expression.kind !== 'aggregate' || expression.argument?.kind !== 'path') return null;
  const { index, fallbacks } = scope.useOf(expression.argument);
  return fallbacks === undefined ? index : null;
}

/** Aliases whose attributes an EXISTS searches beside the paths of the rows. */
export function searchedAliases(conjuncts: readonly Condition[], scope: Scope): ReadonlySet<number> {
  const found = new Set<number>();
  for (const test of counted(counted(conjuncts).flatMap((each) => [...testsOf(each)]))) {
    const path = existencePath(test);
    const existence = path === null ? null : scope.existenceOf(path);
    if (existence?.kind === 'search') found.add(existence.alias.index);
  }
  return found;
}

/** Cohesion nodes that must have their place before a condition can be tested. */
export function nodesOf(condition: Condition, scope: Scope): ReadonlySet<number> {
  const nodes = new Set<number>();
  for (const test of testsOf(condition))
    for (const steps of counted(readSteps(test, scope)))
      for (const { node } of counted(steps)) if (node !== null) nodes.add(node.id);
  return nodes;
}

/** The steps of all that a test reads, and of what is read where nothing stands there. */
function readSteps(test: Test, scope: Scope): (readonly { readonly node: PathNode | null }[])[] {
  const path = existencePath(test);
  const existence = path === null ? null : scope.existenceOf(path);
  const uses = existence?.kind === 'use' ? [existence.use] : [];
  for (const value of counted(comparedValues(test)))
    for (const each of pathsOf(value)) uses.push(scope.useOf(each));
  const read = counted(uses).flatMap(({ steps, fallbacks = [] }) => [
    steps,
    ...counted(fallbacks).map((each) => each.steps),
  ]);
  if (existence?.kind !== 'search') return read;
  const others = counted(existence.fallbacks ?? []).map((each) => each.existence.shared);
  return [existence.shared, ...others, ...read];
}

/**
 * Conditions on nothing but what belongs to the EHR itself, its status or directory: they are asked before anything that
 * the EHR contains is unfolded. None where its paths would make rows that no condition keeps few.
 */
export function conditionsOnEhr(
  { alias }: FromClass,
  scope: Scope,
  conjuncts: readonly Condition[],
  required: ReadonlySet<number>,
): readonly Condition[] {
  const isSparse = ({ uses, multiple, children }: PathNode): boolean => {
    step();
    const isKept = !multiple || counted(uses).some(({ index }) => required.has(index));
    return isKept && counted(children).every(isSparse);
  };
  const tree = scope.trees[alias.index];
  // A predicate has put together what it needs of the EHR already.
  if (tree === undefined || alias.predicate !== null || !isSparse(tree)) return [];
  return counted(conjuncts).filter((each) => {
    const paths = pathsIn(each);
    const isJoined = counted(paths).some(
      ({ steps: [first] }) => first !== undefined && first.attribute !== 'ehr_id',
    );
    return isJoined && counted(paths).every(({ variable }) => scope.variables.get(variable) === alias);
  });
}

function pathsIn(condition: Condition): readonly IdentifiedPath[] {
  return counted([...testsOf(condition)]).flatMap((test) => {
    const existence = existencePath(test);
    return [
      ...(existence === null ? [] : [existence]),
      ...counted(comparedValues(test)).flatMap((each) => [...pathsOf(each)]),
    ];
  });
}

/** A condition as a step: native where one field and one constant say it all. */
export function matchOf(condition: Condition, state: ValueState): Step {
  const native = condition.kind === 'comparison' ? nativeMatch(condition, state) : null;
  return native === null
    ? { kind: 'filter', condition: truthOf(condition, state).yes }
    : { kind: 'match', match: native };
}

function nativeMatch({ left, operator, right }: Comparison, state: ValueState): Stage | null {
  const item = constantOf(right, state);
  if (left.kind !== 'path' || item === null || item.kind === 'null' || operator === '!=') return null;
  if (state.scope.useOf(left).type.identifier !== null) return null;
  const values = domainValues(valueOfPath(left, state));
  const [only, another] = values;
  if (only?.native == null || another !== undefined) return null;
  const constant = literalIn(only.domain, item);
  return constant === null ? null : { [only.native]: { [MONGO_OPERATOR[operator]]: constant } };
}
