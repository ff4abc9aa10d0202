import type { JsonObject, JsonValue } from '../../base/json.js';
import { typeOf } from '../../rm/access.js';
import { attributesOf, concreteClasses, isLocatable, isPrimitive } from '../../rm/model/classes.js';
import type { RmAttribute } from '../../rm/model/define.js';
import { valueSetOf, codeSetCodes, groupCodes, OPENEHR } from '../../rm/terminology/openehr.js';

/** The moment of all examples. */
export const EXAMPLE_TIME = '2022-02-03T04:05:06+01:00';

/** What examples hold where several values would do; other attributes take the first code of their value set. */
const USUAL_CODES: Readonly<Record<string, string>> = {
  category: '433',
  setting: '238',
  current_state: '532',
  transition: '548',
  null_flavour: '253',
  math_function: '640',
  relationship: '253',
  mode: '193',
  encoding: 'UTF-8',
  charset: 'UTF-8',
  media_type: 'image/png',
  normal_status: 'N',
};

/** A language of examples as a code, and what goes with it. */
export interface SampleLocale {
  /** ISO 639-1. */
  readonly language: string;
  /** ISO 3166-1. */
  readonly territory: string;
}

/** The locale of a language: the country of the same code, else the United States. */
export function localeOf(language: string): SampleLocale {
  const country = language.slice(0, 2).toUpperCase();
  return { language, territory: codeSetCodes('ISO_3166-1').has(country) ? country : 'US' };
}

/** A CODE_PHRASE. */
export function codePhrase(terminologyId: string, code: string): JsonObject {
  return {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: terminologyId },
    code_string: code,
  };
}

/** A DV_CODED_TEXT. */
export function codedText(terminologyId: string, code: string, value: string): JsonObject {
  return { _type: 'DV_CODED_TEXT', value, defining_code: codePhrase(terminologyId, code) };
}

/** The usual code of an attribute's value set; null when the RM does not say where its codes come from. */
export function usualCode(
  attribute: string,
  locale: SampleLocale,
): { terminologyId: string; code: string; text: string } | null {
  const valueSet = valueSetOf(attribute);
  if (valueSet === null) return null;
  const codes = valueSet.kind === 'group' ? groupCodes(valueSet.name) : codeSetCodes(valueSet.name);
  const local = { language: locale.language, territory: locale.territory }[attribute];
  const usual = local ?? USUAL_CODES[attribute] ?? '';
  const code = codes.has(usual) ? usual : ([...codes.keys()][0] ?? usual);
  return { terminologyId: valueSet.terminologyId, code, text: codes.get(code) ?? code };
}

const DATA_VALUES: Readonly<Record<string, () => JsonObject>> = {
  DV_TEXT: () => ({ value: 'Example text' }),
  DV_CODED_TEXT: () => codedText('local', 'at0001', 'Example'),
  DV_PARAGRAPH: () => ({ items: [{ _type: 'DV_TEXT', value: 'Example text' }] }),
  DV_BOOLEAN: () => ({ value: true }),
  DV_COUNT: () => ({ magnitude: 1 }),
  DV_QUANTITY: () => ({ magnitude: 1, units: '1' }),
  DV_PROPORTION: () => ({ numerator: 1, denominator: 2, type: 0 }),
  DV_ORDINAL: () => ({ value: 1, symbol: codedText('local', 'at0001', 'Example') }),
  DV_DATE: () => ({ value: EXAMPLE_TIME.slice(0, 10) }),
  DV_TIME: () => ({ value: EXAMPLE_TIME.slice(11, 19) }),
  DV_DATE_TIME: () => ({ value: EXAMPLE_TIME }),
  DV_DURATION: () => ({ value: 'PT1H' }),
  DV_IDENTIFIER: () => ({ issuer: 'Issuer', assigner: 'Assigner', id: '1', type: 'Type' }),
  DV_URI: () => ({ value: 'https://example.org/1' }),
  DV_EHR_URI: () => ({ value: 'ehr://example.org/1' }),
  DV_PARSABLE: () => ({ value: 'Example', formalism: 'text/plain' }),
  DV_MULTIMEDIA: () => ({
    uri: { _type: 'DV_URI', value: 'https://example.org/1.png' },
    media_type: codePhrase('IANA_media-types', 'image/png'),
    size: 1,
  }),
  DV_STATE: () => ({
    value: codedText(OPENEHR, '245', 'active'),
    is_terminal: false,
  }),
  DV_INTERVAL: () => ({
    lower: { _type: 'DV_COUNT', magnitude: 1 },
    upper: { _type: 'DV_COUNT', magnitude: 2 },
    ...INTERVAL_FLAGS,
  }),
  PARTY_SELF: () => ({}),
  PARTY_IDENTIFIED: () => ({ name: 'Max Mustermann' }),
};

/** The flags of a DV_INTERVAL that has both bounds. */
export const INTERVAL_FLAGS = {
  lower_unbounded: false,
  upper_unbounded: false,
  lower_included: true,
  upper_included: true,
} as const;

/** Classes that stand in for abstract ones. */
const CONCRETE: Readonly<Record<string, string>> = {
  EVENT: 'POINT_EVENT',
  ITEM_STRUCTURE: 'ITEM_TREE',
  DATA_STRUCTURE: 'ITEM_TREE',
  ITEM: 'ELEMENT',
  CONTENT_ITEM: 'EVALUATION',
  ENTRY: 'EVALUATION',
  CARE_ENTRY: 'EVALUATION',
  PARTY_PROXY: 'PARTY_SELF',
  DATA_VALUE: 'DV_TEXT',
  OBJECT_ID: 'HIER_OBJECT_ID',
  UID_BASED_ID: 'HIER_OBJECT_ID',
};

/** The class whose instance examples show for a class. */
export function concreteClass(rmType: string): string {
  return CONCRETE[rmType] ?? concreteClasses(rmType)[0] ?? rmType;
}

/** A valid object of a class that no template constrains; `attribute` is where it will stand. */
export function sampleObject(rmType: string, attribute: string, locale: SampleLocale): JsonObject {
  const type = concreteClass(rmType);
  const usual = usualCode(attribute, locale);
  if (usual !== null && type === 'CODE_PHRASE') return codePhrase(usual.terminologyId, usual.code);
  if (usual !== null && type === 'DV_CODED_TEXT')
    return codedText(usual.terminologyId, usual.code, usual.text);
  const dataValue = DATA_VALUES[type];
  if (dataValue !== undefined) return { _type: type, ...dataValue() };
  const object: JsonObject = { _type: type };
  if (isLocatable(type)) Object.assign(object, identity('at0001', 'Example'));
  addRequired(object, locale);
  return object;
}

/** Name and node id of a LOCATABLE. */
export function identity(archetypeNodeId: string, name: string): JsonObject {
  return { name: { _type: 'DV_TEXT', value: name }, archetype_node_id: archetypeNodeId };
}

/** Attributes that invariants ask for, though the class table has them optional. */
const NEEDED: Readonly<Record<string, readonly string[]>> = { HISTORY: ['events'], ELEMENT: ['value'] };

/** Adds what the RM asks for and the object does not have yet. */
export function addRequired(object: JsonObject, locale: SampleLocale): void {
  const type = typeOf(object);
  for (const attribute of attributesOf(type).values()) {
    const isNeeded = attribute.required || NEEDED[type]?.includes(attribute.name) === true;
    if (isNeeded && object[attribute.name] === undefined && !hasAlternative(type, attribute.name, object))
      object[attribute.name] = sampleAttribute(attribute, locale);
  }
}

function hasAlternative(type: string, attribute: string, object: JsonObject): boolean {
  return type === 'ELEMENT' && attribute === 'value' && object.null_flavour !== undefined;
}

const PRIMITIVES: Readonly<Record<string, JsonValue>> = {
  Boolean: true,
  Integer: 1,
  Integer64: 1,
  Real: 1,
  Double: 1,
};
const TEXTS: Readonly<Record<string, string>> = {
  action_archetype_id: '/.*/',
  activity_id: 'activities[at0001]',
  rm_version: '1.0.4',
  namespace: 'local',
};

function sampleAttribute({ name, type, multiple }: RmAttribute, locale: SampleLocale): JsonValue {
  const value = isPrimitive(type)
    ? (PRIMITIVES[type] ?? TEXTS[name] ?? 'Example')
    : sampleObject(type, name, locale);
  return multiple ? [value] : value;
}
