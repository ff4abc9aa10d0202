import { isJsonObject, type JsonObject, type JsonValue } from '../../../openehr/base/json.js';
import { writeXml, XSI_NAMESPACE, type XmlOut } from '../../../openehr/base/xml.js';
import { textAt } from '../../../openehr/rm/access.js';
import { attributesOf, isKindOf } from '../../../openehr/rm/model/classes.js';
import type { RmAttribute } from '../../../openehr/rm/model/define.js';

/** What Archie's classes write that this server writes otherwise or not at all. */
export interface ArchieStyle {
  /** Prefix of the namespace on elements; '' declares it as default; null: no namespace, as EHRbase's SDK writes. */
  readonly prefix: string | null;
  /** Where `xsi:type` stands: on attributes of generic or abstract type, or on every object. */
  readonly types: 'generic' | 'always';
  /** Whether `xsi:type` has the prefix, too. */
  readonly isTypePrefixed: boolean;
}

/** The ways in which one and the same class can be marshalled, after the settings of the JAXB context. */
export const ARCHIE_STYLES: Readonly<Record<string, ArchieStyle>> = {
  'without namespace': { prefix: null, types: 'generic', isTypePrefixed: false },
  'with a default namespace': { prefix: '', types: 'generic', isTypePrefixed: false },
  'with prefixes and every type': { prefix: 'ns2', types: 'always', isTypePrefixed: true },
};

/** Attributes that Archie declares by a type parameter, so that JAXB names the type of whatever stands there. */
const GENERIC = new Set(['id', 'lower', 'upper', 'data', 'state', 'accuracy', 'range', 'normal_range']);
const NAMESPACE = 'http://schemas.openehr.org/v1';

/** A COMPOSITION, EHR_STATUS, … as XML by Archie's JAXB classes. `root`: name of the root element. */
export function archieXml(object: JsonObject, root: string, style: ArchieStyle): string {
  const { prefix } = style;
  const namespaces: Record<string, string> = { 'xmlns:xsi': XSI_NAMESPACE };
  if (prefix !== null) namespaces[prefix === '' ? 'xmlns' : `xmlns:${prefix}`] = NAMESPACE;
  const { attributes, ...rest } = elementOf(root, object, null, style);
  return writeXml({ ...rest, attributes: { ...namespaces, ...attributes } });
}

function elementOf(
  name: string,
  object: JsonObject,
  declared: RmAttribute | null,
  style: ArchieStyle,
): XmlOut {
  const type = textAt(object, '_type') ?? '';
  const known = [...attributesOf(type).values()];
  const attributes: Record<string, string> = {};
  const isGeneric = declared !== null && (declared.type !== type || GENERIC.has(declared.name));
  if (isGeneric || (style.types === 'always' && declared !== null))
    attributes['xsi:type'] = style.isTypePrefixed && style.prefix ? `${style.prefix}:${type}` : type;
  for (const attribute of known)
    if (attribute.xmlAttribute) attributes[attribute.name] = textAt(object, attribute.name) ?? '';
  const children = known
    .filter(({ xmlAttribute }) => !xmlAttribute)
    .flatMap((attribute) => elementsOf(attribute, object[attribute.name], style));
  return {
    name: qualified(name, style),
    attributes,
    children: [...children, ...derivedMembers(object).map(([key, text]) => leaf(key, text, style))],
  };
}

function elementsOf(attribute: RmAttribute, value: JsonValue | undefined, style: ArchieStyle): XmlOut[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => elementsOf(attribute, item, style));
  if (isJsonObject(value)) return [elementOf(attribute.name, value, attribute, style)];
  return [leaf(attribute.name, textOf(attribute.type, value), style)];
}

/** Java's forms: a double has a fraction, a `char` is a number, base64 comes in lines of 76. */
function textOf(type: string, value: string | number | boolean): string {
  const text = String(value);
  if (type === 'Real' && Number.isInteger(Number(value))) return `${text}.0`;
  if (type === 'Character') return String(text.charCodeAt(0));
  return type === 'Base64' ? text.replace(/.{76}/g, '$&\r\n') : text;
}

function leaf(name: string, text: string, style: ArchieStyle): XmlOut {
  return { name: qualified(name, style), children: [text] };
}

function qualified(name: string, { prefix }: ArchieStyle): string {
  return prefix ? `${prefix}:${name}` : name;
}

/** Functions of the class that its bean has getters for. */
function derivedMembers(object: JsonObject): [string, string][] {
  if (object['_type'] === 'DV_PROPORTION')
    return [['is_integral', String(object['type'] === 3 || object['type'] === 4)]];
  if (object['_type'] !== 'ARCHETYPE_ID') return [];
  const [qualifiedRmEntity = '', domainConcept = '', versionId = ''] = (textAt(object, 'value') ?? '').split(
    '.',
  );
  const [rmOriginator = '', rmName = '', rmEntity = ''] = qualifiedRmEntity.split('-');
  const [, specialisation = ''] = domainConcept.split('-');
  const all = {
    qualifiedRmEntity,
    domainConcept,
    rmOriginator,
    rmName,
    rmEntity,
    specialisation,
    versionId,
  };
  return Object.entries(all);
}

/** The same as JSON by Archie's object mapper: with the derived members, and `path` on what is PATHABLE. */
export function archieJson(object: JsonObject, path = ''): JsonObject {
  const written: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    const inside = (at: string, item: JsonValue) =>
      isJsonObject(item) ? archieJson(item, `${path}/${name}${at}`) : item;
    written[name] = Array.isArray(value)
      ? value.map((item, index) => inside(`[${index + 1}]`, item))
      : inside('', value ?? null);
  }
  if (isKindOf(textAt(object, '_type') ?? '', 'PATHABLE')) written['path'] = path === '' ? '/' : path;
  return { ...written, ...Object.fromEntries(derivedMembers(object)) };
}
