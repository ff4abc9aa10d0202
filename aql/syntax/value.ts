import type {
  Aggregate,
  AggregateName,
  FunctionCall,
  StringLiteral,
  Parameter,
  TerminologyCall,
  ValueExpression,
  Unbound,
} from './ast.js';
import { nearestWord } from '../../openehr/base/text.js';
import { isFunctionName } from './functions.js';
import { FUNCTION_WORDS, isAggregateName } from './words.js';
import { syntaxError } from './aql-error.js';
import type { Cursor } from './cursor.js';
import { expectStringOrParameter, takeLiteralOrParameter } from './literal.js';
import { parsePath } from './path.js';

/** A function call, TERMINOLOGY or aggregate when a word with `(` stands here, else null. @throws invalid */
export function takeCall(
  cursor: Cursor,
): FunctionCall<Unbound> | TerminologyCall | Aggregate<Unbound> | null {
  const { kind, upper, text, at } = cursor.token;
  const next = cursor.peek(1);
  if (kind !== 'word' || next.kind !== 'symbol' || next.text !== '(') return null;
  if (isAggregateName(upper)) return parseAggregate(cursor, upper);
  if (upper === 'TERMINOLOGY') return parseTerminology(cursor);
  if (isFunctionName(upper)) {
    cursor.count('operands');
    cursor.advance();
    return { kind: 'function', name: upper, args: parseArguments(cursor), at };
  }
  const nearest = nearestWord(text, FUNCTION_WORDS);
  const meant = nearest === null ? '' : `; did you mean ${nearest}?`;
  throw syntaxError(at, `unknown function '${text}'${meant}`);
}

/** A literal, parameter, path or function. AQL 1.1: terminal. @throws invalid */
export function parseValue(cursor: Cursor, what = 'a value, a path or a function'): ValueExpression<Unbound> {
  const literal = takeLiteralOrParameter(cursor);
  if (literal !== null) return literal;
  return parseOperandPath(cursor, what);
}

/** A path or function, no literal. @throws invalid */
export function parseOperandPath(
  cursor: Cursor,
  what: string,
): Exclude<ValueExpression<Unbound>, { kind: 'parameter' }> {
  const call = takeCall(cursor);
  if (call === null) return parsePath(cursor, what);
  if (call.kind === 'aggregate')
    throw syntaxError(call.at, `the aggregate ${call.name} can stand in SELECT and ORDER BY only`);
  return call;
}

function parseArguments(cursor: Cursor): readonly ValueExpression<Unbound>[] {
  return cursor.nested(() => {
    cursor.expectSymbol('(');
    const args: ValueExpression<Unbound>[] = [];
    if (cursor.takeSymbol(')') !== null) return args;
    do args.push(parseValue(cursor));
    while (cursor.takeSymbol(',') !== null);
    cursor.expectSymbol(')', ["','"]);
    return args;
  });
}

/** `TERMINOLOGY('expand', 'service', 'parameters')`. @throws invalid */
export function parseTerminology(cursor: Cursor): TerminologyCall {
  const { at } = cursor.expectWord('TERMINOLOGY');
  const next = (): StringLiteral | Parameter => expectStringOrParameter(cursor, 'a string or parameter');
  cursor.expectSymbol('(');
  const operation = next();
  cursor.expectSymbol(',');
  const service = next();
  cursor.expectSymbol(',');
  const parameters = next();
  cursor.expectSymbol(')');
  return { kind: 'terminology', args: [operation, service, parameters], at };
}

function parseAggregate(cursor: Cursor, name: AggregateName): Aggregate<Unbound> {
  const { at } = cursor.advance();
  cursor.expectSymbol('(');
  if (name === 'COUNT' && cursor.takeSymbol('*') !== null) {
    cursor.expectSymbol(')');
    return { kind: 'aggregate', name, distinct: false, argument: null, at };
  }
  if (name !== 'COUNT' && cursor.isWord('DISTINCT'))
    throw syntaxError(cursor.token.at, `DISTINCT is possible in COUNT, not in ${name}`);
  const distinct = cursor.takeWord('DISTINCT') !== null;
  const argument = cursor.nested(() => parseOperandPath(cursor, 'a path'));
  if (argument.kind !== 'path' && argument.kind !== 'function')
    throw syntaxError(argument.at, `the argument of ${name} must be a path or a function`);
  cursor.expectSymbol(')');
  return { kind: 'aggregate', name, distinct, argument, at };
}
