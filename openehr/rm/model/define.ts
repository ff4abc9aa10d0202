/** One attribute of a class of the openEHR reference model. */
export interface RmAttribute {
  readonly name: string;
  /** Declared type: an RM class (without generic parameters) or one of `PRIMITIVE_TYPES`. */
  readonly type: string;
  /** A list of values. */
  readonly multiple: boolean;
  /** Existence 1..1; for a list: it must not be empty. */
  readonly required: boolean;
  /** A list with cardinality 1..*. */
  readonly nonEmpty: boolean;
  /** Written as XML attribute instead of element (only `archetype_node_id`). */
  readonly xmlAttribute: boolean;
}

/** One class of the openEHR reference model. */
export interface RmClass {
  readonly name: string;
  readonly parent: string | null;
  readonly abstract: boolean;
  /** Own attributes only, in the element order of canonical XML. */
  readonly attributes: readonly RmAttribute[];
}

/**
 * Types without attributes of their own. In JSON: `Boolean` is a boolean; `Integer` (32 bit), `Integer64` and
 * `Real` are numbers; all others are text. `Base64` is a byte array in base64, `Character` one character,
 * `Uri` a URI without white space; `Iso8601_…` have the formats of `openehr/base/iso8601.ts`.
 */
export const PRIMITIVE_TYPES = [
  'String',
  'Character',
  'Boolean',
  'Integer',
  'Integer64',
  'Real',
  'Base64',
  'Uri',
  'Iso8601_date',
  'Iso8601_time',
  'Iso8601_date_time',
  'Iso8601_duration',
] as const;

/** The name of a primitive type. */
export type PrimitiveType = (typeof PRIMITIVE_TYPES)[number];

const SINGLE = { multiple: false, nonEmpty: false, xmlAttribute: false };
const LIST = { multiple: true, xmlAttribute: false };

/** A mandatory attribute (existence 1..1). */
export function one(name: string, type: string): RmAttribute {
  return { name, type, required: true, ...SINGLE };
}

/** An optional attribute (existence 0..1). */
export function maybe(name: string, type: string): RmAttribute {
  return { name, type, required: false, ...SINGLE };
}

/** A list that may be empty (0..*). */
export function many(name: string, type: string): RmAttribute {
  return { name, type, required: false, nonEmpty: false, ...LIST };
}

/** A list with at least one value (1..*). */
export function some(name: string, type: string): RmAttribute {
  return { name, type, required: true, nonEmpty: true, ...LIST };
}

/** A class that has instances. */
export function concrete(name: string, parent: string | null, ...attributes: RmAttribute[]): RmClass {
  return { name, parent, abstract: false, attributes };
}

/** A class that has only descendants. */
export function abstract(name: string, parent: string | null, ...attributes: RmAttribute[]): RmClass {
  return { name, parent, abstract: true, attributes };
}
