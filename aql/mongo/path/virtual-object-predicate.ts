import { FIELD } from '../../index/document.js';
import type { Predicate, PredicateCondition } from '../../syntax/ast.js';
import type { Visibility } from '../document/document-scope.js';
import { conjunction, disjunction, fieldRef } from '../../plan/expression.js';
import type { Expression } from '../../plan/expression.js';
import { attributeOfVirtualObject } from './virtual-object.js';
import type { AliasBinding, NodeBinding } from './binding.js';
import { elementOf, predicateHolds } from './predicate.js';
import type { Environment } from './predicate.js';
import type { Step } from '../../plan/steps.js';
import { counted } from '../../../openehr/base/work.js';

/** What reading attributes of an EHR or VERSION needs and collects. */
export interface VirtualObjectState {
  readonly binding: AliasBinding;
  readonly visibility: Visibility;
  readonly environment: Environment;
  readonly steps: Step[];
}

/** Whether an EHR or VERSION fits a predicate: each attribute that is asked for is put together first. */
export function ehrOrVersionPredicateHolds(
  predicate: Predicate | null,
  state: VirtualObjectState,
): Expression {
  if (predicate === null) return true;
  return disjunction(
    counted(predicate.alternatives).map((conditions) =>
      conjunction(counted(conditions).map((each) => virtualConditionHolds(each, state))),
    ),
  );
}

function virtualConditionHolds(condition: PredicateCondition, state: VirtualObjectState): Expression {
  const attributes = testedAttributes(condition);
  const bindings = counted(attributes).map((attribute) => attributeBinding(attribute, state));
  const jump =
    counted(bindings).find(({ segs }) => segs.path !== `${state.binding.document}${FIELD.segments}`) ??
    bindings[0];
  const field = `q${state.binding.alias.index}${attributes.join('')}`;
  const value = Object.fromEntries(
    counted(attributes).map((name, i) => [name, bindings[i]?.expression ?? null]),
  );
  state.steps.push({ kind: 'set', field, value });
  const element = elementOf(fieldRef(field), state.binding.classes, state.binding.alias.kind === 'version');
  const environment = { ...state.environment, segs: jump?.segs ?? state.environment.segs };
  return predicateHolds(
    { kind: 'predicate', alternatives: [[condition]], at: condition.at },
    element,
    environment,
  );
}

/** An attribute of an EHR or VERSION, whole. */
function attributeBinding(
  attribute: string,
  { binding, visibility, steps }: VirtualObjectState,
): NodeBinding {
  return attributeOfVirtualObject(binding, { attribute, inDocument: false }, visibility, steps);
}

function testedAttributes(condition: PredicateCondition): readonly string[] {
  if (condition.kind !== 'predicate-comparison' && condition.kind !== 'predicate-regex') return [];
  const own = condition.path.steps[0]?.attribute;
  const other =
    condition.kind === 'predicate-comparison' && condition.operand.kind === 'object-path'
      ? condition.operand.steps[0]?.attribute
      : undefined;
  return [...new Set([own, other].filter((each) => each !== undefined))];
}
