import type { FunctionCall, Literal, ValueExpression } from '../../syntax/ast.js';
import { argumentDomain, functionDomain, isPresentTime } from '../../syntax/functions.js';
import type { FunctionBodies } from '../../syntax/functions.js';
import { presentTime } from '../../semantics/present-time.js';
import type { Clock } from '../../semantics/present-time.js';
import type { Domain } from '../../semantics/scope-types.js';
import { call, conjunction, literal, present, variable } from '../../plan/expression.js';
import type { Expression } from '../../plan/expression.js';
import { counted } from '../../../openehr/base/work.js';

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

/** Value and domain of a call: null where an argument is (docs/spec/aql.md#functions). */
export function functionValue(
  functionCall: FunctionCall,
  args: Arguments,
  clock: Clock,
): { readonly value: Expression; readonly domain: Domain } {
  const { name } = functionCall;
  const domain = functionDomain(name);
  if (isPresentTime(name)) return { value: literal(presentTime(name, clock)), domain };
  const values = counted(functionCall.args).map((arg, index) =>
    argumentDomain(name, index) === 'number' ? args.number(arg) : args.text(arg),
  );
  if (name === 'CONCAT_WS') return { value: joinPresent(values), domain };
  if (values.includes(null)) return { value: null, domain };
  const vars = Object.fromEntries(counted(values).map((value, index) => [`a${index}`, value]));
  const refs = counted(Object.keys(vars)).map((argument) => variable(argument));
  const given = counted(functionCall.args).map((arg, index) =>
    arg.kind === 'function' ? orNeutral(`a${index}`, argumentDomain(name, index)) : variable(`a${index}`),
  );
  // The table says of each argument what it is, and the checks how many there are.
  const bodyOf: (...args: readonly Expression[]) => Expression = BODIES[name];
  const guarded = call('$cond', [conjunction(counted(refs).map(present)), bodyOf(...given), null]);
  return { value: call('$let', { vars, in: guarded }), domain };
}

/**
 * What calls give may be null in every row: the database works out what is constant before it looks whether it is needed, and
 * fails there.
 */
function orNeutral(argument: string, domain: 'text' | 'number'): Expression {
  return call('$ifNull', [variable(argument), domain === 'number' ? 1 : literal('')]);
}

const BODIES: FunctionBodies<{ text: Expression; number: Expression }, Expression> = {
  LENGTH: (text) => call('$strLenCP', text),
  CONTAINS: (text, part) => call('$gte', [call('$indexOfCP', [text, part]), 0]),
  POSITION: (part, text) => call('$add', [call('$indexOfCP', [text, part]), 1]),
  SUBSTRING: substring,
  CONCAT: (...texts) => call('$concat', texts),
  ABS: (number) => call('$abs', number),
  MOD: (number, divisor) => call('$mod', [number, call('$cond', [call('$eq', [divisor, 0]), null, divisor])]),
  CEIL: (number) => call('$ceil', number),
  FLOOR: (number) => call('$floor', number),
  ROUND: roundHalfAway,
};

/** As SQL: positions count from 1, those before the text use up the length. */
function substring(text: Expression, from: Expression, length?: Expression): Expression {
  const start = call('$subtract', [call('$trunc', from), 1]);
  const first = position(variable('start'));
  if (length === undefined)
    return call('$let', { vars: { start }, in: call('$substrCP', [text, first, call('$strLenCP', text)]) });
  const end = position(call('$add', [variable('start'), call('$trunc', length)]));
  return call('$let', {
    vars: { start },
    in: call('$substrCP', [text, first, call('$max', [call('$subtract', [end, first]), 0])]),
  });
}

/** Beyond the end of any text. */
const FAR = 1_000_000_000;

/** A place in a text as the whole number of 32 bits that `$substrCP` takes. */
function position(number: Expression): Expression {
  return call('$toInt', call('$min', [call('$max', [number, 0]), FAR]));
}

/** MongoDB rounds halves to even; AQL rounds them away from zero, and reads numbers as they are written. */
function roundHalfAway(number: Expression, digits?: Expression): Expression {
  const size = call('$abs', call('$toDecimal', number));
  const half = call('$toDecimal', '0.5');
  const signed = (rounded: Expression): Expression =>
    call('$toDouble', call('$cond', [call('$lt', [number, 0]), call('$multiply', [-1, rounded]), rounded]));
  if (digits === undefined) return signed(call('$floor', call('$add', [size, half])));
  const inRange = call('$max', [call('$min', [call('$trunc', digits), MOST_DIGITS]), -MOST_DIGITS]);
  const factor = call('$toDecimal', call('$pow', [10, inRange]));
  const scaled = call('$multiply', [size, variable('factor')]);
  const rounded = call('$divide', [call('$floor', call('$add', [scaled, half])), variable('factor')]);
  // A number has no digits to round behind those that a decimal number holds.
  const isWhole = call('$gt', [scaled, DECIMAL_WHOLE]);
  const inDigits = call('$cond', [isWhole, call('$toDouble', number), signed(rounded)]);
  return call('$cond', [
    call('$lt', [digits, -MOST_DIGITS]),
    0,
    call('$let', { vars: { factor }, in: inDigits }),
  ]);
}

/** 10 to the power of more is no double. */
const MOST_DIGITS = 300;
/** 34 digits are what a Decimal128 holds. */
const DECIMAL_WHOLE = 1e30;

/** CONCAT_WS leaves out what is missing; without separator there is nothing. */
function joinPresent([separator, ...texts]: readonly Expression[]): Expression {
  const there = call('$filter', { input: [...texts], as: 't', cond: present(variable('t')) });
  const joined = call('$reduce', {
    input: there,
    initialValue: null,
    in: call('$cond', [
      present(variable('value')),
      call('$concat', [variable('value'), variable('separator'), variable('this')]),
      variable('this'),
    ]),
  });
  return call('$let', {
    vars: { separator: separator ?? null },
    in: call('$cond', [present(variable('separator')), call('$ifNull', [joined, literal('')]), null]),
  });
}
