import type {
  AttributeConstraint,
  Code,
  Constraint,
  ObjectConstraint,
  DefaultValue,
  OperationalTemplate,
} from '../opt/constraint.js';
import type { NodeDraft } from './node-draft.js';
import { primitive, defaultOf } from './node-inputs.js';
import type { Scope } from '../scope.js';
import { withDefaultDuration } from './input-range.js';
import type { WebTemplateInput } from './web-template.js';

/** A name that the template gives a node. */
export interface GivenName {
  readonly text: string;
  /** Set when the name is a DV_CODED_TEXT. */
  readonly code: Code | null;
}

/**
 * The names that a constraint on `name` lists; empty when any name will do
 * (docs/spec/formats.md#names-and-paths).
 */
export function givenNames(constraint: Constraint, scope: Scope): GivenName[] {
  if (constraint.kind !== 'object') return [];
  const attribute = constraint.attributes.find((candidate) => candidate.name === 'name');
  const [name, ...others] = attribute?.children ?? [];
  if (name?.kind !== 'object' || others.length > 0) return [];
  if (name.rmType === 'DV_CODED_TEXT') return codedNames(name, scope);
  const value = primitive(name, 'value');
  return value?.kind === 'string' ? value.list.map((text) => ({ text, code: null })) : [];
}

function codedNames(name: ObjectConstraint, scope: Scope): GivenName[] {
  const codes = name.attributes.find((attribute) => attribute.name === 'defining_code')?.children[0];
  if (codes?.kind !== 'code-phrase') return [];
  const terminologyId = codes.terminologyId ?? 'local';
  return codes.codes.flatMap((code) => {
    const { label } = scope.listItem({ terminologyId, code }, 'name');
    return label === undefined ? [] : [{ text: label, code: { terminologyId, code } }];
  });
}

/** Items of a term that a node shows in other fields. */
const SHOWN_ITEMS = new Set(['text', 'description']);

/**
 * Sets name, localisations and annotations of a LOCATABLE node from its term
 * (docs/spec/formats.md#names-and-paths). `code` is its at-code.
 */
export function setTexts(node: NodeDraft, code: string, given: GivenName | null, scope: Scope): void {
  const term = scope.term(code);
  node.name = given?.text ?? term?.text ?? node.rmType;
  node.localizedName = node.name;
  node.localizedNames = { [scope.opt.defaultLanguage]: node.name };
  if (given === null) node.localizedNames = { ...node.localizedNames, ...scope.localized(code, 'text') };
  else if (given.code !== null) Object.assign(node.localizedNames, scope.localized(given.code.code, 'text'));
  const descriptions = scope.localized(code, 'description');
  if (Object.keys(descriptions).length > 0) node.localizedDescriptions = descriptions;
  const others = Object.entries(term ?? {}).filter(([id, text]) => !SHOWN_ITEMS.has(id) && text !== '');
  if (others.length > 0) node.annotations = Object.fromEntries(others);
}

/**
 * Gives siblings of equal paths their own names in the predicate
 * (docs/spec/formats.md#names-and-paths). `children` are those of one attribute.
 */
export function nameTwins(children: readonly NodeDraft[]): void {
  const ids = new Map<string, number>();
  for (const { archetypeNodeId } of children)
    if (archetypeNodeId !== null) ids.set(archetypeNodeId, (ids.get(archetypeNodeId) ?? 0) + 1);
  for (const child of children)
    if (child.archetypeNodeId !== null && (ids.get(child.archetypeNodeId) ?? 0) > 1)
      child.nameConstraint ??= child.name;
}

/** Whether the attribute only names its object, so that it is not a child. */
export function isNameAttribute(attribute: AttributeConstraint): boolean {
  return attribute.name === 'name';
}

/** A path without archetype id before it and without names: what annotations and defaults are matched by. */
function withoutNames(path: string): string {
  const start = path.indexOf('/');
  if (start < 0) return '';
  return path
    .slice(start)
    .replace(/\[([^\]\s,]+)(?:\s+and\s+|\s*,\s*)(?:[^\]'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*\]/g, '[$1]')
    .replace(/\/$/, '');
}

/** Adds the items of `annotations` to the nodes at their paths (docs/spec/formats.md#opt-terms). */
export function applyAnnotations(root: NodeDraft, opt: OperationalTemplate): void {
  if (opt.annotations.length === 0) return;
  const items = new Map<string, Record<string, string>>();
  for (const annotation of opt.annotations) {
    const path = withoutNames(annotation.path);
    items.set(path, { ...items.get(path), ...annotation.items });
  }
  each(root, (node) => {
    const found = items.get(withoutNames(`${node.aqlPath}/`));
    // A value shows what its ELEMENT shows.
    const inherited = isElementValue(node) ? items.get(withoutNames(node.parent?.aqlPath ?? '')) : undefined;
    if (found !== undefined || inherited !== undefined)
      node.annotations = { ...node.annotations, ...inherited, ...found };
  });
}

/** Adds the default values of `constraints` to the inputs at their paths (docs/spec/formats.md#opt-terms). */
export function applyDefaults(root: NodeDraft, opt: OperationalTemplate): void {
  if (opt.defaults.length === 0) return;
  const defaults = new Map<string, DefaultValue>();
  for (const value of opt.defaults) defaults.set(withoutNames(`${value.path}/${value.attribute}`), value);
  each(root, (node) => {
    const value = defaults.get(withoutNames(node.aqlPath));
    if (value !== undefined && (value.rmType === '' || value.rmType === node.rmType))
      node.inputs =
        node.rmType === 'DV_DURATION'
          ? withDefaultDuration(node.inputs, value.attributes.value ?? null)
          : node.inputs.map((input) => withDefault(input, value));
  });
}

/** The RM attribute that an input stands for, where it has another name. */
const ATTRIBUTE_OF_SUFFIX: Readonly<Record<string, string>> = {
  unit: 'units',
  code: 'defining_code/code_string',
};
const PLAIN_ATTRIBUTES = ['value', 'magnitude', 'symbol/defining_code/code_string', 'uri/value'];

function withDefault(input: WebTemplateInput, { attributes }: DefaultValue): WebTemplateInput {
  const names =
    input.suffix === undefined
      ? attributes['symbol/defining_code/code_string'] === undefined
        ? PLAIN_ATTRIBUTES
        : ['symbol/defining_code/code_string']
      : [ATTRIBUTE_OF_SUFFIX[input.suffix] ?? input.suffix];
  for (const name of names) {
    const defaultValue = defaultOf(attributes[name] ?? null);
    if (defaultValue !== undefined) return { ...input, defaultValue };
  }
  return input;
}

function isElementValue(node: NodeDraft): boolean {
  return node.parent?.rmType === 'ELEMENT' && node.attribute === 'value' && node.constraint !== null;
}

function each(node: NodeDraft, visit: (node: NodeDraft) => void): void {
  visit(node);
  for (const child of node.children) each(child, visit);
}
