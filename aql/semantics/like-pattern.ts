import { CdrError } from '../../openehr/base/errors.js';
import { counted, step } from '../../openehr/base/work.js';

/** One part of a LIKE pattern between two `*`: signs to be met one by one, null = any one character. */
type Segment = readonly (string | null)[];

/**
 * Cuts a LIKE pattern at its `*`: a backslash before one of `* ? \` means that sign itself (docs/spec/aql.md#like).
 * @throws invalid for another escape
 */
function segmentsOf(pattern: string): readonly Segment[] {
  const segments: (string | null)[][] = [[]];
  const signs = counted(Array.from(pattern));
  for (let index = 0; index < signs.length; index++) {
    const sign = signs[index] ?? '';
    const segment = segments[segments.length - 1];
    if (sign === '*') segments.push([]);
    else segment?.push(sign === '?' ? null : sign === '\\' ? escaped(signs[++index], pattern) : sign);
  }
  return segments;
}

function escaped(sign: string | undefined, pattern: string): string {
  if (sign === '*' || sign === '?' || sign === '\\') return sign;
  throw new CdrError('invalid', `Invalid LIKE pattern: ${pattern.slice(0, 200)}`);
}

/**
 * The pattern of LIKE as a PCRE regular expression over the whole value, for the option `s`. Segments are atomic
 * groups: the first place where one fits is as good as any later one, so the search never goes back.
 * @throws invalid for a bad escape
 */
export function likeRegex(pattern: string): string {
  const [first = [], ...others] = counted(segmentsOf(pattern)).map((segment) =>
    counted(segment).map(signRegex).join(''),
  );
  const last = others.pop();
  const middle = counted(others)
    .filter((segment) => segment !== '')
    .map((segment) => `(?>.*?${segment})`);
  return `^${String(first)}${middle.join('')}${last === undefined ? '' : `.*${last}`}\\z`;
}

function signRegex(sign: string | null): string {
  if (sign === null) return '.';
  // The database takes no pattern with a NUL in it.
  if (sign === '\0') return '\\x{0}';
  return /[\\^$.*+?()[\]{}|/#-]/.test(sign) ? `\\${sign}` : sign;
}

/** Most signs that `isLike` compares: the text for one segment, the text times the longest segment for several. */
export function likeSteps(value: string, pattern: string): number {
  const inner = pattern.split('*').slice(1, -1);
  const longest = counted(inner).reduce((most, segment) => Math.max(most, segment.length), 1);
  return pattern.length + value.length * (inner.length === 0 ? 1 : longest);
}

/** Whether a value is LIKE a pattern: the same meaning as `likeRegex`, in at most length times length steps. */
export function isLike(value: string, pattern: string): boolean {
  const [first = [], ...others] = segmentsOf(pattern);
  const text = Array.from(value);
  const last = others.pop();
  if (!fitsAt(text, first, 0)) return false;
  if (last === undefined) return text.length === first.length;
  let at = first.length;
  step(text.length);
  for (const segment of counted(others)) {
    while (at + segment.length <= text.length && !fitsAt(text, segment, at)) at++;
    if (!fitsAt(text, segment, at)) return false;
    at += segment.length;
  }
  const tail = text.length - last.length;
  return tail >= at && fitsAt(text, last, tail);
}

function fitsAt(text: readonly string[], segment: Segment, at: number): boolean {
  if (at + segment.length > text.length) return false;
  return counted(segment).every((sign, index) => sign === null || sign === text[at + index]);
}

/** Refuses a bad LIKE pattern. @throws invalid */
export function checkLikePattern(pattern: string): void {
  segmentsOf(pattern);
}
