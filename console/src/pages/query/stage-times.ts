/**
 * What each stage took itself, ms. The database says of a stage how long it took together with those before it, and of the
 * first one, which reads, how long all of them took.
 */
export function ownTimes(cumulative: readonly number[]): number[] {
  const [whole = 0, second] = cumulative;
  const read = second === undefined ? whole : Math.min(whole, second);
  return cumulative.map((until, index) => {
    if (index === 0) return read;
    const before = index === 1 ? read : (cumulative[index - 1] ?? 0);
    return Math.max(0, until - before);
  });
}
