import { isKeptDecimal } from '../base/text.js';
import { CdrError } from '../base/errors.js';
import { syntaxViolation } from '../base/violation.js';
import type { JsonObject, JsonValue } from '../base/json.js';
import { step } from '../base/work.js';

/** Where the reader stands: the text, the next position, the path of the value being read. */
interface Cursor {
  readonly text: string;
  at: number;
  readonly path: string[];
}

const BACKSLASH = 92;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WHITE_SPACE = /[ \t\r\n]*/y;
const LONE_SURROGATE = /\p{Surrogate}/u;
const PLAIN_NAME = /^[\w|:-]+$/;
const WORDS: readonly (readonly [string, JsonValue])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

/**
 * Reads JSON knowing the path of every value: slower than `JSON.parse`, used where that one failed or where a
 * text holds something it would lose. Nesting must have been bounded before.
 *
 * @throws invalid naming the position (line and column) of what is malformed, or the path of a number that a
 * double cannot hold, of a key `__proto__`, of a key given twice with different values
 */
export function readJsonCarefully(text: string): JsonValue {
  const cursor: Cursor = { text, at: 0, path: [] };
  skipWhiteSpace(cursor);
  if (cursor.at === text.length)
    throw new CdrError('invalid', 'a JSON value was expected but the text is empty');
  const value = readJsonValue(cursor);
  skipWhiteSpace(cursor);
  if (cursor.at < text.length) malformed(cursor, 'the end of the text');
  return value;
}

/** Position of the closing quote of the string that opens at `start`, or the length of the text without one. */
export function endOfString(json: string, start: number): number {
  let quote = json.indexOf('"', start + 1);
  while (quote > 0 && isEscaped(json, quote)) {
    step();
    quote = json.indexOf('"', quote + 1);
  }
  return quote < 0 ? json.length : quote;
}

function isEscaped(json: string, at: number): boolean {
  let before = at - 1;
  while (json.charCodeAt(before) === BACKSLASH) {
    step();
    before--;
  }
  return (at - before) % 2 === 0;
}

function readJsonValue(cursor: Cursor): JsonValue {
  step();
  const first = cursor.text[cursor.at];
  if (first === '{') return readJsonObject(cursor);
  if (first === '[') return readArray(cursor);
  if (first === '"') return readString(cursor);
  for (const [word, value] of WORDS)
    if (cursor.text.startsWith(word, cursor.at)) {
      cursor.at += word.length;
      return value;
    }
  return readNumber(cursor);
}

function readJsonObject(cursor: Cursor): JsonObject {
  const object: JsonObject = {};
  if (opens(cursor, '}')) return object;
  do {
    step();
    skipWhiteSpace(cursor);
    if (cursor.text[cursor.at] !== '"') malformed(cursor, 'a property name in quotes');
    const name = readString(cursor);
    if (name === '__proto__')
      throw new CdrError('invalid', `the property name __proto__ is not allowed at ${cursorPath(cursor)}`);
    skipWhiteSpace(cursor);
    if (cursor.text[cursor.at] !== ':') malformed(cursor, "':'");
    cursor.at++;
    skipWhiteSpace(cursor);
    cursor.path.push(memberStep(name));
    const value = readJsonValue(cursor);
    if (Object.hasOwn(object, name) && JSON.stringify(object[name]) !== JSON.stringify(value))
      throw new CdrError(
        'invalid',
        `the property ${cursorPath(cursor)} is given twice with different values`,
      );
    cursor.path.pop();
    object[name] = value;
  } while (continues(cursor, '}'));
  return object;
}

function readArray(cursor: Cursor): JsonValue[] {
  const items: JsonValue[] = [];
  if (opens(cursor, ']')) return items;
  do {
    step();
    skipWhiteSpace(cursor);
    cursor.path.push(`[${items.length}]`);
    items.push(readJsonValue(cursor));
    cursor.path.pop();
  } while (continues(cursor, ']'));
  return items;
}

/** Steps over the opening bracket; true when the closing one follows at once. */
function opens(cursor: Cursor, close: string): boolean {
  cursor.at++;
  skipWhiteSpace(cursor);
  if (cursor.text[cursor.at] !== close) return false;
  cursor.at++;
  return true;
}

/** Steps over a comma (true) or the closing bracket (false). */
function continues(cursor: Cursor, close: string): boolean {
  skipWhiteSpace(cursor);
  const next = cursor.text[cursor.at];
  if (next !== ',' && next !== close) malformed(cursor, `',' or '${close}'`);
  cursor.at++;
  return next === ',';
}

function readString(cursor: Cursor): string {
  const literal = cursor.text.slice(cursor.at, endOfString(cursor.text, cursor.at) + 1);
  const value = jsonString(literal);
  if (value === null) malformed(cursor, 'a complete string without control characters or unknown escapes');
  if (LONE_SURROGATE.test(value))
    throw new CdrError(
      'invalid',
      `a string with half a surrogate pair is not allowed at ${cursorPath(cursor)}`,
    );
  cursor.at += literal.length;
  return value;
}

function jsonString(literal: string): string | null {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return null;
  }
}

function readNumber(cursor: Cursor): number {
  const literal = match(cursor, NUMBER);
  if (literal === null) malformed(cursor, 'a value');
  if (!isKeptDecimal(literal))
    throw new CdrError(
      'invalid',
      `the number at ${cursorPath(cursor)} cannot be kept: it has more than 17 significant digits, is a whole number beyond 2^53, or too large`,
    );
  cursor.at += literal.length;
  return Number(literal);
}

function match(cursor: Cursor, pattern: RegExp): string | null {
  pattern.lastIndex = cursor.at;
  return pattern.exec(cursor.text)?.[0] ?? null;
}

function skipWhiteSpace(cursor: Cursor): void {
  cursor.at += match(cursor, WHITE_SPACE)?.length ?? 0;
}

function memberStep(name: string): string {
  return PLAIN_NAME.test(name) ? `/${name}` : `/${JSON.stringify(name)}`;
}

function cursorPath(cursor: Cursor): string {
  return cursor.path.length === 0 ? '/' : cursor.path.join('');
}

function malformed(cursor: Cursor, expected: string): never {
  const before = cursor.text.slice(0, cursor.at);
  const line = before.split('\n').length;
  const column = cursor.at - (before.lastIndexOf('\n') + 1) + 1;
  const found = cursor.at < cursor.text.length ? '' : ', found the end of the text';
  const message = `malformed JSON at position ${cursor.at} (line ${line}, column ${column}): expected ${expected}${found}`;
  throw new CdrError('invalid', message, { problems: [syntaxViolation({ line, column }, message)] });
}
