import type { Literal, NumberLiteral, Parameter, StringLiteral } from './ast.js';
import { decodeString } from './string-literal.js';
import { syntaxError } from './aql-error.js';
import type { Cursor } from './cursor.js';

/** A literal when one stands here, else null. AQL 1.1: primitive. */
export function takeLiteral(cursor: Cursor): Literal | null {
  const { kind, upper, at } = cursor.token;
  if (kind === 'string') return expectString(cursor);
  if (kind === 'integer' || kind === 'real') return expectNumber(cursor);
  if (kind !== 'word' || (upper !== 'TRUE' && upper !== 'FALSE' && upper !== 'NULL')) return null;
  cursor.count('literals');
  cursor.advance();
  return upper === 'NULL' ? { kind: 'null', at } : { kind: 'boolean', value: upper === 'TRUE', at };
}

/** A literal or parameter when one stands here, else null. */
export function takeLiteralOrParameter(cursor: Cursor): Literal | Parameter | null {
  return takeParameter(cursor) ?? takeLiteral(cursor);
}

/** `$name` when it stands here, else null. */
export function takeParameter(cursor: Cursor): Parameter | null {
  const { kind, at } = cursor.token;
  if (kind !== 'parameter') return null;
  cursor.count('literals');
  return { kind: 'parameter', name: cursor.advance().text, at };
}

/** A string or parameter. `isPattern`: of LIKE, where `\?` keeps its backslash. @throws invalid */
export function expectStringOrParameter(
  cursor: Cursor,
  what: string,
  isPattern = false,
): StringLiteral | Parameter {
  const parameter = takeParameter(cursor);
  if (parameter !== null) return parameter;
  if (cursor.token.kind !== 'string') cursor.fail(what);
  return expectString(cursor, isPattern);
}

/** A number. @throws invalid for an integer or real that is too large (docs/spec/aql.md#lexical-rules) */
export function expectNumber(cursor: Cursor): NumberLiteral {
  const { kind, text, at } = cursor.token;
  if (kind !== 'integer' && kind !== 'real') cursor.fail('a number');
  const value = Number(text);
  const isHeld = kind === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!isHeld) throw syntaxError(at, 'the number is too large to be held exactly');
  cursor.count('literals');
  cursor.advance();
  return { kind, value: value === 0 ? 0 : value, at };
}

function expectString(cursor: Cursor, isPattern = false): StringLiteral {
  cursor.count('literals');
  const { text, at } = cursor.advance();
  return { kind: 'string', value: decodeString(text, isPattern), at };
}
