import { attributeOf, type AccessObject } from '../../../policy/object.js';
import type { AskedQuery } from '../../../policy/smart-grants.js';
import type { Action } from '../../../policy/subject.js';
import type { Random } from '../random.js';

/** A plain reading of the grammar of scopes, and of what they grant, to compare ours with: docs/smart.md. */

const SCOPE = /^([a-z]+)\/([a-z]+)-(.+)\.([a-z]+)$/s;
const LETTERS = 'cruds';

interface Read {
  readonly compartment: string;
  readonly kind: string;
  readonly name: string;
  readonly letters: string;
}

/** null: it grants nothing. */
function read(word: string): Read | null {
  const [, compartment = '', kind = '', name = '', letters = ''] = SCOPE.exec(word) ?? [];
  const inOrder = [...LETTERS].filter((letter) => letters.includes(letter)).join('');
  const runs = new Set(name.match(/\*+/g));
  const isKnown =
    ['patient', 'user', 'system'].includes(compartment) && ['composition', 'template', 'aql'].includes(kind);
  const isName = runs.size <= 1 && [...runs].every((run) => run.length < 3) && isEncoded(name);
  return isKnown && isName && letters !== '' && letters === inOrder
    ? { compartment, kind, name, letters }
    : null;
}

function isEncoded(name: string): boolean {
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

/** Whether scopes let somebody, whose EHR is `own`, do something to an object; `query`: the one that is executed. */
export function isGranted(
  words: readonly string[],
  {
    own,
    action,
    query,
  }: { readonly own: string | undefined; readonly action: Action; readonly query: AskedQuery | null },
  object: AccessObject,
): boolean {
  const [kind, template] = [attributeOf(object, 'kind'), attributeOf(object, 'template_id')];
  return words.some((word) => {
    const scope = read(word);
    if (scope === null || scope.kind === 'template') return false;
    if (scope.compartment === 'patient' && (own === undefined || attributeOf(object, 'ehr_id') !== own))
      return false;
    const { letters, name } = scope;
    const isFitting = kind === 'COMPOSITION' && typeof template === 'string' && isNamed(name, template);
    const isComposition = scope.kind === 'composition';
    if (!isComposition && !letters.includes('s')) return false;
    if (action === 'query') {
      if (query === null || !letters.includes('s')) return false;
      if (isComposition) return object.type === 'Ehr' || isFitting;
      return query.kind === 'ad hoc' ? /^\*\*?$/.test(name) : isNamed(name, query.name);
    }
    if (action === 'read' && object.type === 'Ehr') return true;
    if (action === 'read' && kind === 'EHR_STATUS' && isComposition) return true;
    const letter = { create: 'c', read: 'r', update: 'u', delete: 'd', export: '-' }[action];
    return isComposition && object.type === 'Version' && letters.includes(letter) && isFitting;
  });
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
  const letters = [...LETTERS].filter(() => random.chance(0.5)).join('');
  const permissions = random.chance(0.1) ? random.pick(['rc', 'rr', 'x', '', 'rs*']) : letters;
  const compartment = random.chance(0.05) ? 'Patient' : random.pick(['patient', 'user', 'system']);
  const kind = random.chance(0.05)
    ? 'folder'
    : random.pick(['composition', 'composition', 'aql', 'template']);
  return `${compartment}/${kind}-${pattern}.${permissions}`;
}
