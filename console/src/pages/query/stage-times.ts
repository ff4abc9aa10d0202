/**
 * What each stage took itself, ms. The database tells of a stage how long it took together with those before it, and of the
 * first one, which reads, how long all of them took.
 */
export function ownTimes(told: readonly number[]): number[] {
  const [whole = 0, second] = told;
  const read = second === undefined ? whole : Math.min(whole, second);
  return told.map((until, index) => {
    if (index === 0) return read;
    const before = index === 1 ? read : (told[index - 1] ?? 0);
    return Math.max(0, until - before);
  });
}
