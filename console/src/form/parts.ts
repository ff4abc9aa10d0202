import type { WebTemplateInput, WebTemplateNode, WebTemplateRange } from '@everchart/client';
import { DURATION_PARTS, type DurationPart } from './duration.js';
import { OPENEHR_TERMS, termText } from './openehr-terms.js';
import type { FlatValue } from './values.js';

/** One of the values that a part takes. */
interface FormOption {
  readonly value: string;
  readonly label: string;
  readonly description?: string;
  /** Of a unit: what its magnitude may be. */
  readonly range?: WebTemplateRange;
}

/** One input of a field: `|magnitude` and `|unit` of a DV_QUANTITY. */
export interface FormPart {
  /** What stands behind `|`; '': nothing. */
  readonly suffix: string;
  readonly input:
    | 'text'
    | 'lines'
    | 'number'
    | 'integer'
    | 'boolean'
    | 'choice'
    | 'date'
    | 'time'
    | 'datetime'
    | 'duration'
    | 'file'
    | 'concept';
  readonly options?: readonly FormOption[];
  readonly range?: WebTemplateRange;
  /** Of a date or time: which parts it needs, such as `yyyy-??-XX`; of a text: a regular expression of all of it. */
  readonly pattern?: string;
  /** Of a duration. */
  readonly durationParts?: readonly DurationPart[];
  /** Of a concept: the URL of the value set that it is of. */
  readonly valueSet?: string;
  /** Of a number: its one unit. */
  readonly unit?: string;
  /** The one value that it has, which stands beside another part: it is shown by itself only where it is another. */
  readonly only?: string;
  /** Set together with it. */
  readonly also?: Readonly<Record<string, FlatValue>>;
  /** Suffixes that said the same of the former value. */
  readonly clears?: readonly string[];
}

type Maker = (node: WebTemplateNode, language: string) => FormPart[];

const text = (suffix: string): FormPart => ({ suffix, input: 'text' });
const PARTY = ['name', 'id', 'id_scheme', 'id_namespace'].map(text);

/** The inputs of each class; what is not here is one text. */
const MAKERS: Readonly<Record<string, Maker>> = {
  DV_TEXT: textParts,
  DV_CODED_TEXT: codedParts,
  DV_STATE: codedParts,
  CODE_PHRASE: (node, language) => codedParts(node, language).filter(({ suffix }) => suffix !== 'value'),
  DV_ORDINAL: ordinalParts,
  DV_SCALE: ordinalParts,
  DV_QUANTITY: quantityParts,
  DV_COUNT: (node) => [{ suffix: '', input: 'integer', ...rangeOf(node.inputs?.[0]) }],
  DV_PROPORTION: proportionParts,
  DV_BOOLEAN: () => [{ suffix: '', input: 'boolean' }],
  DV_DATE: (node) => [{ suffix: '', input: 'date', ...patternOf(node) }],
  DV_TIME: (node) => [{ suffix: '', input: 'time', ...patternOf(node) }],
  DV_DATE_TIME: (node) => [{ suffix: '', input: 'datetime', ...patternOf(node) }],
  DV_DURATION: durationParts,
  DV_PARSABLE: () => [{ suffix: '', input: 'lines', clears: ['value'] }, text('formalism')],
  DV_MULTIMEDIA: () => [
    text(''),
    { suffix: 'data', input: 'file' },
    text('mediatype'),
    text('alternatetext'),
    { suffix: 'size', input: 'integer' },
  ],
  DV_IDENTIFIER: () => ['id', 'type', 'issuer', 'assigner'].map(text),
  PARTY_PROXY: () => PARTY,
  PARTY_IDENTIFIED: () => PARTY,
};

/** The inputs of a field. */
export function partsOf(node: WebTemplateNode, language: string): FormPart[] {
  return MAKERS[node.rmType]?.(node, language) ?? [text('')];
}

/** The key of a part of the field at a place. */
export function keyOf(path: string, suffix: string): string {
  return suffix === '' ? path : `${path}|${suffix}`;
}

/** What changes in the form when a part gets a value; undefined: it has none any more. */
export function changeOf(
  path: string,
  part: FormPart,
  value: FlatValue | undefined,
): Record<string, FlatValue | undefined> {
  const changes: Record<string, FlatValue | undefined> = {};
  for (const suffix of part.clears ?? []) changes[keyOf(path, suffix)] = undefined;
  for (const [suffix, other] of Object.entries(part.also ?? {}))
    changes[keyOf(path, suffix)] = value === undefined ? undefined : other;
  changes[keyOf(path, part.suffix)] = value;
  return changes;
}

function textParts(node: WebTemplateNode, language: string): FormPart[] {
  const { inputs = [] } = node;
  const options = optionsOf(inputs[0], language);
  if (options.length === 0) return [{ suffix: '', input: 'lines', clears: ['value'], ...patternOf(node) }];
  const listed: FormPart = { suffix: '', input: 'choice', options, clears: ['value'] };
  return inputs[0]?.listOpen === true ? [{ suffix: '', input: 'text', options }] : [listed];
}

function codedParts(node: WebTemplateNode, language: string): FormPart[] {
  const { inputs = [], id } = node;
  const coded = inputs.find(({ suffix }) => suffix === 'code');
  const terms = coded?.list === undefined && node.localizedName === undefined ? OPENEHR_TERMS[id] : undefined;
  const options =
    terms === undefined
      ? optionsOf(coded, language)
      : Object.entries(terms).map(([value, rubric]) => ({ value, label: termText(value, rubric, language) }));
  if (options.length === 0) return openCodeParts(coded);
  const clears = [
    '',
    'value',
    'terminology',
    'preferred_term',
    ...(coded?.listOpen === true ? ['other'] : []),
  ];
  const choice: FormPart = { suffix: 'code', input: 'choice', options, clears };
  if (coded?.listOpen !== true) return [choice];
  return [choice, { suffix: 'other', input: 'text', clears: ['code', 'value', 'terminology'] }];
}

/** A code of a terminology that the template does not list. */
function openCodeParts(coded: WebTemplateInput | undefined): FormPart[] {
  const { terminology } = coded ?? {};
  const clears = [''];
  if (terminology === undefined) return [{ ...text('value'), clears }, text('code'), text('terminology')];
  const valueSet = valueSetOf(terminology);
  const value: FormPart = valueSet === null ? text('value') : { suffix: 'value', input: 'concept', valueSet };
  return [
    { ...value, clears },
    { ...text('code'), also: { terminology } },
  ];
}

/** The URL of the FHIR value set that a constraint names; null: it names none. docs/spec/formats.md#template-rules */
function valueSetOf(terminology: string): string | null {
  if (!terminology.startsWith('//fhir.hl7.org/ValueSet')) return null;
  return new URLSearchParams(terminology.slice(terminology.indexOf('?'))).get('url');
}

function ordinalParts({ inputs = [] }: WebTemplateNode, language: string): FormPart[] {
  const options = (inputs[0]?.list ?? []).map((item) => ({
    ...optionOf(item, language),
    label: `${item.ordinal === undefined ? '' : `${item.ordinal} · `}${optionOf(item, language).label}`,
  }));
  if (options.length === 0) return [{ suffix: 'ordinal', input: 'number' }, text('code'), text('value')];
  return [{ suffix: 'code', input: 'choice', options, clears: ['', 'value', 'ordinal', 'terminology'] }];
}

function quantityParts({ inputs = [] }: WebTemplateNode, language: string): FormPart[] {
  const magnitude = inputs.find(({ suffix }) => suffix === 'magnitude');
  const options = optionsOf(
    inputs.find(({ suffix }) => suffix === 'unit'),
    language,
  );
  const [only] = options;
  const unit: FormPart =
    only === undefined ? text('unit') : { suffix: 'unit', input: 'choice', options, clears: ['units'] };
  const single = options.length === 1 && only !== undefined ? only.value : null;
  const also = single === null ? {} : { also: { unit: single }, unit: single };
  return [
    { suffix: 'magnitude', input: 'number', ...rangeOf(magnitude), ...also },
    {
      ...unit,
      clears: ['units', 'units_system', 'units_display_name'],
      ...(single !== null && { only: single }),
    },
  ];
}

/** The codes of PROPORTION_KIND are its positions. */
const PROPORTIONS = ['ratio', 'unitary', 'percent', 'fraction', 'integer_fraction'];

function proportionParts({ inputs = [], proportionTypes = PROPORTIONS }: WebTemplateNode): FormPart[] {
  const options = proportionTypes.map((label) => ({ value: String(PROPORTIONS.indexOf(label)), label }));
  const number = (suffix: string): FormPart => ({
    suffix,
    input: 'number',
    // The ratio that is written beside both.
    clears: [''],
    ...rangeOf(inputs.find((input) => input.suffix === suffix)),
  });
  return [
    number('numerator'),
    number('denominator'),
    { suffix: 'type', input: 'choice', options, clears: [''] },
  ];
}

function durationParts({ inputs = [] }: WebTemplateNode): FormPart[] {
  const named = DURATION_PARTS.filter((part) => inputs.some(({ suffix }) => suffix === part));
  return [
    {
      suffix: '',
      input: 'duration',
      durationParts: named.length === 0 ? DURATION_PARTS : named,
      clears: DURATION_PARTS,
    },
  ];
}

function optionsOf(input: WebTemplateInput | undefined, language: string): FormOption[] {
  return (input?.list ?? []).map((item) => optionOf(item, language));
}

function optionOf(item: NonNullable<WebTemplateInput['list']>[number], language: string): FormOption {
  const description = item.localizedDescriptions?.[language] ?? '';
  const range = item.validation?.range;
  return {
    value: item.value,
    label: item.localizedLabels?.[language] ?? item.label ?? item.value,
    ...(description !== '' && { description }),
    ...(range !== undefined && { range }),
  };
}

function rangeOf(input: WebTemplateInput | undefined): Pick<FormPart, 'range'> {
  const range = input?.validation?.range;
  return range === undefined ? {} : { range };
}

function patternOf({ inputs = [] }: WebTemplateNode): Pick<FormPart, 'pattern'> {
  const pattern = inputs[0]?.validation?.pattern;
  return pattern === undefined ? {} : { pattern };
}
