import type {
  CodePhraseConstraint,
  Constraint,
  NumberConstraint,
  OrdinalConstraint,
  PrimitiveConstraint,
  QuantityConstraint,
  TemporalConstraint,
} from '../opt/constraint.js';
import { durationInputs, integerRangeOf, rangeOf, validationOf } from './input-range.js';
import type { NodeDraft } from './node-draft.js';
import type { Scope } from './scope.js';
import { withoutParameters } from '../../rm/model/classes.js';
import {
  PROPORTION_TYPES,
  type ProportionType,
  type WebTemplateInput,
  type WebTemplateInputType,
  type WebTemplateListItem,
  type WebTemplateValidation,
} from './web-template.js';

/** Optional parts of an input. */
interface InputParts {
  readonly suffix?: string | undefined;
  readonly list?: readonly WebTemplateListItem[] | undefined;
  readonly listOpen?: boolean | undefined;
  readonly validation?: WebTemplateValidation | undefined;
  readonly terminology?: string | undefined;
  readonly defaultValue?: string | number | undefined;
}

function input(type: WebTemplateInputType, parts: InputParts = {}): WebTemplateInput {
  const { suffix, ...rest } = parts;
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  return { ...(suffix === undefined ? {} : { suffix }), type, ...Object.fromEntries(given) };
}

function texts(...suffixes: string[]): WebTemplateInput[] {
  return suffixes.map((suffix) => input('TEXT', { suffix }));
}

/** A default as inputs show it: a number when the text is one (docs/spec/formats.md#web-template-json). */
export function defaultOf(value: string | number | boolean | null): string | number | undefined {
  if (value === null || value === '') return undefined;
  if (typeof value === 'number') return value;
  const text = String(value);
  const number = Number(text);
  return text.trim() !== '' && Number.isFinite(number) ? number : text;
}

/**
 * Fills in `inputs` and `proportionTypes` of a node, whose children are there already
 * (docs/spec/formats.md#inputs).
 */
export function setInputs(node: NodeDraft, scope: Scope): void {
  const { constraint } = node;
  if (constraint?.kind === 'code-phrase') node.inputs = codeInputs(constraint, node, scope);
  else if (constraint?.kind === 'quantity') node.inputs = quantityInputs(constraint, scope);
  else if (constraint?.kind === 'ordinal') node.inputs = ordinalInputs(constraint, scope);
  else node.inputs = inputsByType(node);
  if (node.rmType === 'DV_PROPORTION') node.proportionTypes = proportionTypesOf(constraint);
}

function codeInputs(constraint: CodePhraseConstraint, node: NodeDraft, scope: Scope): WebTemplateInput[] {
  const terminology = inputTerminology(constraint) ?? undefined;
  if (constraint.codes.length === 0)
    return terminology === undefined
      ? texts('code', 'value')
      : ['code', 'value'].map((suffix) => input('TEXT', { suffix, terminology }));
  const attribute = node.attribute === 'defining_code' ? (node.parent?.attribute ?? '') : node.attribute;
  const terminologyId = terminology ?? 'local';
  const list = constraint.codes.map((code) => scope.listItem({ terminologyId, code }, attribute));
  const defaultValue = defaultOf(constraint.assumedValue?.code ?? null);
  return [input('CODED_TEXT', { suffix: 'code', list, terminology, defaultValue })];
}

/**
 * The terminology that a code constraint names; for a C_CODE_REFERENCE the text after the first `:`
 * (docs/spec/formats.md#opt-constraints).
 */
function inputTerminology(constraint: CodePhraseConstraint): string | null {
  const { referenceSetUri, terminologyId } = constraint;
  if (referenceSetUri === null) return terminologyId;
  return referenceSetUri.slice(referenceSetUri.indexOf(':') + 1);
}

function quantityInputs(constraint: QuantityConstraint, scope: Scope): WebTemplateInput[] {
  const list = constraint.units.map(({ units, magnitude, precision }): WebTemplateListItem => {
    const validation = validationOf({ range: rangeOf(magnitude), precision: integerRangeOf(precision) });
    // A term whose code is the unit says what people call it: "mmHg" for mm[Hg].
    const localizedLabels = {
      ...Object.fromEntries(scope.languages.map((language) => [language, units])),
      ...scope.localized(units, 'text'),
    };
    return {
      value: units,
      label: units,
      localizedLabels,
      ...(validation === undefined ? {} : { validation }),
    };
  });
  const assumed = constraint.assumedValue;
  return [
    input('DECIMAL', {
      suffix: 'magnitude',
      validation: list.length === 1 ? list[0]?.validation : undefined,
      defaultValue: defaultOf(assumed?.magnitude ?? null),
    }),
    input('CODED_TEXT', {
      suffix: 'unit',
      list: list.length === 0 ? undefined : list,
      defaultValue: defaultOf(assumed?.units ?? null),
    }),
  ];
}

function ordinalInputs(constraint: OrdinalConstraint, scope: Scope): WebTemplateInput[] {
  const list = constraint.options.map(({ value, symbol, text }): WebTemplateListItem => {
    const item = scope.listItem(symbol, 'symbol');
    return { ...item, ...(item.label === undefined && text !== '' ? { label: text } : {}), ordinal: value };
  });
  const assumed = constraint.options.find((option) => option.value === constraint.assumedValue);
  return [
    input('CODED_TEXT', {
      list: list.length === 0 ? undefined : list,
      terminology: constraint.options[0]?.symbol.terminologyId,
      defaultValue: defaultOf(assumed?.symbol.code ?? null),
    }),
  ];
}

/** The constraint of a primitive attribute. */
export function primitive(constraint: Constraint | null, attribute: string): PrimitiveConstraint | null {
  if (constraint?.kind !== 'object') return null;
  const children = constraint.attributes.find((candidate) => candidate.name === attribute)?.children ?? [];
  for (const child of children) if (child.kind === 'primitive') return child.item;
  return null;
}

const PLAIN_TEXT = new Set([
  ...['DV_TEXT', 'DV_URI', 'DV_EHR_URI', 'DV_MULTIMEDIA'],
  ...['UID_BASED_ID', 'STRING', 'String'],
]);
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  DV_STATE: ['code', 'value'],
  DV_PARSABLE: ['value', 'formalism'],
  DV_IDENTIFIER: ['id', 'type', 'issuer', 'assigner'],
  PARTY_PROXY: ['id', 'id_scheme', 'id_namespace', 'name'],
};
const TEMPORAL_INPUTS: Readonly<Record<string, WebTemplateInputType>> = {
  DV_DATE: 'DATE',
  DV_TIME: 'TIME',
  DV_DATE_TIME: 'DATETIME',
};

function inputsByType(node: NodeDraft): WebTemplateInput[] {
  const { constraint } = node;
  const type = withoutParameters(node.rmType);
  const temporal = TEMPORAL_INPUTS[type];
  if (temporal !== undefined) return [temporalInput(temporal, primitive(constraint, 'value'))];
  if (PLAIN_TEXT.has(type)) return [textInput(primitive(constraint, 'value'))];
  switch (type) {
    case 'DV_CODED_TEXT':
      return codedTextInputs(node);
    case 'DV_ORDINAL':
      return [input('CODED_TEXT')];
    case 'DV_SCALE':
      return [scaleInput(node)];
    case 'DV_QUANTITY':
      return [input('DECIMAL', { suffix: 'magnitude' }), input('TEXT', { suffix: 'unit' })];
    case 'DV_COUNT':
      return [numberInput('INTEGER', undefined, primitive(constraint, 'magnitude'))];
    case 'DV_PROPORTION':
      return proportionInputs(constraint);
    case 'DV_BOOLEAN':
      return [booleanInput(primitive(constraint, 'value'))];
    case 'DV_DURATION':
      return durationInputs(asTemporal(primitive(constraint, 'value')));
    default:
      return texts(...(SUFFIXES[type] ?? []));
  }
}

function codedTextInputs(node: NodeDraft): WebTemplateInput[] {
  const codes = node.children.filter((child) => child.attribute === 'defining_code');
  const inputs = codes.flatMap((code) => code.inputs);
  if (inputs.length > 0) return inputs;
  return node.constraint === null ? texts('code', 'value') : texts('value', 'code');
}

/** The codes of the symbol. */
function scaleInput(node: NodeDraft): WebTemplateInput {
  const symbol = node.children.find((child) => child.attribute === 'symbol');
  const { list, terminology } = symbol?.inputs.find(({ suffix }) => suffix === 'code') ?? {};
  return input('CODED_TEXT', { list, terminology });
}

function asTemporal(item: PrimitiveConstraint | null): TemporalConstraint | null {
  return item !== null && 'timezoneValidity' in item ? item : null;
}

function temporalInput(type: WebTemplateInputType, item: PrimitiveConstraint | null): WebTemplateInput {
  const temporal = asTemporal(item);
  const validation = validationOf({
    pattern: temporal?.pattern ?? undefined,
    range: rangeOf(temporal?.range ?? null),
  });
  return input(type, { validation, defaultValue: temporal?.assumedValue ?? undefined });
}

function textInput(item: PrimitiveConstraint | null): WebTemplateInput {
  if (item?.kind !== 'string') return input('TEXT');
  const defaultValue = defaultOf(item.assumedValue);
  const validation = validationOf({ pattern: item.pattern ?? undefined });
  if (item.list.length === 0) return input('TEXT', { validation, defaultValue });
  const list = item.list.map((value) => ({ value, label: value }));
  return input('TEXT', { list, listOpen: item.listOpen, validation, defaultValue });
}

function numberInput(
  type: 'INTEGER' | 'DECIMAL',
  suffix: string | undefined,
  item: PrimitiveConstraint | null,
): WebTemplateInput {
  if (item?.kind !== 'integer' && item?.kind !== 'real') return input(type, { suffix });
  const range = item.kind === 'integer' ? integerRangeOf(item.range) : rangeOf(item.range);
  const list = item.list.map((value) => ({ value: String(value), label: String(value) }));
  return input(type, {
    suffix,
    list: list.length === 0 ? undefined : list,
    validation: validationOf({ range }),
    defaultValue: defaultOf(item.assumedValue),
  });
}

function booleanInput(item: PrimitiveConstraint | null): WebTemplateInput {
  if (item?.kind !== 'boolean') return input('BOOLEAN');
  const only = item.trueValid === item.falseValid ? null : String(item.trueValid);
  return input('BOOLEAN', {
    list: only === null ? undefined : [{ value: only, label: only }],
    defaultValue: defaultOf(item.assumedValue),
  });
}

function proportionTypesOf(constraint: Constraint | null): ProportionType[] {
  const item: NumberConstraint | null = asNumberConstraint(primitive(constraint, 'type'));
  const allowed = item === null || item.list.length === 0 ? null : new Set(item.list);
  return PROPORTION_TYPES.filter((_, type) => allowed?.has(type) ?? true);
}

function asNumberConstraint(item: PrimitiveConstraint | null): NumberConstraint | null {
  return item?.kind === 'integer' || item?.kind === 'real' ? item : null;
}

const FIXED_DENOMINATORS: Readonly<Record<string, number>> = { unitary: 1, percent: 100 };

function proportionInputs(constraint: Constraint | null): WebTemplateInput[] {
  const [type, ...others] = proportionTypesOf(constraint);
  const fixed = type === undefined || others.length > 0 ? undefined : FIXED_DENOMINATORS[type];
  const denominator = numberInput('DECIMAL', 'denominator', primitive(constraint, 'denominator'));
  return [
    numberInput('DECIMAL', 'numerator', primitive(constraint, 'numerator')),
    fixed === undefined
      ? denominator
      : { ...denominator, validation: { range: { min: fixed, minOp: '>=', max: fixed, maxOp: '<=' } } },
  ];
}
