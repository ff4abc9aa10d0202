import { unreachable } from '../../openehr/base/errors.js';
import type { FunctionCall, FunctionName } from '../syntax/ast.js';
import { argumentDomain } from '../semantics/function-domains.js';
import { presentTime, type Clock } from '../semantics/present-time.js';
import { readingOf, textForm, type Found } from './value.js';

type Scalar = string | number | boolean | null;

/** The value of a function for arguments already evaluated; null for a NULL argument (docs/spec/aql.md#functions). */
export function callFunction(call: FunctionCall, args: readonly (Found | null)[], clock: Clock): Scalar {
  const { name } = call;
  const values = args.map((arg, index) =>
    argumentDomain(name, index) === 'number' ? numberOf(arg) : textForm(arg),
  );
  if (name === 'CONCAT_WS') return concatWithSeparator(values);
  if (values.includes(null)) return null;
  const texts = values.map(String);
  const numbers = values.map(Number);
  return isNumeric(name) ? numeric(name, numbers) : textual(name, texts, numbers, clock);
}

type NumericName = 'ABS' | 'MOD' | 'CEIL' | 'FLOOR' | 'ROUND';

function isNumeric(name: FunctionName): name is NumericName {
  return ['ABS', 'MOD', 'CEIL', 'FLOOR', 'ROUND'].includes(name);
}

function numeric(name: NumericName, [x = 0, y = 0]: readonly number[]): number | null {
  switch (name) {
    case 'ABS':
      return Math.abs(x);
    case 'MOD':
      return y === 0 ? null : plus(x % y);
    case 'CEIL':
      return plus(Math.ceil(x));
    case 'FLOOR':
      return Math.floor(x);
    case 'ROUND':
      return round(x, Math.trunc(y));
    default:
      return unreachable(name);
  }
}

function textual(
  name: Exclude<FunctionName, NumericName | 'CONCAT_WS'>,
  texts: readonly string[],
  numbers: readonly number[],
  clock: Clock,
): Scalar {
  const [first = '', second = ''] = texts;
  switch (name) {
    case 'LENGTH':
      return Array.from(first).length;
    case 'CONTAINS':
      return first.includes(second);
    case 'POSITION':
      return positionOf(first, second);
    case 'SUBSTRING':
      return substring(first, numbers[1] ?? 1, texts.length > 2 ? (numbers[2] ?? 0) : Infinity);
    case 'CONCAT':
      return texts.join('');
    default:
      return presentTime(name, clock);
  }
}

function concatWithSeparator([separator, ...values]: readonly (string | number | null)[]): string | null {
  if (separator === null || separator === undefined) return null;
  return values.filter((value) => value !== null).join(String(separator));
}

function positionOf(sought: string, text: string): number {
  const index = text.indexOf(sought);
  return index < 0 ? 0 : Array.from(text.slice(0, index)).length + 1;
}

/** From position `start` (1 is the first) `length` code points; positions before the first count, as in SQL. */
function substring(text: string, start: number, length: number): string {
  const from = Math.trunc(start);
  const to = from + Math.max(0, Math.trunc(length));
  return Array.from(text)
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
