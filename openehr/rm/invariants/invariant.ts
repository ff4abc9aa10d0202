import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import { isAbsent, objectAt, textAt, typeOf } from '../access.js';
import type { PartialRm, RmAttributeName, RmClassName } from '../model/rm.js';
import { OPENEHR, codeSetHas, groupHas, valueSetOf } from '../terminology/openehr.js';
import type { ValueSet } from '../terminology/openehr.js';

/** One rule of a class of the reference model (docs/spec/formats.md#rm-rules). */
export interface Invariant {
  readonly name: string;
  /** Class whose instances, descendants included, it validates. */
  readonly type: string;
  /** What must be, for the brackets behind the violation. */
  readonly expected: string;
  /** The attribute that the rule is about, where it is about a single one. */
  readonly attribute?: string;
  /** What is there instead. */
  readonly found: (object: JsonObject) => JsonValue | undefined;
  readonly holds: (object: JsonObject) => boolean;
  /** Whether it only asks for something to be there; such rules do not bind incomplete versions. */
  readonly isLowerLimit: boolean;
}

/** The parts of an invariant that have no usual value. */
interface Rule<N extends RmClassName> {
  readonly name: string;
  readonly expected: string;
  readonly holds: (object: PartialRm<N>) => boolean;
  /** Name of the attribute whose value is shown as found; nothing is shown without it. */
  readonly attribute?: RmAttributeName<N>;
  readonly isLowerLimit?: boolean;
}

/** Makes an invariant of a class. */
export function invariant<N extends RmClassName>(type: N, rule: Rule<N>): Invariant {
  const { name, expected, attribute, isLowerLimit = false } = rule;
  const found = (object: JsonObject): JsonValue | undefined =>
    attribute === undefined ? undefined : object[attribute];
  // `validateRm` asks it of instances of the class only.
  const holds: unknown = rule.holds;
  return {
    ...{ name, type, expected, holds: holds as Invariant['holds'], found, isLowerLimit },
    ...(attribute === undefined ? {} : { attribute }),
  };
}

/** The text attribute must not be empty (when it is there). */
export function notEmpty<N extends RmClassName>(
  type: N,
  name: string,
  attribute: RmAttributeName<N>,
): Invariant {
  return {
    name,
    type,
    attribute,
    expected: `${attribute} not empty`,
    holds: (object) => object[attribute] !== '',
    found: (object) => object[attribute],
    isLowerLimit: false,
  };
}

/** The attribute must hold one of the texts (when it is there). */
export function oneOf<N extends RmClassName>(
  type: N,
  name: string,
  attribute: RmAttributeName<N>,
  ...texts: readonly string[]
): Invariant {
  return {
    name,
    type,
    attribute,
    expected: `${attribute} one of ${texts.join(' ')}`,
    holds: ({ [attribute]: value }) =>
      isAbsent(value) || (typeof value === 'string' && texts.includes(value)),
    found: (object) => object[attribute],
    isLowerLimit: false,
  };
}

/**
 * The coded attribute must take its code from the value set of that attribute, or from the one given. Text that
 * is not coded passes, so does a missing code.
 */
export function codedBy<N extends RmClassName>(
  type: N,
  name: string,
  attribute: RmAttributeName<N>,
  valueSet?: ValueSet,
): Invariant {
  const set = valueSet ?? valueSetOf(attribute);
  if (set === null) throw new TypeError(`no value set is known for ${attribute}`);
  return {
    name,
    type,
    attribute,
    expected: `a code of ${set.name}`,
    holds: (object) => isCodeOf(object[attribute], set),
    found: (object) => codeText(object[attribute]),
    isLowerLimit: false,
  };
}

/** Whether the code of a CODE_PHRASE or DV_CODED_TEXT is of that value set; true when there is no code. */
export function isCodeOf(value: JsonValue | undefined, set: ValueSet): boolean {
  const code = textAt(codePhraseOf(value), 'code_string');
  if (code === undefined || code === '') return true;
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
  const id = textAt(codePhraseOf(value), 'terminology_id', 'value');
  if (id === undefined || id === set.terminologyId) return true;
  const lowerCase = id.toLowerCase();
  return (ALIASES[lowerCase] ?? lowerCase) === set.terminologyId.toLowerCase();
}

/** The CODE_PHRASE that a CODE_PHRASE or DV_CODED_TEXT holds; undefined for other values. */
export function codePhraseOf(value: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const type = typeOf(value);
  if (type === 'CODE_PHRASE') return value;
  return type === 'DV_CODED_TEXT' ? objectAt(value, 'defining_code') : undefined;
}

function codeText(value: JsonValue | undefined): string {
  const phrase = codePhraseOf(value);
  return `${textAt(phrase, 'terminology_id', 'value') ?? OPENEHR}::${textAt(phrase, 'code_string') ?? ''}`;
}
