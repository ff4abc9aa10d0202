import { memoized } from '../../openehr/base/maps.js';
import { attributesOf, concreteClasses, isLocatable, isPrimitive } from '../../openehr/rm/model/classes.js';
import { domainOf } from '../../openehr/rm/ordered-value.js';
import type { PathStep } from '../syntax/ast.js';
import { ROOT_TYPES } from '../../openehr/rm/root-type.js';
import type { Domain, PathType } from './scope-types.js';
import { counted } from '../../openehr/base/work.js';

/** What can stand at one step. */
export interface StepType {
  /** Concrete classes and primitive types; empty: the attribute does not exist. */
  readonly classes: ReadonlySet<string>;
  readonly multiple: boolean;
}

/** Domains that do not follow from the class table: of primitive types, and of objects that are one text. */
const DOMAINS: ReadonlyMap<string, Domain> = new Map<string, Domain>([
  ['DV_URI', 'text'],
  ['DV_EHR_URI', 'text'],
  ['DV_PARSABLE', 'text'],
  ['String', 'text'],
  ['Character', 'text'],
  ['Uri', 'text'],
  ['Base64', 'text'],
  ['Boolean', 'boolean'],
  ['Integer', 'number'],
  ['Integer64', 'number'],
  ['Real', 'number'],
  ['Iso8601_date', 'date'],
  ['Iso8601_time', 'time'],
  ['Iso8601_date_time', 'instant'],
  ['Iso8601_duration', 'duration'],
]);

/** Domain of the values of a class or primitive type, null when they never compare (docs/spec/aql.md#domains). */
export function domainOfType(name: string): Domain | null {
  return DOMAINS.get(name) ?? domainOf(name);
}

/**
 * EHR attributes jump into the object that they refer to (docs/spec/aql.md#from-classes); VERSION.data is a
 * versioned root.
 */
const JUMPS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['EHR.ehr_status', ['EHR_STATUS']],
  ['EHR.directory', ['FOLDER']],
  ['ORIGINAL_VERSION.data', ROOT_TYPES],
  ['IMPORTED_VERSION.data', ROOT_TYPES],
]);

const EMPTY: StepType = { classes: new Set(), multiple: false };
const TYPE_NAME: StepType = { classes: new Set(['String']), multiple: false };

const BY_CONTENT = new Map<string, ReadonlySet<string>>();
const STEPS = new WeakMap<ReadonlySet<string>, Map<string, StepType>>();

/** The classes of an alias as a set: the same object for the same list, as types are memoized by it. */
export const classSet = memoized((classes: readonly string[]) => oneObject(new Set(classes)));

/** Sets of the same classes as one object: the class table makes but few different ones. */
function oneObject(classes: ReadonlySet<string>): ReadonlySet<string> {
  const content = [...classes].join();
  const known = BY_CONTENT.get(content);
  if (known !== undefined) return known;
  BY_CONTENT.set(content, classes);
  return classes;
}

/** The classes that can stand at `attribute` of instances of `classes`. */
export function stepType(classes: ReadonlySet<string>, attribute: string): StepType {
  let steps = STEPS.get(classes);
  const known = steps?.get(attribute);
  if (known !== undefined) return known;
  const made = newStepType(classes, attribute);
  // Names that no class knows are without number: they are not memoized.
  if (made === EMPTY) return EMPTY;
  if (steps === undefined) STEPS.set(classes, (steps = new Map<string, StepType>()));
  steps.set(attribute, made);
  return made;
}

function newStepType(classes: ReadonlySet<string>, attribute: string): StepType {
  if (attribute === '_type')
    return counted([...classes]).some((name) => !isPrimitive(name)) ? TYPE_NAME : EMPTY;
  const found = new Set<string>();
  let isMultiple = false;
  for (const name of counted(classes)) {
    const definition = attributesOf(name).get(attribute) ?? functionOf(name, attribute);
    if (definition === undefined) continue;
    const { type, multiple } = definition;
    isMultiple ||= multiple;
    const own = isPrimitive(type) ? [type] : (JUMPS.get(`${name}.${attribute}`) ?? concreteClasses(type));
    for (const each of counted(own)) found.add(each);
  }
  return found.size === 0 ? EMPTY : { classes: oneObject(found), multiple: isMultiple };
}

/** What an IMPORTED_VERSION has by its `item`: functions of VERSION in the reference model. */
function functionOf(name: string, attribute: string): ReturnType<ReturnType<typeof attributesOf>['get']> {
  return name === 'IMPORTED_VERSION' ? attributesOf('ORIGINAL_VERSION').get(attribute) : undefined;
}

/** The classes along a path; `at(i)` after i steps. An impossible step ends the list with an empty set. */
export function typesAlong(
  classes: ReadonlySet<string>,
  steps: readonly Pick<PathStep, 'attribute'>[],
): readonly StepType[] {
  const along: StepType[] = [{ classes, multiple: false }];
  let current = classes;
  for (const { attribute } of counted(steps)) {
    const next = stepType(current, attribute);
    along.push(next);
    if (next.classes.size === 0) break;
    current = next.classes;
  }
  return along;
}

/** Whether a LOCATABLE can stand where these classes can. */
export const hasLocatable = memoized((classes: ReadonlySet<string>) =>
  counted([...classes]).some(isLocatable),
);

/** Domains that values of these classes can have. */
export const domainsOf = memoized((classes: ReadonlySet<string>): ReadonlySet<Domain> => {
  const domains = new Set<Domain>();
  for (const name of counted(classes)) {
    const domain = domainOfType(name);
    if (domain !== null) domains.add(domain);
  }
  return domains;
});

/** The type of the end of a path that starts at an alias of these classes; null when a step is impossible. */
export function pathType(classes: ReadonlySet<string>, steps: readonly PathStep[]): PathType | null {
  const along = typesAlong(classes, steps);
  const last = along[along.length - 1];
  if (last === undefined || last.classes.size === 0) return null;
  return {
    classes: last.classes,
    domains: domainsOf(last.classes),
    identifier: typeIdentifier(classes, steps),
  };
}

function typeIdentifier(classes: ReadonlySet<string>, steps: readonly PathStep[]): PathType['identifier'] {
  if (steps.length < 2 || steps[steps.length - 1]?.attribute !== 'value') return null;
  const parent = steps[steps.length - 2]?.attribute;
  const along = typesAlong(classes, steps.slice(0, -2));
  const owner = along[along.length - 1]?.classes ?? new Set();
  if (parent === 'ehr_id' && owner.has('EHR')) return 'ehr';
  if (parent !== 'uid') return null;
  if (isOnly(owner, ['COMPOSITION', 'EHR_STATUS', 'ORIGINAL_VERSION', 'IMPORTED_VERSION'])) return 'version';
  return isOnly(owner, ['FOLDER']) ? 'folder' : null;
}

function isOnly(classes: ReadonlySet<string>, names: readonly string[]): boolean {
  return classes.size > 0 && counted([...classes]).every((name) => names.includes(name));
}
