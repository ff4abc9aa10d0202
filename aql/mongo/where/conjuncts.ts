import { parseEhrId } from '../../../openehr/base/object-version-id.js';
import type {
  ColumnExpression,
  Comparison,
  Condition,
  IdentifiedPath,
  ValueExpression,
} from '../../syntax/ast.js';
import type { Scope } from '../../semantics/scope/types.js';
import { literalIn, MONGO_OPERATOR } from './comparison.js';
import type { Stage } from '../../plan/stage.js';
import type { Step } from '../../plan/steps.js';
import { constantOf, valueOfPath } from '../value/operand.js';
import type { ValueState } from '../value/operand.js';
import { domainValues } from '../value/values.js';
import { truthOf } from './where.js';

/** The conditions that WHERE joins by AND at its top; `e/ehr_id/value = …` is left out where FROM has it. */
export function conjunctsOf(scope: Scope): readonly Condition[] {
  const split = (condition: Condition | null): readonly Condition[] => {
    if (condition === null) return [];
    return condition.kind === 'and' ? condition.operands.flatMap(split) : [condition];
  };
  return split(scope.query.where).filter((each) => !isFixedEhr(each, scope));
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
    if (value.kind === 'path') required.add(scope.useOf(value).index);
  };
  const visit = (condition: Condition): void => {
    if (condition.kind === 'not') visitBelowNot(condition.operand);
    else if (condition.kind === 'exists') {
      const existence = scope.existenceOf(condition.path);
      if (existence.kind === 'use') required.add(existence.use.index);
    } else visitBelowNot(condition);
  };
  const visitBelowNot = (condition: Condition): void => {
    if (condition.kind === 'comparison' && condition.right.kind !== 'null') {
      add(condition.left);
      add(condition.right);
    } else if (condition.kind === 'like' || condition.kind === 'matches') add(condition.left);
  };
  conjuncts.forEach(visit);
  const only = onlyAggregated(scope);
  if (only !== null) required.add(only);
  return required;
}

function onlyAggregated(scope: Scope): number | null {
  const indexes = scope.columns.map(({ expression }) => aggregatedUse(expression, scope));
  const [first] = indexes;
  return first !== undefined && first !== null && indexes.every((index) => index === first) ? first : null;
}

function aggregatedUse(expression: ColumnExpression, scope: Scope): number | null {
  if (expression.kind !== 'aggregate' || expression.argument?.kind !== 'path') return null;
  return scope.useOf(expression.argument).index;
}

/** Aliases whose attributes an EXISTS searches beside the paths of the rows. */
export function searchedAliases(conjuncts: readonly Condition[], scope: Scope): ReadonlySet<number> {
  const found = new Set<number>();
  const search = (path: IdentifiedPath): void => {
    const existence = scope.existenceOf(path);
    if (existence.kind === 'search') found.add(existence.alias.index);
  };
  const visit = (each: Condition): void => {
    if (each.kind === 'and' || each.kind === 'or') each.operands.forEach(visit);
    else if (each.kind === 'not') visit(each.operand);
    else if (each.kind === 'exists') search(each.path);
    else if (each.kind === 'comparison' && each.left.kind === 'path' && each.right.kind === 'null')
      search(each.left);
  };
  conjuncts.forEach(visit);
  return found;
}

/** Cohesion nodes that must have their place before a condition can be tested. */
export function nodesOf(condition: Condition, scope: Scope): ReadonlySet<number> {
  const nodes = new Set<number>();
  const addPath = (path: IdentifiedPath, isExistence: boolean): void => {
    const existence = isExistence ? scope.existenceOf(path) : null;
    if (existence?.kind === 'search') {
      for (const { node } of existence.shared) if (node !== null) nodes.add(node.id);
      return;
    }
    for (const { node } of scope.useOf(path).steps) nodes.add(node.id);
  };
  const addValue = (value: ValueExpression): void => {
    if (value.kind === 'path') addPath(value, false);
    else if (value.kind === 'function') value.args.forEach(addValue);
  };
  const visit = (each: Condition): void => {
    switch (each.kind) {
      case 'and':
      case 'or':
        each.operands.forEach(visit);
        break;
      case 'not':
        visit(each.operand);
        break;
      case 'exists':
        addPath(each.path, true);
        break;
      case 'comparison':
        if (each.left.kind === 'path' && each.right.kind === 'null') addPath(each.left, true);
        else {
          addValue(each.left);
          addValue(each.right);
        }
        break;
      case 'like':
      case 'matches':
        addValue(each.left);
        break;
    }
  };
  visit(condition);
  return nodes;
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
