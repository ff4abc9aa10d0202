import { isKeptDecimal } from '../base/text.js';
import { CdrError, DEFAULT_MAX_NODES, tooManyNodes } from '../base/errors.js';
import type { JsonValue } from '../base/json.js';
import { endOfString, readJsonCarefully } from './json-reader.js';
import { counted, step, characters } from '../base/work.js';

/** Bounds of a JSON text. */
export interface JsonLimits {
  /** Deepest nesting of objects and arrays; 150 unless given (MongoDB refuses documents from 180). */
  readonly maxDepth?: number;
  /** Objects, arrays and scalars together; `DEFAULT_MAX_NODES` unless given. */
  readonly maxNodes?: number;
}

/** What one pass over the characters of a JSON text finds before anything is parsed. */
interface JsonSurvey {
  /** Colons outside strings: the number of keys, if the text is well-formed. */
  readonly colons: number;
  readonly nodes: number;
  /** Whether the text holds something that only the careful reader can validate. */
  readonly suspicious: boolean;
}

/** Deepest nesting of objects and arrays. */
export const DEFAULT_MAX_DEPTH = 150;
/** No double loses a decimal of so many characters without exponent: 15 digits, a point, a sign. */
const SAFE_NUMBER_LENGTH = 15;
const NEEDS_CARE = /__proto__|\\u(?:005[fF]|[dD][89a-fA-F])/;

const OTHER = 0;
const STRING = 1;
const NAME = 2;
const OPEN = 3;
const CLOSE = 4;
const NUMBER = 5;
const WORD = 6;
/** What begins with a character, by its code. */
const KIND = new Uint8Array(128);
for (const [characters, kind] of [
  ['"', STRING],
  [':', NAME],
  ['[{', OPEN],
  [']}', CLOSE],
  ['-0123456789', NUMBER],
  ['tfn', WORD],
] as const)
  for (const character of counted(characters)) KIND[character.charCodeAt(0)] = kind;
const NUMBER_CHARACTERS = new Set(
  counted(Array.from('0123456789+-.eE')).map((character) => character.charCodeAt(0)),
);

/**
 * Parses JSON with the guards of a public interface: nesting and the number of nodes are bounded before anything is
 * parsed, no number has more digits than a double keeps, no key is `__proto__`, no key stands twice with different values, no
 * surrogate stands alone. A byte order mark is skipped.
 *
 * @throws invalid on anything else than one well-formed JSON value; the message names the position or path;
 * too-large when it has too many nodes
 */
export function parseJson(text: string, limits: JsonLimits = {}): JsonValue {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const { maxDepth = DEFAULT_MAX_DEPTH, maxNodes = DEFAULT_MAX_NODES } = limits;
  const survey = surveyJson(json, maxDepth, maxNodes);
  if (survey.suspicious || NEEDS_CARE.test(json)) return readJsonCarefully(json);
  try {
    const value = JSON.parse(json) as JsonValue;
    return countKeys(value) === survey.colons ? value : readJsonCarefully(json);
  } catch {
    return readJsonCarefully(json);
  }
}

/** The number of nodes of a JSON text, about that many when it is not well-formed. */
export function nodesOfJson(json: string): number {
  return surveyJson(json, Infinity, Infinity).nodes;
}

/** Writes canonical JSON text, without white space. */
export function stringifyCanonical(value: JsonValue): string {
  return JSON.stringify(value);
}

/** Every string, number, word and bracket that opens is a node, but a string before a colon is a key. */
function surveyJson(json: string, maxDepth: number, maxNodes: number): JsonSurvey {
  let depth = 0;
  let colons = 0;
  let beginnings = 0;
  let suspicious = false;
  characters(json);
  for (let at = 0; at < json.length; at++) {
    const kind = KIND[json.charCodeAt(at)] ?? OTHER;
    if (kind === OTHER) continue;
    if (kind === NAME) {
      colons++;
      continue;
    }
    if (kind === CLOSE) {
      depth--;
      continue;
    }
    beginnings++;
    if (beginnings - colons > maxNodes) throw tooManyNodes('JSON', maxNodes);
    if (kind === STRING) at = endOfString(json, at);
    else if (kind === OPEN) depth = deeper(depth, maxDepth, at);
    else if (kind === NUMBER) {
      const end = endOfNumber(json, at);
      suspicious ||= !isSafeNumber(json, at, end);
      at = end - 1;
    }
  }
  return { colons, nodes: beginnings - colons, suspicious };
}

function deeper(depth: number, maxDepth: number, at: number): number {
  if (depth === maxDepth)
    throw new CdrError('invalid', `JSON is nested deeper than ${maxDepth} levels at position ${at}`);
  return depth + 1;
}

function endOfNumber(json: string, start: number): number {
  let end = start + 1;
  while (end < json.length && NUMBER_CHARACTERS.has(json.charCodeAt(end))) end++;
  step(end - start);
  return end;
}

function isSafeNumber(json: string, start: number, end: number): boolean {
  if (end - start === 1) return true;
  const literal = json.slice(start, end);
  if (end - start <= SAFE_NUMBER_LENGTH && !/[eE]/.test(literal)) return true;
  return isKeptDecimal(literal);
}

function countKeys(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of counted(value)) if (typeof item === 'object') keys += countKeys(item);
    return keys;
  }
  for (const name in value) {
    step();
    keys++;
    const member = value[name];
    if (typeof member === 'object') keys += countKeys(member);
  }
  return keys;
}
