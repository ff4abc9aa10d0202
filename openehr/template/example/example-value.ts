import type { JsonObject } from '../../base/json.js';
import { attributesOf, withoutParameters } from '../../rm/model/classes.js';
import { expectedTerminology } from '../validate/code-check.js';
import type { Interval, TemporalConstraint } from '../opt/constraint.js';
import { isWithin } from '../opt/constraint-text.js';
import { usualUnit } from '../../rm/terminology/property-units.js';
import { primitive } from '../web-template/node-inputs.js';
import { textMatching } from './pattern-example.js';
import { codedText, codePhrase, EXAMPLE_TIME, sampleObject, usualCode, type SampleLocale } from './sample.js';
import { temporalCheck } from '../validate/temporal-check.js';
import { PROPORTION_TYPES, type WebTemplateNode } from '../web-template/web-template.js';

/** What values are made with. */
export interface ValueContext {
  readonly choices: ExampleChoices;
  readonly locale: SampleLocale;
}

type ValueMaker = (node: WebTemplateNode, context: ValueContext) => JsonObject;

const MAKERS: Readonly<Record<string, ValueMaker>> = {
  DV_TEXT: (node, context) => exampleDvText(node, context),
  DV_CODED_TEXT: (node, context) => codedTextOf(node, context),
  CODE_PHRASE: (node, context) => {
    const { terminologyId, code } = codeFor(node, context);
    return codePhrase(terminologyId, code);
  },
  DV_ORDINAL: (node, context) => exampleOrdinal(node, context),
  DV_QUANTITY: (node, context) => exampleQuantity(node, context),
  DV_COUNT: (node) => ({ _type: 'DV_COUNT', magnitude: numberFor(node, 'magnitude', true) }),
  DV_PROPORTION: (node, context) => proportionOf(node, context),
  DV_BOOLEAN: (node) => {
    const item = primitive(node.constraint, 'value');
    return { _type: 'DV_BOOLEAN', value: item?.kind === 'boolean' ? item.trueValid : true };
  },
  DV_DATE: (node) => exampleTemporal(node),
  DV_TIME: (node) => exampleTemporal(node),
  DV_DATE_TIME: (node) => exampleTemporal(node),
  DV_DURATION: (node) => ({ _type: 'DV_DURATION', value: durationFor(node) }),
};

/** Makes an example of a value that a template constrains; null for classes that are built from their attributes. */
export function exampleValue(node: WebTemplateNode, context: ValueContext): JsonObject | null {
  return MAKERS[withoutParameters(node.rmType)]?.(node, context) ?? null;
}

/** A text for a primitive attribute: one of its list, or one that matches its pattern. */
export function exampleText(
  node: WebTemplateNode,
  attribute: string,
  { choices }: ValueContext,
): string | null {
  const item = primitive(node.constraint, attribute);
  if (item?.kind !== 'string') return null;
  return (
    item.list[choices.pick(item.list.length)] ?? (item.pattern === null ? null : textMatching(item.pattern))
  );
}

function exampleDvText(node: WebTemplateNode, context: ValueContext): JsonObject {
  return { _type: 'DV_TEXT', value: exampleText(node, 'value', context) ?? 'Example text' };
}

interface CodeWithText {
  readonly terminologyId: string;
  readonly code: string;
  readonly text: string;
}

function codedTextOf(node: WebTemplateNode, context: ValueContext): JsonObject {
  const { terminologyId, code, text } = codeFor(node, context);
  return codedText(terminologyId, code, text);
}

function codeFor(node: WebTemplateNode, { choices, locale }: ValueContext): CodeWithText {
  const input = node.inputs.find((candidate) => candidate.suffix === 'code');
  const asked = input?.terminology === undefined ? null : terminologyIdOf(input.terminology);
  const list = input?.list ?? [];
  const item = list[choices.pick(list.length)];
  if (item !== undefined)
    return { terminologyId: asked ?? 'local', code: item.value, text: item.label ?? item.value };
  const usual = usualCode(node.attribute, locale);
  if (usual !== null && (asked === null || asked === usual.terminologyId)) return usual;
  return { terminologyId: asked ?? 'local', code: 'at0001', text: 'Example' };
}

function terminologyIdOf(terminology: string): string {
  return expectedTerminology(terminology) ?? terminology;
}

function exampleOrdinal(node: WebTemplateNode, { choices, locale }: ValueContext): JsonObject {
  const options = node.constraint?.kind === 'ordinal' ? node.constraint.options : [];
  const index = choices.pick(options.length);
  const option = options[index];
  if (option === undefined) return sampleObject('DV_ORDINAL', node.attribute, locale);
  const item = node.inputs[0]?.list?.[index];
  const text = item?.label ?? (option.text === '' ? option.symbol.code : option.text);
  return {
    _type: 'DV_ORDINAL',
    value: option.value,
    symbol: codedText(option.symbol.terminologyId, option.symbol.code, text),
  };
}

function exampleQuantity(node: WebTemplateNode, { choices, locale }: ValueContext): JsonObject {
  const units = node.constraint?.kind === 'quantity' ? node.constraint.units : [];
  const unit = units[choices.pick(units.length)];
  if (unit === undefined) {
    const sample = sampleObject('DV_QUANTITY', node.attribute, locale);
    const property = node.constraint?.kind === 'quantity' ? node.constraint.property : null;
    const ofProperty = property === null ? null : usualUnit(property.code);
    return ofProperty === null ? sample : { ...sample, units: ofProperty };
  }
  const precision = unit.precision === null ? null : numberIn(unit.precision, true);
  return {
    _type: 'DV_QUANTITY',
    magnitude: unit.magnitude === null ? 1 : numberIn(unit.magnitude, false),
    units: unit.units,
    ...(precision === null || precision < 0 ? {} : { precision }),
  };
}

function numberFor(node: WebTemplateNode, attribute: string, isWhole: boolean, otherwise = 1): number {
  const item = primitive(node.constraint, attribute);
  if (item?.kind !== 'integer' && item?.kind !== 'real') return otherwise;
  return item.list[0] ?? (item.range === null ? otherwise : numberIn(item.range, isWhole));
}

/** A number within the bounds, a simple one when there is one. */
function numberIn(range: Interval<number>, isWhole: boolean): number {
  const { lower, upper } = range;
  const middle = ((lower ?? (upper ?? 0) - 2) + (upper ?? (lower ?? 0) + 2)) / 2;
  const whole = [
    1,
    0,
    Math.round(middle),
    Math.ceil(lower ?? 0),
    Math.ceil(lower ?? 0) + 1,
    Math.floor(upper ?? 0),
  ];
  const candidates = isWhole ? whole : [...whole, middle, lower ?? 0, upper ?? 0];
  return candidates.find((candidate) => isWithin(candidate, range)) ?? middle;
}

function proportionOf(node: WebTemplateNode, { choices }: ValueContext): JsonObject {
  const types = node.proportionTypes ?? [];
  const type = types[choices.pick(types.length)] ?? 'ratio';
  const isWhole = type === 'fraction' || type === 'integer_fraction';
  const fixed = { unitary: 1, percent: 100 }[type as string];
  return {
    _type: 'DV_PROPORTION',
    numerator: numberFor(node, 'numerator', isWhole),
    denominator: fixed ?? numberFor(node, 'denominator', isWhole, 2),
    type: PROPORTION_TYPES.indexOf(type),
    ...(isWhole ? { precision: 0 } : {}),
  };
}

/** Complete and partial texts by type, the usual one first. */
const TEMPORAL_TEXTS: Readonly<Record<string, readonly string[]>> = {
  DV_DATE: [EXAMPLE_TIME.slice(0, 10), '2022-02', '2022'],
  DV_TIME: [EXAMPLE_TIME.slice(11), '04:05:06', '04:05', '04'],
  DV_DATE_TIME: [
    EXAMPLE_TIME,
    '2022-02-03T04:05:06',
    '2022-02-03T04:05',
    '2022-02-03T04',
    '2022-02-03',
    '2022-02',
    '2022',
  ],
};

function exampleTemporal(node: WebTemplateNode): JsonObject {
  const texts = TEMPORAL_TEXTS[node.rmType] ?? [];
  const item = temporalConstraintOf(node);
  const check = item === null ? null : temporalCheck(item);
  const bounds = [item?.range?.lower, item?.range?.upper].filter((bound) => typeof bound === 'string');
  const value = [...texts, ...bounds].find((text) => check?.(text) == null) ?? texts[0] ?? EXAMPLE_TIME;
  return { _type: node.rmType, value };
}

function temporalConstraintOf(node: WebTemplateNode): TemporalConstraint | null {
  const item = primitive(node.constraint, 'value');
  return item !== null && 'timezoneValidity' in item ? item : null;
}

const DURATIONS = ['PT1H', 'PT1M', 'PT1S', 'P1D', 'P1W', 'P1M', 'P1Y'];

function durationFor(node: WebTemplateNode): string {
  const item = temporalConstraintOf(node);
  if (item === null) return 'PT1H';
  const check = temporalCheck(item);
  const bounds = [item.range?.lower, item.range?.upper].filter((bound) => typeof bound === 'string');
  const isAllowed = (text: string) => lettersFit(text, item.pattern);
  const fitting = [...DURATIONS, ...bounds].filter((text) => check(text) === null);
  return fitting.find(isAllowed) ?? fitting[0] ?? 'PT1H';
}

function lettersFit(text: string, pattern: string | null): boolean {
  if (pattern === null) return true;
  const [date = '', time = ''] = text.replace(/[^A-Z]/g, '').split('T');
  const [allowedDate = '', allowedTime = ''] = pattern.toUpperCase().split('T');
  const within = (letters: string, allowed: string) =>
    letters.split('').every((letter) => allowed.includes(letter));
  return within(date, allowedDate) && within(time, allowedTime);
}

/** Whether the attribute of a class is an RM attribute, so that data may have it. */
export function isRmAttribute(rmType: string, attribute: string): boolean {
  return attributesOf(withoutParameters(rmType)).has(attribute);
}

/** How much of a template an example shows. */
export type DetailLevel = 'required' | 'medium' | 'complete';

/** The decisions while an example is built. */
export interface ExampleChoices {
  /** How many objects of a node there shall be, between `min` and `max` (-1 = any number). */
  count(node: WebTemplateNode, min: number, max: number): number;
  /** Which of `size` possibilities is taken, counted from 0. */
  pick(size: number): number;
}

/** RM attributes that are shown in complete examples only. */
const DETAILS = new Set([
  'protocol',
  'state',
  'null_flavour',
  'expiry_time',
  'instruction_details',
  'transition',
]);

/**
 * The choices of a detail level: what must be there; every node of the template once without protocol, state and
 * slots; every node once.
 */
export function choicesFor(detailLevel: DetailLevel): ExampleChoices {
  return {
    pick: () => 0,
    count(node, min) {
      if (detailLevel === 'required' || node.isSlot) return min;
      if (detailLevel === 'medium' && DETAILS.has(node.attribute)) return min;
      // What only the RM adds says nothing about the template.
      if (node.constraint === null && node.attribute === 'instruction_details') return min;
      return Math.max(min, 1);
    },
  };
}
