import type { JsonValue } from '../../base/json.js';
import type { NumberConstraint, PrimitiveConstraint, StringConstraint } from '../opt/constraint.js';
import { isWithin, numberRange, type Expected } from '../opt/constraint-text.js';
import { temporalCheck } from './temporal-check.js';
import { wholeTextPattern } from '../opt/whole-text-pattern.js';
import { counted } from '../../base/work.js';

/** Empty when the value is as the constraint says, else everything it may be (one for each alternative). */
export type PrimitiveCheck = (value: JsonValue) => readonly Expected[];

const FINE: readonly Expected[] = [];

/** The check of a primitive value; null when any value will do. Values of another type pass: reading refuses them. */
export function primitiveCheck(constraint: PrimitiveConstraint): PrimitiveCheck | null {
  switch (constraint.kind) {
    case 'boolean': {
      const { trueValid, falseValid } = constraint;
      if (trueValid === falseValid) return null;
      const expected = [{ text: String(trueValid), value: trueValid }];
      return (value) => (typeof value !== 'boolean' || value === trueValid ? FINE : expected);
    }
    case 'string':
      return stringCheck(constraint);
    case 'integer':
    case 'real':
      return numberCheck(constraint);
    case 'date':
    case 'time':
    case 'date-time':
    case 'duration': {
      const check = temporalCheck(constraint);
      return (value) => {
        const expected = typeof value === 'string' ? check(value) : null;
        return expected === null ? FINE : [expected];
      };
    }
  }
}

function stringCheck({ list, listOpen, pattern }: StringConstraint): PrimitiveCheck | null {
  const expression = pattern === null ? null : wholeTextPattern(pattern);
  if (listOpen || (list.length === 0 && expression === null)) return null;
  const allowed = new Set(list);
  const expected = [
    ...counted(list).map((text) => ({ text: `"${text}"`, value: text })),
    ...(expression === null ? [] : [{ text: `"/${pattern ?? ''}/"`, value: { pattern: pattern ?? '' } }]),
  ];
  return (value) => {
    if (typeof value !== 'string' || allowed.has(value) || expression?.test(value) === true) return FINE;
    return expected;
  };
}

function numberCheck({ list, range }: NumberConstraint): PrimitiveCheck | null {
  if (list.length === 0 && range === null) return null;
  const allowed = new Set(list);
  const listed = counted(list).map((number) => ({ text: String(number), value: number }));
  return (value) => {
    if (typeof value !== 'number' || allowed.has(value)) return FINE;
    if (range === null) return listed;
    return isWithin(value, range) ? FINE : [...listed, numberRange(range)];
  };
}
