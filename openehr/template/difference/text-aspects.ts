import type { JsonObject, JsonValue } from '../../base/json.js';
import { attributesOf, withoutParameters } from '../../rm/model/classes.js';
import { INSTRUCTION_TRANSITIONS, OPENEHR, rubric, type GroupName } from '../../rm/terminology/openehr.js';
import { codedText } from '../example/sample.js';
import type { PrimitiveConstraint } from '../opt/constraint.js';
import { codeExpectation } from '../validate/code-check.js';
import type { ObjectMatcher } from '../validate/matcher.js';
import type { WebTemplateListItem, WebTemplateNode } from '../web-template/web-template.js';
import type { Aspect } from './aspect.js';
import { hasCodes } from './code-aspects.js';
import {
  anySamples,
  isOpenPrimitive,
  isPrimitiveWithin,
  primitiveSamples,
  shownPrimitive,
} from './primitive.js';

/** Alternatives for one primitive attribute; none: any value. */
type Alternatives = readonly PrimitiveConstraint[];

/** Primitive attributes of a value. */
export function primitiveAspects({ node: before }: ObjectMatcher, { node: after }: ObjectMatcher): Aspect[] {
  const [from, to] = [primitivesOf(before), primitivesOf(after)];
  return [...new Set([...from.keys(), ...to.keys()])].map((attribute) => {
    const type = attributesOf(withoutParameters(before.rmType)).get(attribute)?.type;
    const isWhole = type === 'Integer' || type === 'Integer64';
    return primitiveAspect(attribute, [from.get(attribute) ?? [], to.get(attribute) ?? []], isWhole);
  });
}

function primitiveAspect(
  attribute: string,
  [from, to]: readonly [Alternatives, Alternatives],
  isWhole: boolean,
): Aspect {
  const values = to.flatMap((later) =>
    from.length === 0 ? anySamples(later) : from.flatMap((earlier) => primitiveSamples(earlier, later)),
  );
  return {
    what: 'value',
    from: shownAlternatives(attribute, from),
    to: shownAlternatives(attribute, to),
    isWithin: areWithin(from, to, isWhole),
    isNotMore: areWithin(to, from, isWhole),
    samples: values.map((value) => (attribute === 'type' ? proportionOf(value) : { [attribute]: value })),
  };
}

/** Of a kind of DV_PROPORTION, the only class with a `type` that is a number. */
function proportionOf(type: JsonValue): JsonObject {
  const denominator = type === UNITARY ? 1 : type === PERCENT ? 100 : 2;
  return { type, numerator: 1, denominator, precision: 0 };
}

const [UNITARY, PERCENT] = [1, 2];

function areWithin(inner: Alternatives, outer: Alternatives, isWhole: boolean): boolean {
  if (outer.length === 0) return true;
  return (
    inner.length > 0 && inner.every((one) => outer.some((other) => isPrimitiveWithin(one, other, isWhole)))
  );
}

function shownAlternatives(attribute: string, alternatives: Alternatives): JsonValue {
  if (alternatives.length === 0) return null;
  const [first, ...others] = alternatives.map(shownPrimitive);
  return { [attribute]: others.length === 0 ? (first ?? null) : [first ?? null, ...others] };
}

/** Whether a text may be any text. */
export function isAnyText(node: WebTemplateNode): boolean {
  return !primitivesOf(node).has('value');
}

/** By attribute, where something is asked for; a code list decides alone. */
function primitivesOf(node: WebTemplateNode): ReadonlyMap<string, Alternatives> {
  const { constraint, rmType } = node;
  const found = new Map<string, Alternatives>();
  if (constraint?.kind !== 'object' || hasCodes(node)) return found;
  if (UNCHECKED.has(withoutParameters(rmType))) return found;
  for (const { name, children } of constraint.attributes) {
    const items = children.flatMap((child) => (child.kind === 'primitive' ? [child.item] : []));
    if (items.length > 0 && !items.some(isOpenPrimitive)) found.set(name, items);
  }
  return found;
}

/** Of these `valueCheck` reads no primitive attribute. */
const UNCHECKED = new Set(['ACTIVITY', 'CODE_PHRASE', 'ISM_TRANSITION']);

/** Which states a careflow step may lead to. */
export function transitionAspects({ node: before }: ObjectMatcher, { node: after }: ObjectMatcher): Aspect[] {
  if (before.rmType !== 'ISM_TRANSITION' || after.rmType !== 'ISM_TRANSITION') return [];
  const [from, to] = [statesOf(before), statesOf(after)];
  return [
    {
      what: 'transitions',
      from: shownStates(from),
      to: shownStates(to),
      isWithin: areStatesWithin(from, to, before),
      isNotMore: areStatesWithin(to, from, after),
      samples: [...from.values()].flatMap(({ step, states }) =>
        states.flatMap((state) => sampled(step, state)),
      ),
    },
  ];
}

interface StatesOfStep {
  readonly step: WebTemplateListItem;
  readonly states: readonly string[];
}

type States = ReadonlyMap<string, StatesOfStep>;

function stepsOf(transition: WebTemplateNode): WebTemplateNode | undefined {
  return transition.children.find(({ attribute }) => attribute === 'careflow_step');
}

function statesOf(transition: WebTemplateNode): States {
  const found = new Map<string, StatesOfStep>();
  for (const step of stepsOf(transition)?.inputs[0]?.list ?? []) {
    if (step.currentStates === undefined) continue;
    const states = [...(found.get(step.value)?.states ?? []), ...step.currentStates];
    found.set(step.value, { step, states });
  }
  return found;
}

/** `transition`: the one of the inner states, which says which steps there are. */
function areStatesWithin(inner: States, outer: States, transition: WebTemplateNode): boolean {
  const [input, ...others] = stepsOf(transition)?.inputs ?? [];
  const codes = input === undefined || others.length > 0 ? null : (codeExpectation(input)?.codes ?? null);
  return [...outer].every(([code, { states }]) => {
    if (codes !== null && !codes.has(code)) return true;
    return inner.get(code)?.states.every((state) => states.includes(state)) ?? false;
  });
}

function shownStates(states: States): JsonValue {
  return Object.fromEntries([...states].map(([code, { states: all }]) => [code, [...new Set(all)].sort()]));
}

function sampled(step: WebTemplateListItem, state: string): JsonObject[] {
  return [...INSTRUCTION_TRANSITIONS]
    .filter(([, { to }]) => to === state)
    .map(([transition]) => ({
      careflow_step: codedText('local', step.value, step.label ?? step.value),
      current_state: term('instruction states', state),
      transition: term('instruction transitions', transition),
    }));
}

function term(group: GroupName, code: string): JsonObject {
  return codedText(OPENEHR, code, rubric(group, code, 'en') ?? code);
}
