import type { FunctionCall } from '../syntax/ast.js';
import { argumentDomain, isPresentTime } from '../syntax/functions.js';
import type { FunctionName, PresentTimeName } from '../syntax/functions.js';
import { presentTime, type Clock } from '../semantics/present-time.js';
import { readingOf, textForm, type Found } from './value.js';
import { counted } from '../../openehr/base/work.js';

type Scalar = string | number | boolean | null;

/** The value of a function for arguments already evaluated; null for a NULL argument (docs/spec/aql.md#functions). */
export function callFunction(call: FunctionCall, args: readonly (Found | null)[], clock: Clock): Scalar {
  const { name } = call;
  if (isPresentTime(name)) return presentTime(name, clock);
  const values = counted(args).map((arg, index) =>
    argumentDomain(name, index) === 'number' ? numberOf(arg) : textForm(arg),
  );
  if (name === 'CONCAT_WS') return concatWithSeparator(values);
  return values.includes(null)
    ? null
    : VALUES[name](counted(values).map(String), counted(values).map(Number));
}

/** Of the arguments as texts and as numbers; none of them is NULL, and all that the function needs are there. */
type Value = (texts: readonly string[], numbers: readonly number[]) => Scalar;

const VALUES: Readonly<Record<Exclude<FunctionName, PresentTimeName | 'CONCAT_WS'>, Value>> = {
  LENGTH: ([text = '']) => Array.from(text).length,
  CONTAINS: ([text = '', part = '']) => text.includes(part),
  POSITION: ([part = '', text = '']) => positionOf(part, text),
  SUBSTRING: ([text = ''], [, from = 1, length = Infinity]) => substring(text, from, length),
  CONCAT: (texts) => texts.join(''),
  ABS: (_, [x = 0]) => Math.abs(x),
  MOD: (_, [x = 0, y = 0]) => (y === 0 ? null : plus(x % y)),
  CEIL: (_, [x = 0]) => plus(Math.ceil(x)),
  FLOOR: (_, [x = 0]) => Math.floor(x),
  ROUND: (_, [x = 0, digits = 0]) => round(x, Math.trunc(digits)),
};

function concatWithSeparator([separator, ...values]: readonly (string | number | null)[]): string | null {
  if (separator === null || separator === undefined) return null;
  return counted(values)
    .filter((value) => value !== null)
    .join(String(separator));
}

function positionOf(sought: string, text: string): number {
  const index = text.indexOf(sought);
  return index < 0 ? 0 : Array.from(text.slice(0, index)).length + 1;
}

/** From position `start` (1 is the first) `length` code points; positions before the first count, as in SQL. */
function substring(text: string, start: number, length: number): string {
  const from = Math.trunc(start);
  const to = from + Math.max(0, Math.trunc(length));
  return counted(Array.from(text))
    .filter((_, index) => index + 1 >= from && index + 1 < to)
    .join('');
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

function numberOf(arg: Found | null): number | null {
  const reading = readingOf(arg);
  return reading?.domain === 'number' ? Number(reading.key) : null;
}
