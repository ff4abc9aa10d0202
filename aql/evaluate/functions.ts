import type { FunctionCall } from '../syntax/ast.js';
import { argumentDomain, isPresentTime } from '../syntax/functions.js';
import type { FunctionBodies } from '../syntax/functions.js';
import { presentTime, type Clock } from '../semantics/present-time.js';
import { readingOf, textForm, type Found } from './value.js';
import { characters, counted, resultBytes } from '../../openehr/base/work.js';

type Scalar = string | number | boolean | null;

/** The value of a function for arguments already evaluated; null for a NULL argument (docs/spec/aql.md#functions). */
export function callFunction(call: FunctionCall, args: readonly (Found | null)[], clock: Clock): Scalar {
  const { name } = call;
  if (isPresentTime(name)) return presentTime(name, clock);
  const values = counted(args).map((arg, index) =>
    argumentDomain(name, index) === 'number' ? evaluatedNumber(arg) : textForm(arg),
  );
  if (name === 'CONCAT_WS') return concatWithSeparator(values);
  const there = counted(values).filter((value) => value !== null);
  // The table says of each argument what it is, and the checks how many there are.
  const valueOf = VALUES[name] as (...args: readonly (string | number)[]) => Scalar;
  return there.length < values.length ? null : valueOf(...there);
}

const VALUES: FunctionBodies<{ text: string; number: number }, Scalar> = {
  LENGTH: codePoints,
  CONTAINS: (text, part) => text.includes(part),
  POSITION: positionOf,
  SUBSTRING: (text, from, length = Infinity) => codePointSubstring(text, from, length),
  CONCAT: (...texts) => joinTexts(texts, ''),
  ABS: Math.abs,
  MOD: (x, y) => (y === 0 ? null : plus(x % y)),
  CEIL: (x) => plus(Math.ceil(x)),
  FLOOR: Math.floor,
  ROUND: (x, digits = 0) => round(x, Math.trunc(digits)),
};

function concatWithSeparator([separator, ...values]: readonly (string | number | null)[]): string | null {
  if (separator === null || separator === undefined) return null;
  const texts = counted(values).filter((value) => value !== null);
  return joinTexts(counted(texts).map(String), String(separator));
}

/** The texts as one, which is counted before it is made. */
function joinTexts(texts: readonly string[], separator: string): string {
  let length = separator.length * Math.max(0, texts.length - 1);
  for (const text of counted(texts)) length += text.length;
  resultBytes(length);
  return texts.join(separator);
}

/** How many code points a text has, without a list of them. */
function codePoints(text: string): number {
  characters(text);
  let count = text.length;
  for (let index = 0; index + 1 < text.length; index += 1)
    if (isPairAt(text, index)) {
      count -= 1;
      index += 1;
    }
  return count;
}

function isPairAt(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}

function positionOf(sought: string, text: string): number {
  const index = text.indexOf(sought);
  return index < 0 ? 0 : codePoints(text.slice(0, index)) + 1;
}

/** From position `start` (1 is the first) `length` code points; positions before the first count, as in SQL. */
function codePointSubstring(text: string, start: number, length: number): string {
  const from = Math.trunc(start);
  const to = from + Math.max(0, Math.trunc(length));
  const begin = codePointOffset(text, 0, from - 1);
  const part = text.slice(begin, codePointOffset(text, begin, to - Math.max(from, 1)));
  resultBytes(part.length);
  return part;
}

/** Where in a text so many code points end that begin at an offset. */
function codePointOffset(text: string, begin: number, points: number): number {
  characters(text);
  let at = begin;
  for (let left = points; left > 0 && at < text.length; left -= 1) at += isPairAt(text, at) ? 2 : 1;
  return at;
}

/** Half away from zero, in decimal: 1.005 to two digits is 1.01. */
function round(value: number, digits: number): number {
  if (digits < -300) return 0;
  const [mantissa = '0', exponent = '0'] = Math.abs(value).toExponential().split('e');
  const shifted = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`));
  // More digits than a number has.
  if (!Number.isFinite(shifted)) return value;
  const [shiftedMantissa = '0', shiftedExponent = '0'] = shifted.toExponential().split('e');
  const rounded = Number(`${shiftedMantissa}e${Number(shiftedExponent) - digits}`);
  return plus(Math.sign(value) * rounded);
}

/** Zero has no sign in JSON. */
function plus(value: number): number {
  return value === 0 ? 0 : value;
}

function evaluatedNumber(arg: Found | null): number | null {
  const reading = readingOf(arg);
  return reading?.domain === 'number' ? Number(reading.key) : null;
}
