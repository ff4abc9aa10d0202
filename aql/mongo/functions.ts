import type { FunctionCall, FunctionName, Literal, ValueExpression } from '../syntax/ast.js';
import { FUNCTION_DOMAINS, argumentDomain, isPresentTime } from '../semantics/function-domains.js';
import { presentTime } from '../semantics/present-time.js';
import type { Clock } from '../semantics/present-time.js';
import type { Domain } from '../semantics/scope-types.js';
import { conjunction, literal, present } from '../plan/expression.js';
import type { Expression } from '../plan/expression.js';

/** How the arguments of a call become expressions that are null when they have no value of the kind. */
export interface Arguments {
  readonly text: (value: ValueExpression) => Expression;
  readonly number: (value: ValueExpression) => Expression;
}

/** A call that gives the same literal in every row; null for others. */
export function constantFunction(call: FunctionCall, clock: Clock): Literal | null {
  return isPresentTime(call.name)
    ? { kind: 'string', value: presentTime(call.name, clock), at: call.at }
    : null;
}

/** Value and domain of a call that depends on the row: null where an argument is (docs/spec/aql.md#functions). */
export function functionValue(
  call: FunctionCall,
  args: Arguments,
): { readonly value: Expression; readonly domain: Domain } {
  const values = call.args.map((arg, index) =>
    argumentDomain(call.name, index) === 'number' ? args.number(arg) : args.text(arg),
  );
  const domain = FUNCTION_DOMAINS[call.name];
  if (call.name === 'CONCAT_WS') return { value: joinPresent(values), domain };
  const names = values.map((_, index) => `a${index}`);
  const refs = names.map((name) => `$$${name}`);
  const body = BODIES[call.name]?.(refs) ?? null;
  const vars = Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));
  const guarded = { $cond: [conjunction(refs.map(present)), body, null] };
  return { value: { $let: { vars, in: guarded } }, domain };
}

type Body = (args: readonly string[]) => Expression;

/** What each function gives when all arguments are there. */
const BODIES: Readonly<Partial<Record<FunctionName, Body>>> = {
  LENGTH: ([text = '']) => ({ $strLenCP: text }),
  CONTAINS: ([text = '', part = '']) => ({ $gte: [{ $indexOfCP: [text, part] }, 0] }),
  POSITION: ([part = '', text = '']) => ({ $add: [{ $indexOfCP: [text, part] }, 1] }),
  SUBSTRING: ([text = '', from = '', length]) => substring(text, from, length ?? null),
  CONCAT: (texts) => ({ $concat: [...texts] }),
  ABS: ([number = '']) => ({ $abs: number }),
  MOD: ([number = '', divisor = '']) => ({
    // Null inside, not around: a constant division by zero fails before any condition is looked at.
    $mod: [number, { $cond: [{ $eq: [divisor, 0] }, null, divisor] }],
  }),
  CEIL: ([number = '']) => ({ $ceil: number }),
  FLOOR: ([number = '']) => ({ $floor: number }),
  ROUND: ([number = '', digits]) => roundHalfAway(number, digits ?? null),
};

/** As SQL: positions count from 1, those before the text use up the length. */
function substring(text: string, from: string, length: string | null): Expression {
  const start = { $subtract: [{ $toInt: { $trunc: from } }, 1] };
  const first = { $max: ['$$start', 0] };
  if (length === null)
    return {
      $let: { vars: { start }, in: { $substrCP: [text, first, { $strLenCP: text }] } },
    };
  const end = { $add: ['$$start', { $toInt: { $trunc: length } }] };
  return {
    $let: {
      vars: { start },
      in: { $substrCP: [text, first, { $max: [{ $subtract: [end, first] }, 0] }] },
    },
  };
}

/** MongoDB rounds halves to even; AQL rounds them away from zero, and reads numbers as they are written. */
function roundHalfAway(number: string, digits: string | null): Expression {
  const size = { $abs: { $toDecimal: number } };
  const half = { $toDecimal: '0.5' };
  const signed = (rounded: Expression): Expression => ({
    $toDouble: { $cond: [{ $lt: [number, 0] }, { $multiply: [-1, rounded] }, rounded] },
  });
  if (digits === null) return signed({ $floor: { $add: [size, half] } });
  const factor = { $toDecimal: { $pow: [10, { $trunc: digits }] } };
  const rounded = { $divide: [{ $floor: { $add: [{ $multiply: [size, '$$factor'] }, half] } }, '$$factor'] };
  return { $let: { vars: { factor }, in: signed(rounded) } };
}

/** CONCAT_WS leaves out what is missing; without separator there is nothing. */
function joinPresent([separator, ...texts]: readonly Expression[]): Expression {
  const there = { $filter: { input: [...texts], as: 't', cond: present('$$t') } };
  const joined = {
    $reduce: {
      input: there,
      initialValue: null,
      in: {
        $cond: [present('$$value'), { $concat: ['$$value', '$$separator', '$$this'] }, '$$this'],
      },
    },
  };
  return {
    $let: {
      vars: { separator: separator ?? null },
      in: { $cond: [present('$$separator'), { $ifNull: [joined, literal('')] }, null] },
    },
  };
}
