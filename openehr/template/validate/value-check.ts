import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import type { Finding, ViolationCode } from '../../base/violation.js';
import { IDENTIFIER_TEXT, UNIT_PROPERTY } from '../../rm/lenient.js';
import { INSTRUCTION_TRANSITIONS, OPENEHR, rubric } from '../../rm/terminology/openehr.js';
import { unitFits } from '../../rm/terminology/property-units.js';
import { withoutParameters } from '../../rm/model/classes.js';
import {
  codedTextFinding,
  codeExpectation,
  codeNotListed,
  codePhraseFinding,
  codeString,
  openehrCode,
  terminologyOf,
  type CodeExpectation,
} from './code-check.js';
import type {
  Code,
  Constraint,
  Interval,
  OrdinalConstraint,
  QuantityConstraint,
  UnitConstraint,
} from '../opt/constraint.js';
import { isWithin, mustBe, numberRange, type Expected } from '../opt/constraint-text.js';
import { primitiveCheck, type PrimitiveCheck } from './primitive-check.js';
import type { Scope } from '../web-template/scope.js';
import type { WebTemplateNode } from '../web-template/web-template.js';
import { counted } from '../../base/work.js';

/** Gives all that is wrong with one RM object, itself only (not the objects below that have nodes). */
export type ValueCheck = (value: JsonObject) => readonly Finding[];

const FINE: readonly Finding[] = [];

/** The check of the value that a node describes; null when there is nothing to check (docs/spec/formats.md#template-rules). */
export function valueCheck(node: WebTemplateNode, scope: Scope): ValueCheck | null {
  const { constraint } = node;
  if (constraint?.kind === 'quantity') return quantityCheck(constraint);
  if (constraint?.kind === 'ordinal') return ordinalCheck(constraint, node);
  switch (withoutParameters(node.rmType)) {
    case 'DV_CODED_TEXT':
      return firstOf(codeCheck(node, codedTextFinding), constraint);
    case 'DV_TEXT':
      return allOf(primitivesCheck(constraint), (value) => localCodeFindings(value, scope));
    case 'CODE_PHRASE':
      return codeCheck(node, (value, expected) => codePhraseFinding(value, expected, 'CODE_PHRASE'));
    case 'ISM_TRANSITION':
      return transitionCheck(node);
    case 'DV_IDENTIFIER':
      return primitivesCheck(constraint, IDENTIFIER_TEXT);
    // Not checked by EHRbase, and what FLAT fills in would break it.
    case 'ACTIVITY':
      return null;
    default:
      return primitivesCheck(constraint);
  }
}

/** Both checks as one; null where there is neither. */
export function allOf(first: ValueCheck | null, second: ValueCheck | null): ValueCheck | null {
  if (first === null) return second;
  return second === null ? first : (value) => [...first(value), ...second(value)];
}

const LOCAL_CODE = 'a code that the archetype defines, or another terminology';

/** Coded text in place of text: codes of other terminologies are free, local ones are those of the archetype. */
function localCodeFindings(value: JsonObject, scope: Scope): readonly Finding[] {
  const phrase = value.defining_code;
  if (phrase === undefined || terminologyOf(phrase).toLowerCase() !== 'local') return FINE;
  const code = codeString(phrase);
  const labels = scope.labels(code);
  if (labels === null)
    return [codeNotListed('DV_CODED_TEXT/defining_code', code, [LOCAL_CODE], `(expected: ${LOCAL_CODE})`)];
  const finding = codedTextFinding(value, { terminologyId: null, codes: new Map([[code, labels]]) });
  return finding === null ? FINE : [finding];
}

type CodeCheck = (value: JsonObject, expected: CodeExpectation) => Finding | null;

/** Several code constraints are alternatives; the first one is reported. */
function codeCheck(node: WebTemplateNode, findingOf: CodeCheck): ValueCheck | null {
  const inputs = counted(node.inputs).filter((input) => input.suffix === 'code');
  const expectations = counted(inputs)
    .map(codeExpectation)
    .filter((expectation) => expectation !== null);
  const [first] = expectations;
  if (first === undefined || expectations.length < inputs.length) return null;
  return (value) => {
    const finding = findingOf(value, first);
    if (finding === null) return FINE;
    return counted(expectations).some((expected) => findingOf(value, expected) === null) ? FINE : [finding];
  };
}

/** With a code list the list of texts beside it does not count (docs/spec/formats.md#names-and-paths). */
function firstOf(check: ValueCheck | null, constraint: Constraint | null): ValueCheck | null {
  return check ?? primitivesCheck(constraint);
}

/** `rule`: of a constraint that lenient validation does not insist on. */
function primitivesCheck(constraint: Constraint | null, rule?: string): ValueCheck | null {
  if (constraint?.kind !== 'object') return null;
  const checks = counted(constraint.attributes).flatMap((attribute) => {
    const items = counted(attribute.children).flatMap((child) =>
      child.kind === 'primitive' ? [child.item] : [],
    );
    const alternatives = counted(items)
      .map(primitiveCheck)
      .filter((check) => check !== null);
    return items.length === 0 || alternatives.length < items.length
      ? []
      : [attributeCheck(attribute.name, alternatives)];
  });
  if (checks.length === 0) return null;
  return (value) => {
    const found = counted(checks).flatMap((check) => check(value) ?? []);
    return rule === undefined ? found : counted(found).map((finding) => ({ ...finding, rule }));
  };
}

function attributeCheck(
  name: string,
  alternatives: readonly PrimitiveCheck[],
): (object: JsonObject) => Finding | null {
  return (object) => {
    const value = object[name];
    if (value === undefined) return null;
    const expected: Expected[] = [];
    for (const check of counted(alternatives)) {
      const found = check(value);
      if (found.length === 0) return null;
      expected.push(...found);
    }
    const isText = typeof value === 'string' && counted(expected).some(({ text }) => text.startsWith('"'));
    const shown = isText ? `"${value}"` : shownValue(value);
    return notAllowed('value-not-allowed', { attribute: name, shown, found: value }, expected);
  };
}

function shownValue(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A value in a message, as data, and the attribute that holds it. */
interface FoundValue {
  readonly attribute: string;
  readonly shown: string;
  readonly found: JsonValue;
}

function notAllowed(
  code: ViolationCode,
  { attribute, shown, found }: FoundValue,
  expected: readonly Expected[],
): Finding {
  const texts = counted(expected).map(({ text }) => text);
  const values = counted(expected).map(({ value }) => value);
  const rule = expected[0]?.rule;
  const isOneRule = rule !== undefined && counted(expected).every((each) => each.rule === rule);
  const message = mustBe(shown, texts);
  return { code, message, expected: values, found, attribute, ...(isOneRule && { rule }) };
}

function expectedValue(value: string | number, text = String(value)): Expected {
  return { text, value };
}

function quantityCheck({ units, property }: QuantityConstraint): ValueCheck | null {
  if (units.length === 0) return property === null ? null : propertyCheck(property);
  return (quantity) => {
    const unit = quantity.units;
    if (typeof unit !== 'string') return FINE;
    const fitting = counted(units).filter((candidate) => candidate.units === unit);
    if (fitting.length === 0)
      return [
        notAllowed(
          'unit-not-allowed',
          { attribute: 'units', shown: `"${unit}"`, found: unit },
          counted(units).map((candidate) => expectedValue(candidate.units, `"${candidate.units}"`)),
        ),
      ];
    if (counted(fitting).some((candidate) => numbersFit(quantity, candidate))) return FINE;
    return [
      numberFinding(
        'magnitude',
        quantity,
        counted(fitting).map((candidate) => candidate.magnitude),
      ),
      numberFinding(
        'precision',
        quantity,
        counted(fitting).map((candidate) => candidate.precision),
      ),
    ].filter((finding) => finding !== null);
  };
}

/** A property without list of units: any unit that is not one of other properties only. AM: C_DV_QUANTITY.property. */
function propertyCheck({ terminologyId, code }: Code): ValueCheck | null {
  if (terminologyId !== OPENEHR) return null;
  return ({ units }) => {
    if (typeof units !== 'string' || unitFits(code, units)) return FINE;
    const name = rubric('property', code, 'en') ?? code;
    const expected = { text: `a unit of ${name}`, value: `a unit of ${name}`, rule: UNIT_PROPERTY };
    return [
      notAllowed('unit-not-allowed', { attribute: 'units', shown: `"${units}"`, found: units }, [expected]),
    ];
  };
}

function numbersFit(quantity: JsonObject, { magnitude, precision }: UnitConstraint): boolean {
  return isInRange(quantity.magnitude, magnitude) && isInRange(quantity.precision, precision);
}

function isInRange(value: unknown, range: Interval<number> | null): boolean {
  return range === null || typeof value !== 'number' || isWithin(value, range);
}

function numberFinding(
  attribute: 'magnitude' | 'precision',
  quantity: JsonObject,
  ranges: readonly (Interval<number> | null)[],
): Finding | null {
  const value = quantity[attribute];
  if (typeof value !== 'number' || counted(ranges).some((range) => isInRange(value, range))) return null;
  return notAllowed(
    'value-not-allowed',
    { attribute, shown: String(value), found: value },
    counted(ranges)
      .filter((range) => range !== null)
      .map((range) => numberRange(range)),
  );
}

function ordinalCheck({ options }: OrdinalConstraint, node: WebTemplateNode): ValueCheck | null {
  const [input] = node.inputs;
  const expected = input === undefined || options.length === 0 ? null : codeExpectation(input);
  if (expected === null) return null;
  return (ordinal) => {
    const symbol = ordinal.symbol;
    const value = ordinal.value;
    if (!isJsonObject(symbol)) return FINE;
    const finding = codedTextFinding(symbol, expected);
    if (finding !== null) return [{ ...finding, attribute: 'symbol' }];
    const code = codeString(symbol.defining_code);
    const values = counted(options)
      .filter((option) => option.symbol.code === code)
      .map((option) => option.value);
    if (typeof value !== 'number' || values.includes(value)) return FINE;
    return [
      notAllowed(
        'value-not-allowed',
        { attribute: 'value', shown: String(value), found: value },
        counted(values).map((option) => expectedValue(option)),
      ),
    ];
  };
}

function transitionCheck(node: WebTemplateNode): ValueCheck {
  const step = counted(node.children).find((child) => child.attribute === 'careflow_step');
  const states = new Map<string, readonly string[]>();
  for (const { value, currentStates } of counted(step?.inputs[0]?.list ?? []))
    if (currentStates !== undefined) states.set(value, [...(states.get(value) ?? []), ...currentStates]);
  return (transition) => {
    const given = transition.transition;
    const state = openehrCode(transition.current_state);
    if (!isJsonObject(given) || state === null) return FINE;
    return [leadsTo(given, state), stepAllowsState(transition.careflow_step, state, states)].filter(
      (finding) => finding !== null,
    );
  };
}

function leadsTo(transition: JsonObject, state: string): Finding | null {
  const code = openehrCode(transition);
  const target = code === null ? undefined : INSTRUCTION_TRANSITIONS.get(code)?.to;
  if (target === undefined || target === state) return null;
  const phrase = transition.defining_code;
  const name = typeof transition.value === 'string' ? transition.value : '';
  const found = `${name}/${terminologyOf(phrase)}/${codeString(phrase)}`;
  const message = `No valid transition found for ism transition[${found}] (expected current_state: ${target}, found: ${state})`;
  return { code: 'wrong-transition', message, expected: [target], found: state, attribute: 'current_state' };
}

function stepAllowsState(
  step: unknown,
  state: string,
  states: ReadonlyMap<string, readonly string[]>,
): Finding | null {
  const expected = isJsonObject(step) ? states.get(codeString(step.defining_code)) : undefined;
  if (expected === undefined || expected.includes(state)) return null;
  const message = `IsmTransition contains invalid current_state (expected: ${expected.join(', ')}, found: ${state})`;
  return { code: 'wrong-transition', message, expected, found: state, attribute: 'current_state' };
}
