import { isKeptDecimal } from '../base/text.js';
import { CdrError } from '../base/errors.js';
import { violationAt, violationText } from '../base/violation.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.js';
import type { XmlLimits } from '../base/xml-scan.js';
import {
  parseXml,
  textContent,
  writeElement,
  writeXml,
  XSI_NAMESPACE,
  type XmlElement,
  type XmlOut,
} from '../base/xml.js';
import { attributesOf, isKindOf, isPrimitive, rmClass, withoutParameters } from '../rm/model/classes.js';
import type { RmAttribute } from '../rm/model/define.js';
import { isDerivedMember } from '../rm/model/derived.js';
import { keepUnknown, unknownValue } from './unknown-element.js';
import { counted } from '../base/work.js';

/** How XML is read. */
export interface XmlReading extends XmlLimits {
  /** Unknown elements and attributes become unknown members, which the reading of the object judges. */
  readonly keepsUnknown?: boolean;
}

/** Namespace URI of canonical XML (docs/spec/formats.md#canonical-xml). */
const OPENEHR_NAMESPACE = 'http://schemas.openehr.org/v1';
/** Attributes that any element may have and that say nothing about the data. */
const IGNORED_ATTRIBUTES = new Set([
  'xsi:type',
  'xsi:schemaLocation',
  'xsi:noNamespaceSchemaLocation',
  'xsi:nil',
]);
/** Root elements that go by another name than the RM class. */
const ROOT_NAMES: Readonly<Record<string, readonly string[]>> = {
  ORIGINAL_VERSION: ['version', 'original_version'],
  VERSION: ['version', 'original_version', 'imported_version'],
  FOLDER: ['folder', 'directory'],
};
/** Elements that an OBJECT_REF cannot have: the reference is a whole VERSION. */
const VERSION_ELEMENTS = new Set(['commit_audit', 'data', 'lifecycle_state', 'preceding_version_uid']);
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** JAXB writes the Java type `char`, which TERM_MAPPING.match is in Archie, as the number of the character. */
const CHARACTER_CODE = /^6[0-3]$/;
const INTEGER_TYPES = new Set(['Integer', 'Integer64']);

/**
 * Writes an object as XML with declaration: RM objects (known by `_type`) in the element order of the schema with
 * `xsi:type` where the type is not the declared one; any other record with its attributes as elements in the order
 * given, arrays as repeated elements, without namespace. Nulls are left out.
 *
 * @throws not-acceptable when a text holds a character that XML cannot represent
 */
export function toXml(object: JsonObject, rootName: string): string {
  const type = knownClassOf(object);
  if (type === null) return writeXml(withTypePrefix(recordElement(rootName, object)));
  const root = objectElement(rootName, object, rootName.toUpperCase());
  return writeXml({ ...root, attributes: { ...CANONICAL_NAMESPACES, ...root.attributes } });
}

/** What the root of a document that is put together of `xmlFragment`s binds. */
export const CANONICAL_NAMESPACES = { xmlns: OPENEHR_NAMESPACE, 'xmlns:xsi': XSI_NAMESPACE } as const;

/** An RM object as one element of such a document. `declaredType`: what the schema says of that element. @throws as `toXml` */
export function xmlFragment(object: JsonObject, name: string, declaredType: string): string {
  return writeElement(objectElement(name, object, declaredType));
}

/** A record that holds RM objects binds the prefix of their `xsi:type`. */
function withTypePrefix(record: XmlOut): XmlOut {
  return hasTypes(record) ? { ...record, attributes: { 'xmlns:xsi': XSI_NAMESPACE } } : record;
}

function hasTypes({ attributes, children = [] }: XmlOut): boolean {
  if (attributes?.['xsi:type'] !== undefined) return true;
  return counted(children).some((child) => typeof child !== 'string' && hasTypes(child));
}

/** The RM class of an object, without generic parameter; null when it has no `_type` or one that is no RM class. */
function knownClassOf(object: JsonObject): string | null {
  const type = object._type;
  if (typeof type !== 'string') return null;
  const name = withoutParameters(type);
  return rmClass(name) === undefined ? null : name;
}

function objectElement(name: string, object: JsonObject, declaredType: string): XmlOut {
  const declared = withoutParameters(declaredType);
  const type = knownClassOf(object) ?? declared;
  const children: XmlOut[] = [];
  const attributes: Record<string, string> = {};
  if (type !== declared) attributes['xsi:type'] = type;
  const known = attributesOf(type);
  for (const attribute of counted(known).values()) {
    const value = object[attribute.name];
    if (value === undefined) continue;
    if (!attribute.xmlAttribute) addElements(children, attribute, value);
    else if (typeof value === 'string') attributes[attribute.name] = value;
  }
  for (const key of counted(Object.keys(object))) {
    const value = object[key];
    if (key !== '_type' && !known.has(key) && value !== undefined) addRecordElements(children, key, value);
  }
  return { name, attributes, children };
}

function addElements(children: XmlOut[], attribute: RmAttribute, value: JsonValue): void {
  if (Array.isArray(value)) for (const item of counted(value)) addElements(children, attribute, item);
  else if (isJsonObject(value)) children.push(objectElement(attribute.name, value, attribute.type));
  else if (value !== null) children.push({ name: attribute.name, children: [String(value)] });
}

function recordElement(name: string, record: JsonObject): XmlOut {
  const children: XmlOut[] = [];
  for (const key of counted(Object.keys(record))) addRecordElements(children, key, record[key] ?? null);
  return { name, children };
}

function addRecordElements(children: XmlOut[], name: string, value: JsonValue): void {
  if (Array.isArray(value)) for (const item of counted(value)) addRecordElements(children, name, item);
  else if (isJsonObject(value))
    children.push(knownClassOf(value) === null ? recordElement(name, value) : objectElement(name, value, ''));
  else if (value !== null) children.push({ name, children: [String(value)] });
}

/**
 * Reads canonical XML into canonical JSON with `_type` on every object; types are not checked against what their
 * attribute allows, nor values against anything (that is `openehr/rm/read.ts`). The order of elements does not matter; the
 * namespace may have any prefix or be missing (docs/spec/formats.md#canonical-xml).
 *
 * @throws invalid naming the path of what is no canonical XML: unknown type, element or attribute, other
 * namespace, repeated single element, abstract type without `xsi:type`, text between elements, unreadable number;
 * too-large as `parseXml`
 */
export function fromXml(text: string, declaredType: string, options: XmlReading = {}): JsonObject {
  const root = parseXml(text, options);
  const names = ROOT_NAMES[declaredType] ?? [declaredType.toLowerCase()];
  if (!names.includes(root.name) && !root.attributes.has('xsi:type'))
    throw new CdrError('invalid', `the root element must be ${names.join(' or ')}, found ${root.name}`);
  return readXmlObject(root, rootType(root, declaredType), {
    path: '',
    keepsUnknown: options.keepsUnknown ?? false,
  });
}

function rootType(root: XmlElement, declaredType: string): string {
  const given = root.attributes.get('xsi:type');
  if (given === undefined) return declaredType === 'VERSION' ? 'ORIGINAL_VERSION' : declaredType;
  if (!isKindOf(withoutParameters(given), declaredType))
    throw new CdrError('invalid', `the root element must have the type ${declaredType}, found ${given}`);
  return declaredType;
}

/** One element of a document as `fromXml` reads it. `path`: where it stands. @throws invalid */
export function xmlObjectAt(element: XmlElement, declaredType: string, path: string): JsonObject {
  return readXmlObject(element, declaredType, { path, keepsUnknown: false });
}

function readXmlObject(element: XmlElement, declaredType: string, place: ElementPlace): JsonObject {
  const { path } = place;
  const type = statedType(element, declaredType, path);
  const known = attributesOf(type);
  const object: JsonObject = { _type: type };
  readXmlAttributes(element, object, { ...place, type });
  const counts = new Map<string, number>();
  for (const child of counted(element.children)) {
    if (typeof child === 'string') {
      if (child.trim() === '') continue;
      throw refusedElement(path, `text is not expected in an element of type ${type}`);
    }
    readXmlMember(child, known.get(child.name), { ...place, object, type, counts });
  }
  return object;
}

interface ElementPlace {
  readonly path: string;
  readonly keepsUnknown: boolean;
}

interface Members extends ElementPlace {
  readonly object: JsonObject;
  readonly type: string;
  /** How often each element was seen. */
  readonly counts: Map<string, number>;
}

function readXmlMember(child: XmlElement, attribute: RmAttribute | undefined, into: Members): void {
  const { path, type } = into;
  if (attribute === undefined && into.keepsUnknown && !isDerivedMember(type, child.name)) {
    keepUnknown(into.object, { name: child.name, value: unknownValue(child) });
    return;
  }
  if (child.namespace !== null && child.namespace !== OPENEHR_NAMESPACE)
    throw refusedElement(`${path}/${child.name}`, `the namespace must be ${OPENEHR_NAMESPACE}`);
  if (attribute !== undefined && !attribute.xmlAttribute) readElement(child, attribute, into);
  else if (!isDerivedMember(type, child.name))
    throw refusedElement(`${path}/${child.name}`, `unknown element of type ${type}`);
}

function readElement(child: XmlElement, attribute: RmAttribute, into: Members): void {
  const { object, path, counts } = into;
  const count = counts.get(child.name) ?? 0;
  counts.set(child.name, count + 1);
  const childPath = attribute.multiple ? `${path}/${child.name}[${count}]` : `${path}/${child.name}`;
  if (count > 0 && !attribute.multiple) throw refusedElement(childPath, 'the element may occur only once');
  if (isNil(child)) return;
  const value = readXmlValue(child, attribute, { ...into, path: childPath });
  if (attribute.multiple) ((object[child.name] ??= []) as JsonValue[]).push(value);
  else object[child.name] = value;
}

function readXmlValue(
  child: XmlElement,
  attribute: RmAttribute,
  { type: owner, ...place }: Members,
): JsonValue {
  const { path } = place;
  if (!isPrimitive(attribute.type)) return readXmlObject(child, declaredIn(child, attribute, owner), place);
  for (const name of counted(child.attributes).keys())
    if (!IGNORED_ATTRIBUTES.has(name)) throw refusedElement(path, `unknown attribute ${name}`);
  if (counted(child.children).some((part) => typeof part !== 'string'))
    throw refusedElement(path, 'an element is not expected, only text');
  return readPrimitive(textContent(child), attribute.type, path);
}

/** A CONTRIBUTION carries whole VERSIONs where the schema has references to them (ITS-REST). */
function declaredIn(child: XmlElement, attribute: RmAttribute, owner: string): string {
  const isVersion =
    owner === 'CONTRIBUTION' &&
    attribute.name === 'versions' &&
    counted(child.children).some((part) => typeof part !== 'string' && VERSION_ELEMENTS.has(part.name));
  return isVersion ? 'ORIGINAL_VERSION' : attribute.type;
}

function readPrimitive(text: string, type: string, path: string): JsonValue {
  if (type === 'Boolean') return readXmlBoolean(text.trim(), path);
  if (INTEGER_TYPES.has(type) || type === 'Real') return readXmlNumber(text.trim(), type, path);
  if (type === 'Base64') return text.replace(/\s+/g, '');
  return type === 'Character' && CHARACTER_CODE.test(text) ? String.fromCharCode(Number(text)) : text;
}

function readXmlBoolean(text: string, path: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw refusedElement(path, 'true or false was expected');
}

function readXmlNumber(text: string, type: string, path: string): number {
  const literal = text.replace(/^\+/, '');
  if (!NUMBER.test(text) || (INTEGER_TYPES.has(type) && !Number.isInteger(Number(literal))))
    throw refusedElement(
      path,
      INTEGER_TYPES.has(type) ? 'a whole number was expected' : 'a number was expected',
    );
  if (!isKeptDecimal(literal))
    throw refusedElement(
      path,
      'the number cannot be kept: it has more than 17 significant digits, is a whole number beyond 2^53, or too large',
    );
  return Number(literal);
}

function statedType(element: XmlElement, declaredType: string, path: string): string {
  const given = element.attributes.get('xsi:type');
  const type = withoutParameters(given ?? declaredType);
  const known = rmClass(type);
  if (known === undefined) throw refusedElement(path, `unknown type ${type}`);
  if (!known.abstract) return type;
  throw refusedElement(
    path,
    given === undefined ? `xsi:type is missing, ${type} is abstract` : `the type ${type} is abstract`,
  );
}

function readXmlAttributes(
  element: XmlElement,
  object: JsonObject,
  { path, keepsUnknown, type }: ElementPlace & { readonly type: string },
): void {
  if (path === '' && element.namespace !== null && element.namespace !== OPENEHR_NAMESPACE)
    throw refusedElement(path, `the namespace must be ${OPENEHR_NAMESPACE}`);
  for (const [name, value] of counted(element.attributes)) {
    if (IGNORED_ATTRIBUTES.has(name)) continue;
    const attribute = attributesOf(type).get(name);
    if (attribute?.xmlAttribute === true) object[name] = value;
    else if (attribute === undefined && keepsUnknown) keepUnknown(object, { name, value });
    else throw refusedElement(path, `unknown attribute ${name} of type ${type}`);
  }
}

function isNil(element: XmlElement): boolean {
  const nil = element.attributes.get('xsi:nil')?.trim();
  return nil === 'true' || nil === '1';
}

function refusedElement(path: string, text: string): CdrError {
  const violation = violationAt(path === '' ? '/' : path, text);
  return new CdrError('invalid', violationText(violation), { violations: [violation] });
}
