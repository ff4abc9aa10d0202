import type { JsonObject } from '../../../openehr/base/json.js';
import { attributesOf, concreteClasses, isPrimitive, RM_CLASSES } from '../../../openehr/rm/model/classes.js';
import type { RmAttribute, RmClass } from '../../../openehr/rm/model/define.js';
import { ATTRIBUTE_DESCRIPTIONS, CLASS_DESCRIPTIONS } from '../../../openehr/rm/model/descriptions.js';
import type { RmClassName } from '../../../openehr/rm/model/rm.js';

const NUMBERS: Readonly<Record<string, JsonObject>> = {
  Boolean: { type: 'boolean' },
  Integer: { type: 'integer', format: 'int32' },
  Integer64: { type: 'integer', format: 'int64' },
  Real: { type: 'number', format: 'double' },
};

/** What this server answers instead of what the class says, by the name of a schema of its own. */
const ALSO: Readonly<Record<string, { readonly union: string; readonly classes: readonly RmClassName[] }>> = {
  // With `Prefer: resolve_refs`, or `EHR_STATUS_AS_REF=false`.
  'EHR.ehr_status': { union: 'EhrStatusOrReference', classes: ['OBJECT_REF', 'EHR_STATUS'] },
  'CONTRIBUTION.versions': {
    union: 'VersionOrReference',
    classes: ['OBJECT_REF', 'ORIGINAL_VERSION', 'IMPORTED_VERSION'],
  },
};

/** A schema of canonical JSON for each class of the reference model, by its name. */
export const RM_SCHEMAS: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  RM_CLASSES.filter(({ name }) => concreteClasses(name).length > 0).flatMap(
    (rmClass): [string, JsonObject][] => [
      [rmClass.name, rmClass.abstract ? unionSchema(rmClass.name) : objectSchema(rmClass)],
      ...(hasHeirs(rmClass)
        ? [[anyName(rmClass.name), unionSchema(rmClass.name)] as [string, JsonObject]]
        : []),
      ...Object.entries(ALSO).flatMap(([member, { union, classes }]) =>
        member.startsWith(`${rmClass.name}.`) ? [[union, unionOf(classes)] as [string, JsonObject]] : [],
      ),
    ],
  ),
);

/** Whether a name is that of a class with a schema. */
export function isRmSchema(name: string): name is RmClassName {
  return Object.hasOwn(RM_SCHEMAS, name);
}

/** Objects of a class or of any that inherits from it. */
export function rmReference(name: RmClassName): JsonObject {
  const own = RM_CLASSES.find((rmClass) => rmClass.name === name);
  return reference(own !== undefined && hasHeirs(own) ? anyName(name) : name);
}

/** Whether a class has objects of its own and of others that inherit from it: an abstract one is the union of those. */
function hasHeirs({ name, abstract }: RmClass): boolean {
  return !abstract && concreteClasses(name).length > 1;
}

/** `AnyDvText`: a DV_TEXT or what inherits from it. Unions have names, since generators make poor ones. */
function anyName(name: string): string {
  const words = name.split('_').map((word) => word.charAt(0) + word.slice(1).toLowerCase());
  return `Any${words.join('')}`;
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Which of some classes an object has: `_type` tells. */
export function discriminatorOf(classes: readonly string[]): JsonObject {
  const mapping = Object.fromEntries(classes.map((name) => [name, `#/components/schemas/${name}`]));
  return { propertyName: '_type', mapping };
}

function unionOf(classes: readonly string[]): JsonObject {
  return { oneOf: classes.map(reference), discriminator: discriminatorOf(classes) };
}

function unionSchema(name: string): JsonObject {
  return { description: CLASS_DESCRIPTIONS[name] ?? name, ...unionOf(concreteClasses(name)) };
}

function objectSchema({ name }: RmClass): JsonObject {
  const attributes = [...attributesOf(name).values()].filter(({ type }) => isOffered(type));
  const members = attributes.map((attribute): [string, JsonObject] => [
    attribute.name,
    memberSchema(name, attribute),
  ]);
  return {
    type: 'object',
    description: CLASS_DESCRIPTIONS[name] ?? name,
    properties: { _type: { type: 'string', const: name }, ...Object.fromEntries(members) },
    required: ['_type', ...attributes.flatMap((attribute) => (attribute.required ? [attribute.name] : []))],
  };
}

function isOffered(type: string): boolean {
  return isPrimitive(type) || concreteClasses(type).length > 0;
}

function memberSchema(owner: string, { name, type, multiple, nonEmpty }: RmAttribute): JsonObject {
  const also = ALSO[`${owner}.${name}`];
  const own = isPrimitive(type) ? (NUMBERS[type] ?? { type: 'string' }) : rmReference(type as RmClassName);
  const one = also === undefined ? own : reference(also.union);
  const description = ATTRIBUTE_DESCRIPTIONS[`${owner}.${name}`] ?? ATTRIBUTE_DESCRIPTIONS[name];
  return {
    ...(multiple ? { type: 'array', items: one, ...(nonEmpty && { minItems: 1 }) } : one),
    ...(description !== undefined && { description }),
  };
}
