import { isKeptDecimal } from '../../../base/text.js';
import { CdrError } from '../../../base/errors.js';
import { parseDate, parseDateTime, parseDuration, parseTime } from '../../../base/iso8601.js';
import type { FlatValue } from '../keys/keys.js';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Canonical JSON may hold basic forms (`20240229`), so what is written from it must be readable. */
const BASIC = { basic: true };
const TEMPORAL = {
  date: { parse: (text: string) => parseDate(text, BASIC), noun: 'an ISO 8601 date' },
  time: { parse: (text: string) => parseTime(text, BASIC), noun: 'an ISO 8601 time' },
  'date-time': { parse: (text: string) => parseDateTime(text, BASIC), noun: 'an ISO 8601 date and time' },
  duration: { parse: parseDuration, noun: 'an ISO 8601 duration' },
};

/** Kind of an ISO 8601 text. */
export type TemporalKind = keyof typeof TEMPORAL;

/** The text of a value. @throws invalid naming the key when it is no text */
export function textOf(given: FlatValue): string {
  if (typeof given.value === 'string') return given.value;
  throw wrongFlatType(given, 'text');
}

/** The number of a value, given as such or as text. @throws invalid naming the key when it is none */
export function numberOf(given: FlatValue): number {
  if (typeof given.value === 'number') return given.value;
  if (typeof given.value !== 'string' || !NUMBER.test(given.value)) throw wrongFlatType(given, 'a number');
  if (isKeptDecimal(given.value)) return Number(given.value);
  throw wrongFlatType(given, 'a number of at most 17 significant digits, a whole one up to 2^53');
}

/** As `numberOf`, without fraction. @throws invalid naming the key when it is no whole number */
export function integerOf(given: FlatValue): number {
  const number = numberOf(given);
  if (Number.isInteger(number)) return number;
  throw wrongFlatType(given, 'a whole number');
}

/** The boolean of a value, given as such or as text. @throws invalid naming the key when it is none */
export function booleanOf(given: FlatValue): boolean {
  if (given.value === true || given.value === 'true') return true;
  if (given.value === false || given.value === 'false') return false;
  throw wrongFlatType(given, 'true or false');
}

/**
 * An ISO 8601 text as given; the word `now` becomes that part of `now`, which is UTC.
 *
 * @throws invalid naming the key when it is no such text
 */
export function temporalOf(given: FlatValue, kind: TemporalKind, now: string): string {
  const text = textOf(given);
  if (text === 'now' && kind !== 'duration') return temporalPart(now, kind);
  if (TEMPORAL[kind].parse(text) !== null) return text;
  throw wrongFlatType(given, TEMPORAL[kind].noun);
}

/** The date or time of a date and time. */
function temporalPart(dateTime: string, kind: TemporalKind): string {
  const [date = '', time = ''] = dateTime.split('T');
  if (kind === 'date') return date;
  return kind === 'time' ? time : dateTime;
}

/** The error of a rubric or code that is looked up in vain (docs/spec/formats.md#flat-errors). */
export function unknownValue(value: string, terminology: string): CdrError {
  return new CdrError('invalid', `Unknown Value ${value} in terminology ${terminology}`);
}

function wrongFlatType(given: FlatValue, expected: string): CdrError {
  return new CdrError('invalid', `the value of ${given.key} must be ${expected}`);
}
