import { distance } from 'fastest-levenshtein';

/** More digits than these no double distinguishes: 17 are what a double needs at most to be written. */
const MAX_DIGITS = 17;

/**
 * Whether a number is taken from its decimal literal: up to 17 significant digits, which is what programs write for a
 * double (`0.10000000000000001`), and whole numbers up to 2^53, beyond which they would change. Zeros at either end do
 * not count. The literal must be a number. docs/spec/formats.md#numbers
 */
export function isKeptDecimal(literal: string): boolean {
  const value = Number(literal);
  const digits = significantDigits(literal);
  if (!Number.isFinite(value) || digits.length > MAX_DIGITS || (value === 0 && digits !== '')) return false;
  const isWhole = /^[+-]?\d+$/.test(literal);
  return !isWhole || Math.abs(value) <= Number.MAX_SAFE_INTEGER || /^[+-]?0*9007199254740992$/.test(literal);
}

/** The digits of the mantissa without zeros at either end. */
function significantDigits(literal: string): string {
  const [mantissa = ''] = literal.toLowerCase().split('e');
  return mantissa
    .replace(/[^\d]/g, '')
    .replace(/^0+/, '')
    .replace(/(?<!0)0+$/, '');
}

/**
 * A text with the letters a to z in capitals, and every other one as it is: by the rules of Unicode a name with a letter that
 * only looks like them (`ı`, `ſ`) would become another name.
 */
export function asciiUpperCase(text: string): string {
  return text.replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

/** An xs:token, which all ids of openEHR are: runs of white space are one space, and none is at an end. */
export function collapsedToken(text: string): string {
  return text.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '');
}

/** Longer words are compared with nothing: the time grows with the product of the lengths. */
const MAX_LENGTH = 64;

/** The candidate that was probably meant by a misspelt word (at most two slips, one in short words), else null. */
export function nearestWord(word: string, candidates: Iterable<string>): string | null {
  const given = word.toLowerCase();
  if (given.length > MAX_LENGTH) return null;
  let best: string | null = null;
  let bestSlips = given.length < 4 ? 2 : 3;
  for (const candidate of candidates) {
    const slips = distance(given, candidate.toLowerCase());
    if (slips > 0 && slips < bestSlips) [best, bestSlips] = [candidate, slips];
  }
  return best;
}
