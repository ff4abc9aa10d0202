import type { WebTemplateJsonInput, WebTemplateJsonNode } from './web-template-json-node.js';

const SIMPLE: Readonly<Record<string, string>> = {
  DV_TEXT: 'string',
  DV_COUNT: 'number',
  DV_BOOLEAN: 'boolean',
  DV_DATE: 'string',
  DV_TIME: 'string',
  DV_DATE_TIME: 'string',
  DV_DURATION: 'string',
  DV_URI: 'string',
  DV_EHR_URI: 'string',
};

/** The TypeScript type of the value of a node: value sets and units as unions of literals. */
export function valueType(node: WebTemplateJsonNode): string {
  const { rmType } = node;
  if (rmType === 'DV_QUANTITY')
    return `Raw & { readonly magnitude: number; readonly unit: ${listed(node, 'unit')}; readonly precision?: number }`;
  if (rmType === 'DV_PROPORTION')
    return 'Raw & { readonly numerator: number; readonly denominator: number; readonly [suffix: string]: Primitive }';
  if (rmType === 'DV_CODED_TEXT' || rmType === 'DV_ORDINAL' || rmType === 'DV_SCALE') return codedType(node);
  const simple = SIMPLE[rmType];
  return simple === undefined ? 'Suffixes' : `Value<${simple}>`;
}

/** A code of the template, with what else may be said of it; where the list is open, or there is none, any. */
function codedType(node: WebTemplateJsonNode): string {
  const more =
    'readonly value?: string; readonly terminology?: string; readonly ordinal?: number; readonly scale?: number';
  const coded = `Raw & { readonly code: ${listed(node, 'code')}; ${more} }`;
  return node.inputs?.some(({ listOpen }) => listOpen === true) === true
    ? `(${coded}) | (Raw & { readonly other: string })`
    : coded;
}

function listed({ inputs = [] }: WebTemplateJsonNode, suffix: string): string {
  const input: WebTemplateJsonInput | undefined =
    inputs.find((one) => one.suffix === suffix) ?? inputs.find(({ list }) => list !== undefined);
  const values = (input?.list ?? []).map(({ value }) => JSON.stringify(value));
  return values.length === 0 || input?.listOpen === true ? 'string' : [...new Set(values)].join(' | ');
}
