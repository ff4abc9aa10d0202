import { FIELD } from '../../index/document.js';
import type {
  CodeItem,
  Comparison,
  ComparisonOperator,
  Condition,
  IdentifiedPath,
  LikeTest,
  Literal,
  MatchesTest,
  ValueExpression,
} from '../../syntax/ast.js';
import { likeRegex } from '../../semantics/like-pattern.js';
import type { PathNode, Existence } from '../../semantics/scope-types.js';
import {
  allOf,
  anyOf,
  literalListTruth,
  literalTruth,
  operandTruth,
  opposite,
  truth,
} from '../value/comparison.js';
import type { Truth } from '../value/comparison.js';
import { and, member, call, fieldRef, isOneOf, literal, not, or, present } from '../../plan/expression.js';
import type { Expression, Field, Reference } from '../../plan/expression.js';
import { asIdentifier, identifierTruth } from '../value/identifier.js';
import { ehrOrVersionPredicateHolds } from '../path/virtual-object-predicate.js';
import { attributeOfVirtualObject } from '../path/virtual-object.js';
import { constantOf, operandOf, valueOfPath } from '../path/operand.js';
import type { ValueState } from '../path/operand.js';
import { documentField } from '../path/binding.js';
import type { AliasBinding, NodeBinding } from '../path/binding.js';
import { isOfTemplate } from '../path/node-id.js';
import { elementOf, predicateHolds, someAlong } from '../path/predicate.js';
import { textForm, typeIs } from '../value/values.js';
import { counted } from '../../../openehr/base/work.js';

/** A condition of WHERE in three-valued logic. docs/spec/aql.md#null */
export function truthOf(condition: Condition, state: ValueState): Truth {
  switch (condition.kind) {
    case 'and':
      return allOf(counted(condition.operands).map((each) => truthOf(each, state)));
    case 'or':
      return anyOf(counted(condition.operands).map((each) => truthOf(each, state)));
    case 'not':
      return opposite(truthOf(condition.operand, state));
    case 'exists':
      return certain(exists(condition.path, state));
    case 'comparison':
      return comparisonTruth(condition, state);
    case 'like':
      return likeTruth(condition, state);
    case 'matches':
      return matchesTruth(condition, state);
  }
}

function certain(yes: Expression): Truth {
  return { yes, no: not(yes) };
}

const FLIPPED: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  '=': '=',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function comparisonTruth({ left, operator, right }: Comparison, state: ValueState): Truth {
  const rightItem = constantOf(right, state);
  if (rightItem?.kind === 'null') return nullTruth(left, operator, state);
  if (rightItem !== null) return itemTruth(left, operator, rightItem, state);
  const leftItem = constantOf(left, state);
  if (leftItem !== null && leftItem.kind !== 'null')
    return itemTruth(right, FLIPPED[operator], leftItem, state);
  return operandTruth(operandOf(left, state), operator, operandOf(right, state));
}

/** `= NULL` is NOT EXISTS, `!= NULL` is EXISTS. */
function nullTruth(left: ValueExpression, operator: ComparisonOperator, state: ValueState): Truth {
  const there = left.kind === 'path' ? exists(left, state) : operandOf(left, state).present;
  return certain(operator === '=' ? not(there) : there);
}

function itemTruth(
  value: ValueExpression,
  operator: ComparisonOperator,
  item: Literal | CodeItem,
  state: ValueState,
): Truth {
  if (value.kind !== 'path') return literalTruth(operandOf(value, state), operator, item);
  const { identifier } = state.scope.useOf(value).type;
  const ref = valueOfPath(value, state);
  if (identifier === 'version' && item.kind === 'string')
    return identifierTruth(ref.raw, operator, item.value, state.tree.visibility.systemId);
  if (item.kind === 'code') return codeTruth(ref.raw, [item]);
  return literalTruth(operandOf(value, state), operator, asIdentifier(item, identifier));
}

/** Codes that a terminology service gave: compared with code_string, or with a text. */
function codeTruth(raw: Reference, items: readonly CodeItem[]): Truth {
  const codes = counted(items).map(({ code }) => code);
  const is = (value: Reference): Expression => isOneOf(value, codes);
  const yes = or(is(raw), is(member(raw, 'code_string')), is(member(raw, 'defining_code.code_string')));
  return truth(yes, present(raw));
}

function likeTruth({ left, pattern, negated }: LikeTest, state: ValueState): Truth {
  const text = textExpression(left, state);
  const regex = literal(likeRegex(pattern.value));
  // $cond, not $and: $regexMatch fails on anything that is no text.
  const matches = call('$cond', [
    typeIs(text, 'string'),
    call('$regexMatch', { input: text, regex, options: 's' }),
    false,
  ]);
  const found = truth(matches, operandPresent(left, state));
  return negated ? opposite(found) : found;
}

function textExpression(value: ValueExpression, state: ValueState): Expression {
  if (value.kind === 'path') return textForm(valueOfPath(value, state));
  const constant = constantOf(value, state);
  if (constant !== null) return constant.kind === 'null' ? null : literal(String(constant.value));
  const [only] = operandOf(value, state).values;
  if (only === undefined) return null;
  return only.domain === 'text' ? only.value : call('$toString', only.value);
}

function operandPresent(value: ValueExpression, state: ValueState): Expression {
  return value.kind === 'path' ? present(valueOfPath(value, state).raw) : operandOf(value, state).present;
}

function matchesTruth({ left, set, negated }: MatchesTest, state: ValueState): Truth {
  const items = set.items;
  const found =
    items.length === 0 ? truth(false, operandPresent(left, state)) : listTruth(left, items, state);
  return negated ? opposite(found) : found;
}

function listTruth(left: ValueExpression, items: readonly (Literal | CodeItem)[], state: ValueState): Truth {
  const identifier = left.kind === 'path' ? state.scope.useOf(left).type.identifier : null;
  if (identifier === 'version') return anyOf(counted(items).map((item) => itemTruth(left, '=', item, state)));
  const literals = counted(items).filter((item) => item.kind !== 'code');
  const codes = counted(items).filter((item) => item.kind === 'code');
  const parts: Truth[] = [];
  if (literals.length > 0)
    parts.push(
      literalListTruth(
        operandOf(left, state),
        counted(literals).map((each) => asIdentifier(each, identifier)),
      ),
    );
  if (codes.length > 0)
    parts.push(
      left.kind === 'path'
        ? codeTruth(valueOfPath(left, state).raw, codes)
        : anyOf(counted(codes).map((code) => literalTruth(operandOf(left, state), '=', code))),
    );
  return anyOf(parts);
}

/** Whether something stands at a path in the current row. docs/spec/aql.md#exists */
function exists(path: IdentifiedPath, state: ValueState): Expression {
  const existence = state.scope.existenceOf(path);
  if (existence.kind === 'use') return present(valueOfPath(existence.use.path, state).raw);
  const own = searched(existence, state);
  if (existence.fallbacks === undefined) return own;
  const others = counted(existence.fallbacks).map(({ templateIds, existence: other }) => {
    const binding = state.tree.bindings.get(other.alias.index);
    if (binding === undefined) throw new TypeError('a variable was read before it was bound');
    return and(isOfTemplate(documentField(binding, FIELD.segments), templateIds), searched(other, state));
  });
  return or(own, ...others);
}

/** From the deepest shared choice that is not NULL, along the rest of the path. */
function searched(existence: Extract<Existence, { kind: 'search' }>, state: ValueState): Expression {
  const { alias, path, shared } = existence;
  const binding = state.tree.bindings.get(alias.index);
  if (binding === undefined) throw new TypeError('a variable was read before it was bound');
  const own = startsWithExpression(binding, path, state);
  const first: NodeBinding = {
    expression: own.object,
    parent: null,
    guard: present(binding.slot),
    segs: own.segs ?? documentField(binding, FIELD.segments),
  };
  let result: Expression = false;
  let filters: Expression = true;
  for (const [depth, { node, filter }] of counted(shared).entries()) {
    const at = depth === 0 ? first : bindingOf(node, state);
    const classes = node?.classes ?? binding.classes;
    const environment = { ...state.tree.environment, segs: at.segs };
    const element = elementOf(at.expression, classes, depth === 0);
    const isVirtualObject = depth === 0 && binding.object === null;
    const fits = isVirtualObject
      ? ehrOrVersionPredicateHolds(filter, { ...state.tree, binding, environment })
      : predicateHolds(filter, element, environment);
    filters = and(filters, fits);
    const start = { object: at.expression, classes };
    const here = and(
      filters,
      someAlong(start, path.steps.slice(depth), environment, (end) => present(end.raw)),
    );
    result =
      depth === 0
        ? and(at.guard, here)
        : call('$cond', [and(at.guard, present(at.expression)), here, result]);
  }
  return result;
}

function bindingOf(node: PathNode | null, state: ValueState): NodeBinding {
  const binding = node === null ? undefined : state.tree.nodes.get(node.id);
  if (binding === undefined) throw new TypeError('a shared choice has a binding');
  return binding;
}

/** The object of an alias; an EHR or VERSION as an object with the one attribute that the path asks for. */
function startsWithExpression(
  binding: AliasBinding,
  path: IdentifiedPath,
  state: ValueState,
): { readonly object: Field; readonly segs: Field | undefined } {
  const [first] = path.steps;
  if (binding.object !== null || first === undefined)
    return { object: binding.object ?? binding.slot ?? fieldRef('_id'), segs: undefined };
  const { steps, visibility } = state.tree;
  const wanted = { attribute: first.attribute, inDocument: false };
  const attribute = attributeOfVirtualObject(binding, wanted, visibility, steps);
  const field = `q${binding.alias.index}${first.attribute}`;
  steps.push({ kind: 'set', field, value: { [first.attribute]: attribute.expression } });
  return { object: fieldRef(field), segs: attribute.segs };
}
