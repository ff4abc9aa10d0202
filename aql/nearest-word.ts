/** The candidate that was probably meant by a misspelt word (at most two slips, fewer in short words), else null. */
export function nearestWord(word: string, candidates: Iterable<string>): string | null {
  const given = word.toLowerCase();
  if (given.length > 40) return null;
  let best: string | null = null;
  let bestSlips = given.length < 4 ? 2 : 3;
  for (const candidate of candidates) {
    const slips = editDistance(given, candidate.toLowerCase());
    if (slips > 0 && slips < bestSlips) [best, bestSlips] = [candidate, slips];
  }
  return best;
}

/** Edits (insert, drop, replace, swap of neighbours) that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  const at = (row: readonly number[], index: number): number => row[index] ?? Infinity;
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swap = isSwap ? at(beforeLast, j - 2) + 1 : Infinity;
      row.push(Math.min(at(last, j - 1) + (isSame ? 0 : 1), at(last, j) + 1, at(row, j - 1) + 1, swap));
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, to.length);
}
