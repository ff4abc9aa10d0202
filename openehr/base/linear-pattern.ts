import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { CdrError } from './errors.js';
import { patternSteps } from './work.js';

/** A regular expression of a user. */
export interface LinearPattern {
  /**
   * Whether the pattern matches the whole text, in time that grows with the length of the text only.
   * Counts its steps, characters times instructions, on the budget of the request. @throws unprocessable as `patternSteps`
   */
  readonly test: (text: string) => boolean;
  /** What the groups of the pattern match of the whole text, null each that takes no part; null: no match. As `test`. */
  readonly groups: (text: string) => readonly (string | null)[] | null;
  /** Instructions of the compiled pattern. */
  readonly size: number;
}

/** How a pattern is read. */
export interface PatternSyntax {
  /** Whether `.` matches a line break too. */
  readonly dotAll: boolean;
  /** Whether what only ECMAScript writes (`\u0041`, `\cA`, `[^]`, escapes of any sign) is understood too. */
  readonly ecmaScript: boolean;
}

/** Longest text of a pattern, in UTF-16 units. */
export const MAX_PATTERN_LENGTH = 10_000;
/** Most instructions of a compiled pattern; `a{500}` are 500. */
export const MAX_PATTERN_SIZE = 5_000;

const KEPT_INSTRUCTIONS = 500_000;
const kept = new LRUCache<string, LinearPattern>({
  maxSize: KEPT_INSTRUCTIONS,
  sizeCalculation: ({ size }, key) => size + Math.ceil(key.length / 10) + 1,
});

/**
 * Compiles a regular expression for an engine without backtracking (RE2): a pattern of a user can never keep the
 * server busy. Look-around, back references, atomic groups and possessive quantifiers do not exist there.
 * `refuse` makes the error from what is wrong. @throws what `refuse` makes
 */
export function linearPattern(
  pattern: string,
  syntax: PatternSyntax,
  refuse: (reason: string) => CdrError,
): LinearPattern {
  const key = `${syntax.dotAll ? 's' : ''}${syntax.ecmaScript ? 'e' : ''}/${pattern}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw refuse(`it has ${pattern.length} characters, at most ${MAX_PATTERN_LENGTH} are possible`);
  const compiled = compiledPattern(pattern, syntax, refuse);
  const size = compiled.programSize();
  if (size > MAX_PATTERN_SIZE)
    throw refuse(`it compiles to ${size} instructions, at most ${MAX_PATTERN_SIZE} are possible`);
  const made = {
    test: (text: string) => isMatch(compiled, size, text),
    groups: (text: string) => groupsOf(compiled, size, text),
    size,
  };
  kept.set(key, made);
  return made;
}

function compiledPattern(
  pattern: string,
  { dotAll, ecmaScript }: PatternSyntax,
  refuse: (reason: string) => CdrError,
): RE2JS {
  // The translation would read a named back reference as plain letters.
  if (ecmaScript && NAMED_REFERENCE.test(pattern)) throw refuse(unsupportedPattern('a back reference'));
  try {
    return RE2JS.compile(ecmaScript ? RE2JS.translateRegExp(pattern) : pattern, dotAll ? RE2JS.DOTALL : 0);
  } catch (error) {
    throw refuse(patternProblem(error instanceof Error ? error.message : ''));
  }
}

const NAMED_REFERENCE = /(?<!\\)(?:\\\\)*\\k</;

/** Beginnings of the piece that the engine complains about. */
const CONSTRUCTS: readonly (readonly [RegExp, string])[] = [
  [/`\(\?<[=!]/, 'look-behind'],
  [/`\(\?[=!]/, 'look-ahead'],
  [/`\(\?>/, 'an atomic group'],
  [/`\\[1-9k]/, 'a back reference'],
  [/`(?:[*+?]|\{[\d,]+\})\+/, 'a possessive quantifier'],
];

function patternProblem(message: string): string {
  const construct = CONSTRUCTS.find(([piece]) => piece.test(message))?.[1];
  if (construct !== undefined) return unsupportedPattern(construct);
  return message.replace(/^error parsing regexp: /, '').slice(0, 200);
}

function unsupportedPattern(construct: string): string {
  return `it uses ${construct}, which is not supported`;
}

function isMatch(compiled: RE2JS, size: number, text: string): boolean {
  patternSteps((text.length + 1) * size);
  return compiled.testExact(text);
}

function groupsOf(compiled: RE2JS, size: number, text: string): (string | null)[] | null {
  patternSteps((text.length + 1) * size);
  const matcher = compiled.matcher(text);
  if (!matcher.matches()) return null;
  return Array.from({ length: compiled.groupCount() }, (_, index) => matcher.group(index + 1));
}
