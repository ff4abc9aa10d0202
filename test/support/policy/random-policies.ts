import type { AccessObject, AttributeValue } from '../../../policy/object.js';
import type { Request } from '../../../policy/known.js';
import {
  ACTIONS,
  OBJECT_ATTRIBUTES,
  USER_ATTRIBUTES,
  type Attributes,
  type ObjectType,
} from '../../../policy/schema.js';
import { categoryMap, type CategoryMap } from '../../../policy/categories.js';
import { MARK_KINDS } from '../../../policy/marks.js';
import { RESEARCH_PURPOSES } from '../../../policy/purposes.js';
import type { Subject } from '../../../policy/subject.js';
import type { Random } from '../random.js';

/** Few words, so that what policies ask for is often there. */
const WORDS = ['a', 'b', 'ab', 'a*b', 'Größe', '', 'x"y', 'event'];
const DAYS = ['2024-02-29', '2025-06-01', '2026-01-01'];
const TIMES = [...DAYS, '2025-06-01T10:30:00Z', '2025-06-01T10:30:00.250+0230', '2025-05-31T23:00:00-0100'];
const KEYS = ['access.ward', 'access.org', 'a'];

const quoted = (text: string): string => `"${text.replaceAll(/[\\"]/g, '\\$&')}"`;

/** One who asks, and for what. */
export function randomRequest(random: Random): Request {
  const values = Object.entries(USER_ATTRIBUTES as Attributes).flatMap(([name, { kind, isOptional }]) =>
    isOptional === true && random.chance(0.5)
      ? []
      : [[name, kind === 'Set<String>' ? random.list(0, 3, () => random.pick(WORDS)) : random.pick(WORDS)]],
  );
  const subject = Object.fromEntries(values) as unknown as Subject;
  const purpose = random.pick([...WORDS, ...RESEARCH_PURPOSES]);
  return {
    subject: subject.purpose === undefined ? subject : { ...subject, purpose },
    action: random.pick(ACTIONS),
    isEmergency: random.chance(0.3),
  };
}

/** Something stored, with any values that its type can have. */
export function randomObject(random: Random): AccessObject {
  const type: ObjectType = random.pick(['Ehr', 'Version', 'Version']);
  const attributes: Record<string, AttributeValue> = {};
  for (const [name, row] of Object.entries(OBJECT_ATTRIBUTES[type] as Attributes)) {
    const { kind, isOptional, isDerived } = row;
    if (isDerived === true) continue;
    if (isOptional === true && random.chance(0.4)) continue;
    if (kind === 'datetime') attributes[name] = Date.parse(random.pick(DAYS)) + random.below(3) * 37_800_000;
    else if (kind === 'String') attributes[name] = random.pick(WORDS);
    else attributes[name] = random.list(0, 3, () => random.pick(name === 'marks' ? MARK_KINDS : WORDS));
  }
  const uid = random.pick(WORDS);
  if (type === 'Ehr') attributes['ehr_id'] = uid;
  const tagged = KEYS.filter(() => random.chance(0.5));
  const tags = Object.fromEntries(tagged.map((key) => [key, random.list(0, 2, () => random.pick(WORDS))]));
  return { type, uid, attributes, tags };
}

/** Names of categories that policies ask for: of the map, which is always there, and openEHR's own. */
const CATEGORY_NAMES = ['psychiatry', 'genetics', 'a'];

/** A map of categories: what is of one is of several too, or nothing is. */
export function randomCategories(random: Random): CategoryMap {
  const members = (): string[] => [...new Set(random.list(0, 2, () => random.pick(WORDS)))];
  return categoryMap(CATEGORY_NAMES.map((name) => ({ name, templates: members(), archetypes: members() })));
}

/** Text of a policy; some do not fit the schema, or have no translation. */
export function randomPolicy(random: Random): string {
  const clauses = random.list(0, 2, () => `${random.pick(['when', 'unless'])} { ${condition(random, 3)} }`);
  const effect = random.pick(['permit', 'permit', 'forbid']);
  const annotation = random.pick(['', '', `@emergency("${effect === 'permit' ? 'only' : 'may pass'}") `]);
  return `${annotation}${effect}(${head(random, 'principal')}, ${actionHead(random)}, ${head(random, 'resource')}) ${clauses.join(' ')};`;
}

function head(random: Random, name: 'principal' | 'resource'): string {
  const types = name === 'principal' ? ['User'] : ['Ehr', 'Version'];
  const uid = (type: string): string => `${type}::${quoted(random.pick(WORDS))}`;
  if (name === 'principal')
    return random.pick([
      name,
      name,
      name,
      `${name} is User`,
      `${name} == ${uid('User')}`,
      `${name} in ${uid('User')}`,
    ]);
  return random.pick([
    ...[name, name, `${name} is Version`, `${name} is Ehr`, `${name} in ${uid('Ehr')}`],
    `${name} is Version in ${uid('Ehr')}`,
    `${name} == ${uid(random.pick(types))}`,
  ]);
}

function actionHead(random: Random): string {
  const one = (): string => `Action::"${random.pick(ACTIONS)}"`;
  return random.pick(['action', 'action', `action == ${one()}`, `action in [${one()}, ${one()}, ${one()}]`]);
}

function condition(random: Random, depth: number): string {
  if (depth === 0 || random.chance(0.3)) return atom(random);
  const below = (): string => condition(random, depth - 1);
  return random.pick([
    () => `(${below()} && ${below()})`,
    () => `(${below()} || ${below()})`,
    () => `!(${below()})`,
    () => `(if ${below()} then ${below()} else ${below()})`,
  ])();
}

const VERSION_TEXTS = ['kind', 'origin', 'lifecycle_state'];
const VERSION_OPTIONAL = ['template_id', 'category', 'composer', 'committer'];
const USER_OPTIONAL = ['iss', 'client', 'organisation', 'purpose', 'ehr'];

function atom(random: Random): string {
  return random.pick(ATOMS)(random);
}

const ATOMS: readonly ((random: Random) => string)[] = [
  (random) => `resource is ${random.pick(['Ehr', 'Version'])}`,
  (random) => `resource.ehr_id ${random.pick(['==', '!='])} ${text(random)}`,
  (random) => `(resource is Version && ${ofVersion(random)})`,
  (random) => `(resource is Version && ${ofVersion(random)})`,
  (random) => `(resource is Version && ${ofVersion(random)})`,
  (random) => `(resource is Ehr && resource has namespace && ${compared(random, 'resource.namespace')})`,
  (random) => {
    const tag = key(random);
    return `(resource.hasTag(${tag}) && ${setAtom(random, `resource.getTag(${tag})`)})`;
  },
  (random) => `resource.hasTag(${key(random)})`,
  (random) => marksAtom(random),
  (random) => `resource in Ehr::${quoted(random.pick(WORDS))}`,
  (random) => `resource in [Ehr::"b", Ehr::${quoted(random.pick(WORDS))}]`,
  (random) => `resource == ${random.pick(['Ehr', 'Version'])}::${quoted(random.pick(WORDS))}`,
  (random) => `action == Action::"${random.pick(ACTIONS)}"`,
  (random) => `principal.roles.contains(${text(random)})`,
  (random) =>
    `principal.scopes.${random.pick(['containsAll', 'containsAny'])}([${text(random)}, ${text(random)}])`,
  () => `principal.roles.isEmpty()`,
  (random) => `(principal has ${random.pick(USER_OPTIONAL)} && ${random.chance(0.5)})`,
  (random) => {
    const name = random.pick(USER_OPTIONAL);
    return `(principal has ${name} && ${compared(random, `principal.${name}`)})`;
  },
  (random) => {
    const name = random.pick(USER_OPTIONAL);
    return `(principal has ${name} && ${random.pick(['resource.ehr_id', '"a"'])} == principal.${name})`;
  },
  (random) => `principal == User::${quoted(random.pick(WORDS))}`,
  () => `1 < 2`,
  () => `datetime("2025-01-01") >= datetime("2025-06-01T10:30:00Z")`,
];

function text(random: Random): string {
  return random.chance(0.2) ? 'principal.sub' : quoted(random.pick(WORDS));
}

function key(random: Random): string {
  return random.chance(0.1) ? 'principal.sub' : quoted(random.pick(KEYS));
}

function pattern(random: Random): string {
  return random.list(0, 3, () => random.pick(['*', 'a', 'b', '\\*', 'ö'])).join('');
}

/** A text, compared in one of the ways. */
function compared(random: Random, operand: string): string {
  return random.pick([
    `${operand} == ${text(random)}`,
    `${text(random)} != ${operand}`,
    `${operand} like "${pattern(random)}"`,
    `[${text(random)}, ${text(random)}].contains(${operand})`,
    `principal.roles.contains(${operand})`,
  ]);
}

function ofVersion(random: Random): string {
  const optional = random.pick(VERSION_OPTIONAL);
  const time = random.pick(['time_committed', 'start_time']);
  const compare = random.pick(['<', '<=', '>', '>=', '==']);
  const sides = [`resource.${time}`, `datetime("${random.pick(TIMES)}")`];
  const [left, right] = random.chance(0.5) ? sides : sides.reverse();
  return random.pick([
    compared(random, `resource.${random.pick(VERSION_TEXTS)}`),
    `resource has ${optional} && ${compared(random, `resource.${optional}`)}`,
    `!(resource has ${optional} && ${compared(random, `resource.${optional}`)})`,
    `${time === 'start_time' ? 'resource has start_time && ' : ''}${left} ${compare} ${right}`,
    categoriesAtom(random),
    `resource has categories && ${categoriesAtom(random)}`,
    setAtom(random, 'resource.archetypes'),
    `${random.pick(['principal.roles', '["a", "event"]'])}.containsAny(resource.archetypes)`,
  ]);
}

function categoriesAtom(random: Random): string {
  const name = (): string => quoted(random.pick([...CATEGORY_NAMES, 'event']));
  return random.pick([
    `resource.categories.contains(${name()})`,
    `!resource.categories.contains(${name()})`,
    `resource.categories.containsAny([${name()}, ${name()}])`,
    `[${name()}, ${name()}].containsAny(resource.categories)`,
    `resource.categories.containsAll([${name()}, ${name()}])`,
    `resource.categories.isEmpty()`,
  ]);
}

function marksAtom(random: Random): string {
  const kind = (): string => quoted(random.pick(MARK_KINDS));
  return random.pick([
    `resource.marks.contains(${kind()})`,
    `resource.marks.containsAny([${kind()}, ${kind()}])`,
    `resource.marks.containsAll([${kind()}, ${kind()}])`,
    `resource.marks.isEmpty()`,
  ]);
}

function setAtom(random: Random, set: string): string {
  return random.pick([
    `${set}.contains(${text(random)})`,
    `${set}.containsAny([${text(random)}, ${text(random)}])`,
    `${set}.containsAll([${text(random)}, ${text(random)}])`,
    `${set}.containsAll(principal.roles)`,
    `${set}.isEmpty()`,
  ]);
}
