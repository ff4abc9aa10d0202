import type { DefaultValue, OperationalTemplate } from '../opt/constraint.js';
import type { NodeDraft } from './node-draft.js';
import { withDefaultDuration } from './input-range.js';
import { defaultOf } from './node-inputs.js';
import type { WebTemplateInput } from './web-template.js';

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
