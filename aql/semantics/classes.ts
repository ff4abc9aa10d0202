import { attributesOf, concreteClasses, isKindOf, isPrimitive } from '../../openehr/rm/model/classes.js';
import { ROOT_TYPES, type RootType } from '../../openehr/rm/root-type.js';
import { counted } from '../../openehr/base/work.js';

/** Structure classes outside LOCATABLE that FROM may name (docs/spec/aql.md#from-classes). */
const OTHER_STRUCTURES = [
  'EVENT_CONTEXT',
  'FEEDER_AUDIT',
  'FEEDER_AUDIT_DETAILS',
  'INSTRUCTION_DETAILS',
  'ISM_TRANSITION',
  'PARTICIPATION',
  'LINK',
];

/** Abstract classes that FROM may name. */
const ABSTRACT = [
  ...['PATHABLE', 'LOCATABLE', 'CONTENT_ITEM', 'ENTRY', 'CARE_ENTRY', 'EVENT'],
  ...['DATA_STRUCTURE', 'ITEM_STRUCTURE', 'ITEM'],
];

/** Concrete classes of objects that FROM may name. */
export const OBJECT_CLASSES: readonly string[] = [
  ...counted(concreteClasses('LOCATABLE')).filter((name) => name !== 'EHR_ACCESS'),
  ...OTHER_STRUCTURES,
];

const VERSION_CLASSES: ReadonlyMap<string, readonly string[]> = new Map([
  ['VERSION', ['ORIGINAL_VERSION', 'IMPORTED_VERSION']],
  ['ORIGINAL_VERSION', ['ORIGINAL_VERSION']],
  ['IMPORTED_VERSION', ['IMPORTED_VERSION']],
]);

/** What a class name of FROM stands for; `classes` are the concrete ones that match. */
export interface FromClassMeaning {
  readonly kind: 'ehr' | 'version' | 'object';
  readonly classes: readonly string[];
}

const MEANINGS: ReadonlyMap<string, FromClassMeaning> = new Map<string, FromClassMeaning>([
  ['EHR', { kind: 'ehr', classes: ['EHR'] }],
  ...[...VERSION_CLASSES].map(([name, classes]): [string, FromClassMeaning] => [
    name,
    { kind: 'version', classes },
  ]),
  ...[...ABSTRACT, ...OBJECT_CLASSES].map((name): [string, FromClassMeaning] => [
    name,
    { kind: 'object', classes: OBJECT_CLASSES.filter((each) => isKindOf(each, name)) },
  ]),
]);

/** Every class name that FROM may use. */
export const FROM_CLASS_NAMES: readonly string[] = [...MEANINGS.keys()];

/** The meaning of an upper-cased class name in FROM, undefined when FROM cannot name it. AQL 1.1: classExprOperand. */
export function fromClass(name: string): FromClassMeaning | undefined {
  return MEANINGS.get(name);
}

const REACHABLE = new Map<string, ReadonlySet<string>>();

/** Classes of objects that can stand anywhere below an instance of a class. */
export function classesBelow(name: string): ReadonlySet<string> {
  const known = REACHABLE.get(name);
  if (known !== undefined) return known;
  const found = new Set<string>();
  const open = [name];
  for (let each = open.pop(); each !== undefined; each = open.pop())
    for (const { type } of counted(attributesOf(each)).values()) {
      if (isPrimitive(type)) continue;
      for (const next of counted(concreteClasses(type)).filter((candidate) => !found.has(candidate))) {
        found.add(next);
        open.push(next);
      }
    }
  REACHABLE.set(name, found);
  return found;
}

/** The kinds of versioned object that can be, or hold, an instance of one of the classes. */
export function rootTypesOf(classes: readonly string[]): readonly RootType[] {
  return ROOT_TYPES.filter((root) => {
    const below = classesBelow(root);
    return counted(classes).some((each) => each === root || below.has(each));
  });
}
