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

/** What this server answers beside what the class says. */
const ALSO: Readonly<Record<string, RmClassName>> = {
  // With `Prefer: resolve_refs`, or `EHR_STATUS_AS_REF=false`.
  'EHR.ehr_status': 'EHR_STATUS',
  'CONTRIBUTION.versions': 'ORIGINAL_VERSION',
};

/** A schema of canonical JSON for each class of the reference model, by its name. */
export const RM_SCHEMAS: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  RM_CLASSES.filter(({ name }) => concreteClasses(name).length > 0).map((rmClass) => [
    rmClass.name,
    rmClass.abstract ? unionSchema(rmClass.name) : objectSchema(rmClass),
  ]),
);

/** Whether a name is that of a class with a schema. */
export function isRmSchema(name: string): name is RmClassName {
  return Object.hasOwn(RM_SCHEMAS, name);
}

/** Objects of a class or of any that inherits from it. */
export function rmReference(name: RmClassName): JsonObject {
  const classes = concreteClasses(name);
  const isAbstract = RM_CLASSES.some((rmClass) => rmClass.name === name && rmClass.abstract);
  return isAbstract || classes.length === 1 ? reference(name) : union(classes);
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Told apart by `_type`. */
function union(classes: readonly string[]): JsonObject {
  const mapping = Object.fromEntries(classes.map((name) => [name, `#/components/schemas/${name}`]));
  return { oneOf: classes.map(reference), discriminator: { propertyName: '_type', mapping } };
}

function unionSchema(name: string): JsonObject {
  return { description: CLASS_DESCRIPTIONS[name] ?? name, ...union(concreteClasses(name)) };
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
  const one = also === undefined ? own : { anyOf: [own, reference(also)] };
  const description = ATTRIBUTE_DESCRIPTIONS[`${owner}.${name}`] ?? ATTRIBUTE_DESCRIPTIONS[name];
  return {
    ...(multiple ? { type: 'array', items: one, ...(nonEmpty && { minItems: 1 }) } : one),
    ...(description !== undefined && { description }),
  };
}
