import type { DefaultValue, OperationalTemplate } from '../opt/constraint.js';
import { withDefaultDuration } from './input-range.js';
import type { NodeDraft } from './node-draft.js';
import { defaultOf } from './node-inputs.js';
import type { WebTemplateInput } from './web-template.js';

/** A path of the template and what it says of the nodes there. */
interface AtPath<T> {
  /** The name in the predicate of each step that has one. */
  readonly names: readonly (string | null)[];
  readonly said: T;
}

/** `[at0001]`, or with a condition behind `and` or a comma. */
const PREDICATE =
  /\[([^[\]\s,]+)((?:\s+and\s+|\s*,\s*)(?:[^[\]'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*)?\]/g;
/** The name in `, 'Name'` and ` and name/value='Name'`, with either quote. */
const NAME = /^\s*(?:,|and\s+name\/value\s*=)\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/;

/** What a template says of paths, found by a node: its path without names and, where both have one, equal names. */
class PathIndex<T> {
  readonly #byPath = new Map<string, AtPath<T>[]>();

  /** What stands before the first `/` is the root and dropped. */
  add(path: string, said: T): void {
    const start = path.indexOf('/');
    const { key, names } = pathKeys(start < 0 ? '' : path.slice(start));
    const known = this.#byPath.get(key);
    if (known === undefined) this.#byPath.set(key, [{ names, said }]);
    else known.push({ names, said });
  }

  /** In the order of the template. */
  of(aqlPath: string): T[] {
    const { key, names } = pathKeys(aqlPath);
    const found = this.#byPath.get(key) ?? [];
    return found
      .filter((at) => at.names.every((name, step) => isNameMatch(name, names[step])))
      .map(({ said }) => said);
  }
}

function isNameMatch(name: string | null, own: string | null | undefined): boolean {
  return name === null || own == null || name === own;
}

/** A path without names, and the name of each step that has a predicate. */
function pathKeys(path: string): { key: string; names: (string | null)[] } {
  const names: (string | null)[] = [];
  const key = path
    .replace(PREDICATE, (_, id: string, condition: string | undefined) => {
      const [, single, double] = NAME.exec(condition ?? '') ?? [];
      names.push((single ?? double)?.replace(/\\(.)/g, '$1').trim() ?? null);
      return `[${id}]`;
    })
    .replace(/\/$/, '');
  return { key, names };
}

/** Adds the items of `annotations` to the nodes at their paths (docs/spec/formats.md#opt-terms). */
export function applyAnnotations(root: NodeDraft, opt: OperationalTemplate): void {
  if (opt.annotations.length === 0) return;
  const index = new PathIndex<Readonly<Record<string, string>>>();
  for (const { path, items } of opt.annotations) index.add(path, items);
  each(root, (node) => {
    const inherited = isElementValue(node) ? index.of(node.parent?.aqlPath ?? '') : [];
    // A value shows what its ELEMENT shows.
    const found = [...inherited, ...index.of(node.aqlPath)];
    if (found.length > 0)
      node.annotations = found.reduce((all, items) => ({ ...all, ...items }), node.annotations ?? {});
  });
}

/** Adds the default values of `constraints` to the inputs at their paths (docs/spec/formats.md#opt-terms). */
export function applyDefaults(root: NodeDraft, opt: OperationalTemplate): void {
  if (opt.defaults.length === 0) return;
  const index = new PathIndex<DefaultValue>();
  for (const value of opt.defaults) index.add(`${value.path}/${value.attribute}`, value);
  each(root, (node) => {
    const value = index.of(node.aqlPath).findLast(({ rmType }) => rmType === '' || rmType === node.rmType);
    if (value !== undefined)
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
