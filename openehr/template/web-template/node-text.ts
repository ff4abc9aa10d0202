import type { AttributeConstraint, Code, Constraint, ObjectConstraint } from '../opt/constraint.js';
import type { NodeDraft } from './node-draft.js';
import { primitive } from './node-inputs.js';
import type { Scope } from './scope.js';

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
