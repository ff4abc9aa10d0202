import { collapsedToken, isKeptDecimal } from '../base/text.js';
import { parseDate, parseDateTime, parseDuration, parseTime } from '../base/iso8601.js';
import type { JsonValue } from '../base/json.js';
import type { Finding } from '../base/violation.js';
import type { PrimitiveType } from './model/define.js';

type Problem = Pick<Finding, 'message' | 'expected' | 'found'>;

/** A primitive value in its canonical form, or what is wrong with it. */
type PrimitiveReading = { readonly value: JsonValue } | { readonly problem: Problem };

/** Null: the value is canonical as it is. */
type PrimitiveReader = (value: JsonValue) => PrimitiveReading | null;

/** The RM allows the basic forms (`20240229`) beside the extended ones. */
const FORMS = { basic: true };
const MAX_NUMBER_LENGTH = 400;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?$/;
const ONE_CHARACTER = /^.$/su;
const BASE64 = /^[A-Za-z\d+/\s]*(?:=\s*){0,2}$/;
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const BLANK = /[\s\u0000-\u001f]/;
const MAX_INTEGER = 2 ** 31 - 1;

/**
 * Reads a value of a primitive type of `rm/model`: numbers also given as text, everything else as its type.
 * Null when the value is canonical as it is (the usual case costs nothing).
 */
export function primitiveReader(type: PrimitiveType): PrimitiveReader {
  return READERS[type];
}

/** A text that is an xs:token, whatever white space it was written with. */
export function readToken(value: JsonValue): PrimitiveReading | null {
  if (typeof value !== 'string') return wrongPrimitive('a text', value);
  const token = collapsedToken(value);
  return token === value ? null : { value: token };
}

/** What a value is, in the words of a violation; long texts are cut. */
export function describe(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}..."` : text;
}

const READERS: Readonly<Record<PrimitiveType, PrimitiveReader>> = {
  String: (value) => (typeof value === 'string' ? null : wrongPrimitive('a text', value)),
  Character: (value) =>
    typeof value === 'string' && ONE_CHARACTER.test(value) ? null : wrongPrimitive('one character', value),
  Boolean: readBoolean,
  Integer: (value) => readInteger(value, -MAX_INTEGER - 1, MAX_INTEGER),
  Integer64: (value) => readInteger(value, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  Real: readReal,
  Base64: (value) =>
    typeof value === 'string' && BASE64.test(value) ? null : wrongPrimitive('bytes in base64', value),
  Uri: (value) =>
    typeof value === 'string' && !BLANK.test(value) ? null : wrongPrimitive('a URI without blanks', value),
  Iso8601_date: (value) =>
    typeof value === 'string' && parseDate(value, FORMS) !== null
      ? null
      : invalidFormat('DV_DATE', 'YYYY, YYYY-MM or YYYY-MM-DD', value),
  Iso8601_time: (value) =>
    typeof value === 'string' && parseTime(value, FORMS) !== null
      ? null
      : invalidFormat('DV_TIME', 'hh, hh:mm or hh:mm:ss with optional fraction and zone', value),
  Iso8601_date_time: (value) =>
    typeof value === 'string' && parseDateTime(value, FORMS) !== null
      ? null
      : invalidFormat(
          'DV_DATE_TIME',
          'YYYY-MM-DDThh:mm:ss with optional zone, or a leading part of it',
          value,
        ),
  Iso8601_duration: (value) =>
    typeof value === 'string' && parseDuration(value) !== null
      ? null
      : invalidFormat('DV_DURATION', 'PnYnMnWnDTnHnMnS', value),
};

function wrongPrimitive(expected: string, value: JsonValue): PrimitiveReading {
  return problem(`Value should be ${expected}, but was ${describe(value)}`, expected, value);
}

function invalidFormat(type: string, expected: string, value: JsonValue): PrimitiveReading {
  return problem(
    `The value ${describe(value)} is not a valid ${type} (expected ${expected})`,
    expected,
    value,
  );
}

function problem(message: string, expected: string, value: JsonValue): PrimitiveReading {
  const found = typeof value === 'object' && value !== null ? describe(value) : value;
  return { problem: { message, expected: [expected], found } };
}

function readBoolean(value: JsonValue): PrimitiveReading | null {
  if (typeof value === 'boolean') return null;
  if (value === 'true' || value === 'false') return { value: value === 'true' };
  return wrongPrimitive('true or false', value);
}

function readReal(value: JsonValue): PrimitiveReading | null {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return wrongPrimitive('a number', value);
    return Object.is(value, -0) ? { value: withoutSign(value) } : null;
  }
  if (typeof value !== 'string' || value.length > MAX_NUMBER_LENGTH || !NUMBER.test(value))
    return wrongPrimitive('a number', value);
  if (!isKeptDecimal(value))
    return wrongPrimitive('a number of at most 17 significant digits, a whole one up to 2^53', value);
  return { value: withoutSign(Number(value)) };
}

/** JSON text has no zero with a sign, so what is stored as text and what is derived from it would differ. */
function withoutSign(value: number): number {
  return value === 0 ? 0 : value;
}

function readInteger(value: JsonValue, least: number, most: number): PrimitiveReading | null {
  const real = readReal(value);
  if (real !== null && 'problem' in real) return wrongPrimitive('a whole number', value);
  const number = Number(value);
  if (!Number.isInteger(number)) return wrongPrimitive('a whole number', value);
  if (number < least || number > most)
    return wrongPrimitive(`a whole number from ${least} to ${most}`, value);
  return real;
}
