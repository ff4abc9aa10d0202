import type {
  WebTemplateInput,
  WebTemplateNode,
} from '../../../openehr/template/web-template/web-template.js';

/** One way to say a value: without suffix, or by some. Types are TypeScript. */
interface ValueForm {
  /** The type of the value without suffix. */
  readonly plain?: string;
  readonly suffixes: readonly ValueSuffix[];
  /** Whether other suffixes may follow. */
  readonly open?: boolean;
}

interface ValueSuffix {
  readonly name: string;
  readonly type: string;
  readonly optional?: boolean;
}

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

/** The ways to say the value of a node: value sets and units are unions of literals. */
function valueForms(node: WebTemplateNode): readonly ValueForm[] {
  const { rmType } = node;
  if (rmType === 'DV_QUANTITY') return [quantityForm(node)];
  if (rmType === 'DV_PROPORTION')
    return [{ suffixes: [required('numerator', 'number'), required('denominator', 'number')], open: true }];
  if (rmType === 'DV_CODED_TEXT' || rmType === 'DV_ORDINAL' || rmType === 'DV_SCALE') return codedForms(node);
  const simple = SIMPLE[rmType];
  return [
    simple === undefined ? { plain: 'Primitive', suffixes: [], open: true } : { plain: simple, suffixes: [] },
  ];
}

function required(name: string, type: string): ValueSuffix {
  return { name, type };
}

function optional(name: string, type: string): ValueSuffix {
  return { name, type, optional: true };
}

/** The only unit need not be said. */
function quantityForm(node: WebTemplateNode): ValueForm {
  const unit = listed(node, 'unit');
  const isOnly = unit !== 'string' && !unit.includes(' | ');
  const suffixes = [required('magnitude', 'number'), { name: 'unit', type: unit, optional: isOnly }];
  return { suffixes: [...suffixes, optional('precision', 'number')] };
}

/** A code of the template, with what else may be said of it; where the list is open, or there is none, any. */
function codedForms(node: WebTemplateNode): readonly ValueForm[] {
  const more = [optional('value', 'string'), optional('terminology', 'string')];
  const numbers = [optional('ordinal', 'number'), optional('scale', 'number')];
  const coded = { suffixes: [required('code', listed(node, 'code')), ...more, ...numbers] };
  const isOpen = node.inputs.some(({ listOpen }) => listOpen === true);
  return isOpen ? [coded, { suffixes: [required('other', 'string')] }] : [coded];
}

function listed({ inputs }: WebTemplateNode, suffix: string): string {
  const input: WebTemplateInput | undefined =
    inputs.find((one) => one.suffix === suffix) ?? inputs.find(({ list }) => list !== undefined);
  const values = (input?.list ?? []).map(({ value }) => JSON.stringify(value));
  return values.length === 0 || input?.listOpen === true ? 'string' : [...new Set(values)].join(' | ');
}

/** The type of a value in the data of a template. */
export function valueType(node: WebTemplateNode): string {
  return valueForms(node)
    .map(({ plain, suffixes, open = false }) => {
      if (plain !== undefined) return open ? 'Suffixes' : `Value<${plain}>`;
      const more = open ? ['readonly [suffix: string]: Primitive'] : [];
      return `(Raw & { ${[...suffixes.map(memberText), ...more].join('; ')} })`;
    })
    .join(' | ');
}

function memberText({ name, type, optional: isOptional = false }: ValueSuffix): string {
  return `readonly ${name}${isOptional ? '?' : ''}: ${type}`;
}

/** The type of a value in STRUCTURED. */
export function structuredType(node: WebTemplateNode): string {
  return valueForms(node)
    .map(({ plain, suffixes, open = false }) => {
      if (plain !== undefined) return `${plain} | (RawStructured & { readonly "|value"?: ${plain} })`;
      const members = suffixes.map((suffix) => memberText({ ...suffix, name: `"|${suffix.name}"` }));
      return open ? 'RawStructured' : `(RawStructured & { ${members.join('; ')} })`;
    })
    .join(' | ');
}

/** Members of the type of FLAT for the value at a path, which may hold `${number}` for its indexes. */
export function flatMembers(path: string, node: WebTemplateNode): readonly string[] {
  const key = (rest: string): string => {
    const whole = path + rest;
    return whole.includes('${') ? `[key: \`${whole}\`]` : `${JSON.stringify(whole)}?`;
  };
  const types = new Map<string, string>();
  for (const { plain, suffixes, open = false } of valueForms(node)) {
    if (plain !== undefined) types.set(key(''), plain);
    for (const { name, type } of suffixes) types.set(key(`|${name}`), type);
    if (open) types.set(`[key: \`${path}|\${string}\`]`, 'Primitive | undefined');
    if (open && plain === undefined) types.set(key(''), 'Primitive');
  }
  return [...types].map(([member, type]) => `readonly ${member}: ${type};`);
}
