import { isObject, textAt } from '../api/json.js';
import type { Json } from '../api/types.js';
import { isLocatable } from './structure.js';
import { valueText } from './value-text.js';

/** One value that two versions have differently. */
export interface Difference {
  /** Names from the top, such as `Blood pressure › Systolic`. */
  readonly label: string;
  readonly path: string;
  /** null: only the other version has it. */
  readonly before: string | null;
  readonly after: string | null;
}

interface Leaf {
  readonly label: string;
  readonly text: string;
}

/** Classes that are compared as one value. */
const WHOLE = /^(DV_|CODE_PHRASE|PARTY_)/;
/** What every version has anew. */
const IGNORED = new Set(['_type', 'uid', 'archetype_details']);

/** What changed from one version to another, by path, in the order of the newer one; what went comes last. */
export function differencesOf(before: Json, after: Json, language: string): Difference[] {
  const old = leavesOf(before, language);
  const current = leavesOf(after, language);
  const changed = [...current].flatMap(([path, { label, text }]): Difference[] => {
    const was = old.get(path)?.text ?? null;
    return was === text ? [] : [{ path, label, before: was, after: text }];
  });
  const gone = [...old]
    .filter(([path]) => !current.has(path))
    .map(([path, { label, text }]) => ({ path, label, before: text, after: null }));
  return [...changed, ...gone];
}

function leavesOf(root: Json, language: string): Map<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  const visit = (value: Json, path: string, names: readonly string[]): void => {
    if (Array.isArray(value)) {
      visitList(value, path, names);
      return;
    }
    if (!isObject(value) || WHOLE.test(textAt(value, '_type'))) {
      const { text, unit } = valueText(value, language);
      leaves.set(path, { label: names.join(' › '), text: unit === undefined ? text : `${text} ${unit}` });
      return;
    }
    for (const [name, member] of Object.entries(value)) {
      if (IGNORED.has(name) || member === undefined || (path === '' && name === 'name')) continue;
      visit(member, `${path}/${name}`, namesWith(names, name, member));
    }
  };
  const visitList = (list: readonly Json[], path: string, names: readonly string[]): void => {
    const seen = new Map<string, number>();
    list.forEach((each, index) => {
      const id = isLocatable(each) ? textAt(each, 'archetype_node_id') : String(index);
      const count = (seen.get(id) ?? 0) + 1;
      seen.set(id, count);
      const below = isLocatable(each) ? [...names, textAt(each, 'name', 'value')] : names;
      visit(each, `${path}[${id}${count > 1 ? `, ${count}` : ''}]`, below);
    });
  };
  visit(root, '', []);
  return leaves;
}

const SILENT_NAMES = ['data', 'state', 'protocol', 'value', 'name'];

/** A node adds its name; lists and silent attributes add no word; an attribute with a value does. */
function namesWith(names: readonly string[], name: string, member: Json): readonly string[] {
  if (isLocatable(member)) return [...names, textAt(member, 'name', 'value')];
  return Array.isArray(member) || SILENT_NAMES.includes(name) ? names : [...names, name];
}
