import { distance } from 'fastest-levenshtein';

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
