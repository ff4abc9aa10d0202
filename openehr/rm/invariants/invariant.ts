import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import { OPENEHR, codeSetHas, groupHas } from '../terminology/openehr.js';
import type { ValueSet } from '../terminology/attribute-value-sets.js';
import { valueSetOf } from '../terminology/attribute-value-sets.js';

/** One rule of a class of the reference model (docs/spec/formats.md#rm-rules). */
export interface Invariant {
  readonly name: string;
  /** Class whose instances, descendants included, it validates. */
  readonly type: string;
  /** What must be, for the brackets behind the finding. */
  readonly expected: string;
  /** What is there instead. */
  readonly found: (object: JsonObject) => JsonValue | undefined;
  readonly holds: (object: JsonObject) => boolean;
  /** Whether it only asks for something to be there; such rules do not bind incomplete versions. */
  readonly isLowerLimit: boolean;
}

/** The parts of an invariant that have no usual value. */
interface Rule {
  readonly name: string;
  readonly expected: string;
  readonly holds: (object: JsonObject) => boolean;
  /** Name of the attribute whose value is shown as found; nothing is shown without it. */
  readonly attribute?: string;
  readonly isLowerLimit?: boolean;
}

/** Makes an invariant of a class. */
export function invariant(type: string, rule: Rule): Invariant {
  const { name, expected, holds, attribute, isLowerLimit = false } = rule;
  const found = (object: JsonObject): JsonValue | undefined =>
    attribute === undefined ? undefined : object[attribute];
  return { name, type, expected, holds, found, isLowerLimit };
}

/** The text attribute must not be empty (when it is there). */
export function notEmpty(type: string, name: string, attribute: string): Invariant {
  return invariant(type, {
    name,
    attribute,
    expected: `${attribute} not empty`,
    holds: (object) => object[attribute] !== '',
  });
}

/** The attribute must hold one of the texts (when it is there). */
export function oneOf(type: string, name: string, attribute: string, ...texts: readonly string[]): Invariant {
  return invariant(type, {
    name,
    attribute,
    expected: `${attribute} one of ${texts.join(' ')}`,
    holds: (object) => isAbsent(object[attribute]) || texts.includes(object[attribute] as string),
  });
}

/**
 * The coded attribute must take its code from the value set of that attribute, or from the one given. Text that
 * is not coded passes, so does a missing code.
 */
export function codedBy(type: string, name: string, attribute: string, valueSet?: ValueSet): Invariant {
  const set = valueSet ?? valueSetOf(attribute);
  if (set === null) throw new TypeError(`no value set is known for ${attribute}`);
  return {
    name,
    type,
    expected: `a code of ${set.name}`,
    holds: (object) => isCodeOf(object[attribute], set),
    found: (object) => codeText(object[attribute]),
    isLowerLimit: false,
  };
}

/** Whether the code of a CODE_PHRASE or DV_CODED_TEXT is of that value set; true when there is no code. */
export function isCodeOf(value: JsonValue | undefined, set: ValueSet): boolean {
  const code = textIn(codePhraseOf(value), 'code_string');
  if (code === null || code === '') return true;
  return isTerminologyOf(value, set) && hasCode(set, code);
}

/** Whether the value set has the code. */
export function hasCode(set: ValueSet, code: string): boolean {
  return set.kind === 'group' ? groupHas(set.name, code) : codeSetHas(set.name, code);
}

/** Other terminology ids in use for a code set. */
const ALIASES: Readonly<Record<string, string>> = { unicode: 'iana_character-sets' };

/** Whether a CODE_PHRASE or DV_CODED_TEXT names the terminology of the value set (any letter case), or none. */
export function isTerminologyOf(value: JsonValue | undefined, set: ValueSet): boolean {
  const id = textIn(objectIn(codePhraseOf(value), 'terminology_id'), 'value');
  if (id === null || id === set.terminologyId) return true;
  const lowerCase = id.toLowerCase();
  return (ALIASES[lowerCase] ?? lowerCase) === set.terminologyId.toLowerCase();
}

/** The CODE_PHRASE that a CODE_PHRASE or DV_CODED_TEXT holds; null for other values. */
export function codePhraseOf(value: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(value)) return null;
  if (value['_type'] === 'CODE_PHRASE') return value;
  return value['_type'] === 'DV_CODED_TEXT' ? objectIn(value, 'defining_code') : null;
}

function codeText(value: JsonValue | undefined): string {
  const phrase = codePhraseOf(value);
  return `${textIn(objectIn(phrase, 'terminology_id'), 'value') ?? OPENEHR}::${textIn(phrase, 'code_string') ?? ''}`;
}

/** The object that an attribute holds, or null. */
export function objectIn(object: JsonObject | null, attribute: string): JsonObject | null {
  const value = object?.[attribute];
  return isJsonObject(value) ? value : null;
}

/** The text that an attribute holds, or null. */
export function textIn(object: JsonObject | null, attribute: string): string | null {
  const value = object?.[attribute];
  return typeof value === 'string' ? value : null;
}

/** The number that an attribute holds, or null. */
export function numberIn(object: JsonObject, attribute: string): number | null {
  const value = object[attribute];
  return typeof value === 'number' ? value : null;
}

/** Whether an attribute of canonical JSON is not there (empty lists are never kept). */
export function isAbsent(value: JsonValue | undefined): value is undefined | null {
  return value === undefined || value === null;
}
