import {
  ACTIONS,
  OBJECT_ATTRIBUTES,
  USER_ATTRIBUTES,
  type Attributes,
} from '../../../../../policy/schema.js';
import { CEDAR_VARIABLES, CEDAR_WORDS } from './cedar-tokens.js';

/** A word that can stand where the cursor is. */
interface CedarCompletion {
  readonly label: string;
  /** Its type, and whether it is asked for with `has` first. */
  readonly detail: string;
}

const TAGS = [
  { label: 'hasTag("access.")', detail: 'Bool' },
  { label: 'getTag("access.")', detail: 'Set<String>' },
];
const OF_SETS = ['contains()', 'containsAny([])', 'containsAll([])', 'isEmpty()'];

/** What can stand behind a text, and where the word begins that it takes the place of; null: nothing is known. */
export function cedarCompletions(
  before: string,
): { readonly from: number; readonly options: readonly CedarCompletion[] } | null {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if (/\/\//.test(line.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''))) return null;
  const [word = ''] = /[A-Za-z_]\w*$/.exec(before) ?? [];
  const from = before.length - word.length;
  const left = before.slice(0, from);
  if (/Action::"$/.test(left)) return { from, options: ACTIONS.map((label) => ({ label, detail: '' })) };
  if (isInString(line.slice(0, line.length - word.length))) return null;
  const [, variable, how] = /\b(principal|resource)(\.|\s+has\s+)$/.exec(left) ?? [];
  if (variable !== undefined) return { from, options: attributesOf(variable, how === '.') };
  if (/\]\s*\.$|\)\s*\.$|\.\w+\s*\.$/.test(left))
    return { from, options: OF_SETS.map((label) => ({ label, detail: 'Set<String>' })) };
  if (word === '' || left.endsWith('.')) return null;
  return {
    from,
    options: [...CEDAR_WORDS, ...CEDAR_VARIABLES, 'Action', 'User', 'Ehr', 'Version'].map((label) => ({
      label,
      detail: '',
    })),
  };
}

function isInString(line: string): boolean {
  return (line.replaceAll(/\\./g, '').match(/"/g)?.length ?? 0) % 2 === 1;
}

function attributesOf(variable: string, withTags: boolean): readonly CedarCompletion[] {
  const all: Attributes =
    variable === 'principal' ? USER_ATTRIBUTES : { ...OBJECT_ATTRIBUTES.Version, ...OBJECT_ATTRIBUTES.Ehr };
  const own = Object.entries(all).map(([label, { kind, isOptional }]) => ({
    label,
    detail: isOptional === true ? `${kind}, has` : kind,
  }));
  return variable === 'resource' && withTags ? [...own, ...TAGS] : own;
}
