import { attributeOf, type AccessObject } from '../../../policy/object.js';
import type { AskedQuery } from '../../../policy/smart-grants.js';
import type { Action } from '../../../policy/subject.js';
import type { Random } from '../random.js';

/** A plain reading of the grammar of scopes, and of what they grant, to compare ours with: docs/smart.md. */

const SCOPE = /^([a-z]+)\/([a-z]+)-(.+)\.([a-z]+)$/s;
const LETTERS = ['c', 'r', 'u', 'd', 's'];
const COMPARTMENTS = ['patient', 'user', 'system'];
const KINDS = ['composition', 'template', 'aql'];

interface Read {
  readonly compartment: string;
  readonly kind: string;
  readonly name: string;
  readonly letters: string;
}

/** null: it grants nothing. */
function read(word: string): Read | null {
  const [, compartment = '', kind = '', name = '', letters = ''] = SCOPE.exec(word) ?? [];
  const inOrder = LETTERS.filter((letter) => letters.includes(letter)).join('');
  const isKnown = COMPARTMENTS.includes(compartment) && KINDS.includes(kind);
  return isKnown && isName(name) && letters !== '' && letters === inOrder
    ? { compartment, kind, name, letters }
    : null;
}

function isName(name: string): boolean {
  const runs = new Set(name.match(/\*+/g));
  if (runs.size > 1 || [...runs].some((run) => run.length > 2)) return false;
  try {
    return decodeURIComponent(name) !== '';
  } catch {
    return false;
  }
}

function isNamed(pattern: string, name: string): boolean {
  const parts = pattern.split(/(\*\*?)/).map((part) => {
    if (part === '**') return '[\\s\\S]*';
    return part === '*' ? '[^:]*' : decodeURIComponent(part).replaceAll(/[^A-Za-z0-9]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`).test(name);
}

/** What is asked for, and by whom: `own` is his EHR; `query`: the one that is executed. */
interface Asked {
  readonly own: string | undefined;
  readonly action: Action;
  readonly query: AskedQuery | null;
}

/** Whether scopes let somebody do something to an object. */
export function isGranted(words: readonly string[], asked: Asked, object: AccessObject): boolean {
  const { own, action, query } = asked;
  return words.some((word) => {
    const scope = read(word);
    if (scope === null || scope.kind === 'template') return false;
    const isOwn = own !== undefined && attributeOf(object, 'ehr_id') === own;
    if (scope.compartment === 'patient' && !isOwn) return false;
    if (action === 'query')
      return query !== null && scope.letters.includes('s') && finds(scope, query, object);
    return scope.kind === 'composition' ? gives(scope, action, object) : opens(scope, action, object);
  });
}

function finds({ kind, name }: Read, query: AskedQuery, object: AccessObject): boolean {
  if (kind === 'composition') return object.type === 'Ehr' || isComposition(name, object);
  return query.kind === 'ad hoc' ? /^\*\*?$/.test(name) : isNamed(name, query.name);
}

function gives({ name, letters }: Read, action: Exclude<Action, 'query'>, object: AccessObject): boolean {
  const isStatus = attributeOf(object, 'kind') === 'EHR_STATUS';
  if (action === 'read' && (object.type === 'Ehr' || isStatus)) return true;
  const letter = { create: 'c', read: 'r', update: 'u', delete: 'd', export: '-' }[action];
  return letters.includes(letter) && isComposition(name, object);
}

/** Of who may execute a query the EHR is there. */
function opens({ letters }: Read, action: Action, { type }: AccessObject): boolean {
  return letters.includes('s') && action === 'read' && type === 'Ehr';
}

function isComposition(name: string, object: AccessObject): boolean {
  const template = attributeOf(object, 'template_id');
  return (
    attributeOf(object, 'kind') === 'COMPOSITION' && typeof template === 'string' && isNamed(name, template)
  );
}

/** A scope about one of these names, or some of them; sometimes one that cannot be read, or that is about no record. */
export function randomScope(random: Random, names: readonly string[]): string {
  if (random.chance(0.1)) return random.pick(['openid', 'launch/patient', 'fhirUser', 'offline_access']);
  const name = random.pick(names);
  const cut = random.below(name.length + 1);
  const star = random.pick(['*', '**']);
  const pattern = random.pick([
    encodeURIComponent(name).replaceAll('%3A', ':'),
    star,
    `${encodeURIComponent(name.slice(0, cut))}${star}`,
    `${star}${encodeURIComponent(name.slice(cut))}`,
    `${encodeURIComponent(name.slice(0, cut))}${star}${encodeURIComponent(name.slice(cut + 1))}`,
  ]);
  const letters = LETTERS.filter(() => random.chance(0.5)).join('');
  const permissions = random.chance(0.1) ? random.pick(['rc', 'rr', 'x', '', 'rs*']) : letters;
  const compartment = random.chance(0.05) ? 'Patient' : random.pick(['patient', 'user', 'system']);
  const kind = random.chance(0.05)
    ? 'folder'
    : random.pick(['composition', 'composition', 'aql', 'template']);
  return `${compartment}/${kind}-${pattern}.${permissions}`;
}
