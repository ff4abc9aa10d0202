import { CHANGE_CONTROL_CLASSES, COMMON_CLASSES, EHR_CLASSES } from './common.js';
import { COMPOSITION_CLASSES, DATA_STRUCTURES } from './composition.js';
import { DATA_TYPES, QUANTITIES } from './data-types.js';
import { PRIMITIVE_TYPES, type RmAttribute, type RmClass } from './define.js';
import { IDENTIFIERS } from './identifiers.js';

const TABLE = [
  ...DATA_TYPES,
  ...QUANTITIES,
  ...DATA_STRUCTURES,
  ...COMPOSITION_CLASSES,
  ...COMMON_CLASSES,
  ...CHANGE_CONTROL_CLASSES,
  ...EHR_CLASSES,
  ...IDENTIFIERS,
] as const;

/** The table as a type: `rm.ts` derives the types of RM objects from it. */
export type RmClassTable = typeof TABLE;

/** Every class of the table, RM 1.1.0 (of which 1.0.4 is a part), in no particular order. */
export const RM_CLASSES: readonly RmClass[] = TABLE;

const CLASSES = new Map(RM_CLASSES.map((rmClass) => [rmClass.name, rmClass]));
const PRIMITIVES: ReadonlySet<string> = new Set(PRIMITIVE_TYPES);
const ANCESTORS = new Map(RM_CLASSES.map(({ name }) => [name, new Set(lineage(name))]));
const ATTRIBUTES = new Map(RM_CLASSES.map(({ name }) => [name, inheritedAttributes(name)]));
const CONCRETE = new Map(RM_CLASSES.map(({ name }) => [name, concreteDescendants(name)]));
const NO_ATTRIBUTES: ReadonlyMap<string, RmAttribute> = new Map();

/** The class itself and its ancestors, the root first. */
function lineage(name: string): string[] {
  const parent = CLASSES.get(name)?.parent ?? null;
  return parent === null ? [name] : [...lineage(parent), name];
}

function inheritedAttributes(name: string): ReadonlyMap<string, RmAttribute> {
  const attributes = lineage(name).flatMap((ancestor) => CLASSES.get(ancestor)?.attributes ?? []);
  return new Map(attributes.map((attribute) => [attribute.name, attribute]));
}

function concreteDescendants(name: string): readonly string[] {
  return RM_CLASSES.filter((candidate) => !candidate.abstract && isKindOf(candidate.name, name)).map(
    (candidate) => candidate.name,
  );
}

/** The class of that name; generic parameters (`DV_INTERVAL<DV_COUNT>`) are left aside. */
export function rmClass(name: string): RmClass | undefined {
  return CLASSES.get(name) ?? CLASSES.get(withoutParameters(name));
}

/** `DV_INTERVAL` for `DV_INTERVAL<DV_COUNT>`; names without parameters as they are. */
export function withoutParameters(name: string): string {
  const parameters = name.indexOf('<');
  return parameters < 0 ? name : name.slice(0, parameters);
}

/** All attributes of a class by name, inherited ones first: the element order of canonical XML. Empty if unknown. */
export function attributesOf(name: string): ReadonlyMap<string, RmAttribute> {
  return ATTRIBUTES.get(name) ?? ATTRIBUTES.get(withoutParameters(name)) ?? NO_ATTRIBUTES;
}

/** Whether a class is the other one or inherits from it; false for unknown names. */
export function isKindOf(name: string, ancestor: string): boolean {
  const ancestors = ANCESTORS.get(name) ?? ANCESTORS.get(withoutParameters(name));
  return ancestors !== undefined && (ancestors.has(ancestor) || ancestors.has(withoutParameters(ancestor)));
}

/** The classes with instances that are the class or inherit from it; empty for unknown names. */
export function concreteClasses(name: string): readonly string[] {
  return CONCRETE.get(name) ?? CONCRETE.get(withoutParameters(name)) ?? [];
}

/** Whether an attribute type is primitive, not a class (`PRIMITIVE_TYPES`). */
export function isPrimitive(type: string): boolean {
  return PRIMITIVES.has(type);
}

/** Whether instances of the class can have archetype_node_id and name. RM: LOCATABLE. */
export function isLocatable(name: string): boolean {
  return isKindOf(name, 'LOCATABLE');
}
