/** One attribute of a class of the openEHR reference model. The parameters carry the table into `rm.ts`. */
export interface RmAttribute<
  Name extends string = string,
  Type extends string = string,
  Multiple extends boolean = boolean,
  Required extends boolean = boolean,
> {
  readonly name: Name;
  /** Declared type: an RM class (without generic parameters) or one of `PRIMITIVE_TYPES`. */
  readonly type: Type;
  /** A list of values. */
  readonly multiple: Multiple;
  /** Existence 1..1; for a list: it must not be empty. */
  readonly required: Required;
  /** A list with cardinality 1..*. */
  readonly nonEmpty: boolean;
  /** Written as XML attribute instead of element (only `archetype_node_id`). */
  readonly xmlAttribute: boolean;
}

/** One class of the openEHR reference model. */
export interface RmClass<
  Name extends string = string,
  Parent extends string | null = string | null,
  Abstract extends boolean = boolean,
  Attributes extends readonly RmAttribute[] = readonly RmAttribute[],
> {
  readonly name: Name;
  readonly parent: Parent;
  readonly abstract: Abstract;
  /** Own attributes only, in the element order of canonical XML. */
  readonly attributes: Attributes;
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

const SINGLE = { multiple: false, nonEmpty: false, xmlAttribute: false } as const;
const LIST = { multiple: true, xmlAttribute: false } as const;

/** A mandatory attribute (existence 1..1). */
export function one<const N extends string, const T extends string>(
  name: N,
  type: T,
): RmAttribute<N, T, false, true> {
  return { name, type, required: true, ...SINGLE };
}

/** An optional attribute (existence 0..1). */
export function maybe<const N extends string, const T extends string>(
  name: N,
  type: T,
): RmAttribute<N, T, false, false> {
  return { name, type, required: false, ...SINGLE };
}

/** A list that may be empty (0..*). */
export function many<const N extends string, const T extends string>(
  name: N,
  type: T,
): RmAttribute<N, T, true, false> {
  return { name, type, required: false, nonEmpty: false, ...LIST };
}

/** A list with at least one value (1..*). */
export function some<const N extends string, const T extends string>(
  name: N,
  type: T,
): RmAttribute<N, T, true, true> {
  return { name, type, required: true, nonEmpty: true, ...LIST };
}

/** A class that has instances. */
export function concrete<
  const N extends string,
  const P extends string | null,
  const A extends readonly RmAttribute[],
>(name: N, parent: P, ...attributes: A): RmClass<N, P, false, A> {
  return { name, parent, abstract: false, attributes };
}

/** A class that has only descendants. */
export function abstract<
  const N extends string,
  const P extends string | null,
  const A extends readonly RmAttribute[],
>(name: N, parent: P, ...attributes: A): RmClass<N, P, true, A> {
  return { name, parent, abstract: true, attributes };
}
