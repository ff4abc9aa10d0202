import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.js';
import type { Finding, Violation } from '../base/violation.js';
import { leaveOut, type AcceptedFinding } from './lenient.js';
import { Violations } from './violations.js';
import {
  attributesOf,
  concreteClasses,
  isPrimitive,
  RM_CLASSES,
  withoutParameters,
} from './model/classes.js';
import type { PrimitiveType, RmAttribute } from './model/define.js';
import { isDerivedMember } from './model/derived.js';
import type { PartialRm, RmClassName } from './model/rm.js';
import { describe, primitiveReader, readToken } from './read-primitive.js';

/** An RM object as it was read. */
export interface RmReading<T = JsonObject> {
  /** Canonical JSON with `_type` first on every object; null when there are violations. */
  readonly object: T | null;
  readonly violations: readonly Violation[];
}

/** How values of a declared type are read. */
interface TypeReader {
  readonly type: string;
  /** The class taken when `_type` is missing; null for abstract types. */
  readonly implied: ClassReader | null;
  /** By the `_type` that may be given here. */
  readonly allowed: ReadonlyMap<string, ClassReader>;
}

interface ClassReader {
  readonly name: string;
  readonly attributes: Map<string, AttributeReader>;
}

interface AttributeReader {
  readonly multiple: boolean;
  readonly primitive: ReturnType<typeof primitiveReader> | null;
  readonly type: TypeReader | null;
}

/** Bounds recursion; documents nested this deep are refused before they get here. */
const MAX_DEPTH = 400;

const CLASS_READERS = new Map<string, ClassReader>(
  RM_CLASSES.map(({ name }) => [name, { name, attributes: new Map<string, AttributeReader>() }]),
);
const TYPE_READERS = new Map<string, TypeReader>(RM_CLASSES.map(({ name }) => [name, typeReader(name)]));
for (const { name, attributes } of CLASS_READERS.values())
  for (const attribute of attributesOf(name).values())
    attributes.set(attribute.name, attributeReader(attribute));

// An xs:token, at whatever place a document names a template.
CLASS_READERS.get('TEMPLATE_ID')?.attributes.set('value', {
  multiple: false,
  primitive: readToken,
  type: null,
});

function typeReader(type: string): TypeReader {
  const allowed = new Map<string, ClassReader>();
  for (const name of concreteClasses(type)) {
    const reader = CLASS_READERS.get(name);
    if (reader !== undefined) allowed.set(name, reader);
  }
  return { type, implied: allowed.get(type) ?? null, allowed };
}

function attributeReader(attribute: RmAttribute): AttributeReader {
  const { multiple, type } = attribute;
  if (isPrimitive(type)) return { multiple, primitive: primitiveReader(type as PrimitiveType), type: null };
  return { multiple, primitive: null, type: TYPE_READERS.get(type) ?? null };
}

/**
 * Reads a JSON value as an object of an RM class: types, attributes, primitive values and their formats
 * (docs/spec/formats.md#canonical-json; first stage of validation, answered 400). Nulls and empty lists are
 * dropped, `_type` is added where it may be left out, numbers given as text become numbers; all else stays as given.
 *
 * @param value parsed JSON, nested at most 150 levels
 * @param declaredType RM class, abstract or not, that the object must be
 * @param rootPath put before the paths of violations, such as `/versions[0]/data`
 * @param leftOut lenient validation: unknown attributes are left out and noted here, instead of being violations
 * @throws too-large when too much is left out
 */
export function readRm<N extends RmClassName>(
  value: JsonValue,
  declaredType: N,
  rootPath?: string,
  leftOut?: AcceptedFinding[],
): RmReading<PartialRm<N>>;
export function readRm(value: JsonValue, declaredType: string, rootPath?: string): RmReading;
// `unknown`, since comparing a generic union of all classes costs the compiler seconds.
export function readRm(
  value: JsonValue,
  declaredType: string,
  rootPath = '',
  leftOut?: AcceptedFinding[],
): unknown {
  return readAs(value, declaredType, new Violations(value, rootPath, leftOut));
}

function readAs(value: JsonValue, declaredType: string, found: Violations): RmReading {
  const expected = TYPE_READERS.get(withoutParameters(declaredType));
  if (expected === undefined) throw new TypeError(`${declaredType} is no class of the reference model`);
  const object = readTypedObject(value, expected, found);
  const violations = found.list;
  return { object: violations.length === 0 ? object : null, violations };
}

function readTypedObject(value: JsonValue, expected: TypeReader, violations: Violations): JsonObject | null {
  if (!isJsonObject(value)) return refuse(violations, unexpectedType(expected, describe(value)));
  if (violations.path.depth > MAX_DEPTH)
    return refuse(violations, {
      code: 'too-deep',
      message: `Object is nested deeper than ${MAX_DEPTH} levels`,
    });
  const reader = classOf(value, expected, violations);
  if (reader === null) return null;
  const object: JsonObject = { _type: reader.name };
  for (const name in value) {
    const member = value[name];
    if (name === '_type' || member === undefined) continue;
    const attribute = reader.attributes.get(name);
    if (attribute === undefined) {
      refuseUnknown(reader.name, [name, member], violations);
      continue;
    }
    if (member === null) continue;
    const read = attribute.multiple
      ? readList(name, member, attribute, violations)
      : readMember(name, member, attribute, violations);
    if (read !== null) object[name] = read;
  }
  return object;
}

function refuseUnknown(
  className: string,
  [name, value]: readonly [string, JsonValue],
  violations: Violations,
): void {
  if (isDerivedMember(className, name)) return;
  const message = `Attribute ${name} of class ${className} is not known`;
  const { leftOut, path } = violations;
  if (leftOut === undefined) violations.add({ code: 'unknown-attribute', message, found: name }, name);
  else leaveOut(leftOut, { path: path.text(), message }, [name, value]);
}

function classOf(value: JsonObject, expected: TypeReader, violations: Violations): ClassReader | null {
  const type = value._type ?? null;
  if (type === null) {
    if (expected.implied !== null) return expected.implied;
    const choices = [...expected.allowed.keys()];
    return refuse(violations, {
      code: 'wrong-type',
      message: `Object should be type ${expected.type}, but has no _type (expected one of ${choices.join(', ')})`,
      expected: choices,
    });
  }
  if (typeof type === 'string') {
    const reader = expected.allowed.get(type) ?? expected.allowed.get(withoutParameters(type));
    if (reader !== undefined) return reader;
  }
  const found =
    typeof type === 'string' && CLASS_READERS.has(type) ? type : `${describe(type)} (unknown type)`;
  return refuse(violations, unexpectedType(expected, found));
}

function unexpectedType({ type, allowed }: TypeReader, found: string): Finding {
  const message = `Object should be type ${type}, but was ${found}`;
  return { code: 'wrong-type', message, expected: [...allowed.keys()], found };
}

function refuse(violations: Violations, finding: Finding): null {
  violations.add(finding);
  return null;
}

function readMember(
  name: string,
  member: JsonValue,
  attribute: AttributeReader,
  violations: Violations,
): JsonValue {
  const { primitive, type } = attribute;
  if (primitive !== null) {
    const reading = primitive(member);
    if (reading === null) return member;
    if ('value' in reading) return reading.value;
    violations.add({ code: 'malformed-value', ...reading.problem }, name);
    return null;
  }
  if (type === null) return null;
  violations.path.enter(name);
  const object = readTypedObject(member, type, violations);
  violations.path.leave();
  return object;
}

/** Null for an empty list: it says the same as none. */
function readList(
  name: string,
  member: JsonValue,
  attribute: AttributeReader,
  violations: Violations,
): JsonValue[] | null {
  const { type } = attribute;
  if (!Array.isArray(member) || type === null) {
    const found = describe(member);
    const message = `Value should be an array, but was ${found}`;
    violations.add({ code: 'malformed-value', message, expected: ['an array'], found }, name);
    return null;
  }
  const items: JsonValue[] = [];
  for (let i = 0; i < member.length; i += 1) {
    violations.path.enter(name, i);
    const item = readTypedObject(member[i] ?? null, type, violations);
    violations.path.leave();
    if (item !== null) items.push(item);
  }
  return items.length === 0 ? null : items;
}
