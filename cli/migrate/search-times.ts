/** A moment, ms since 1970, and how many versions there were then. */
export interface Moment {
  readonly ms: number;
  readonly versions: number;
}

/**
 * When each version of an object came to be, of a server that tells only what there was at a time: the first millisecond of each, in order and each
 * later than the one before. `countAt`: how many versions there were at a time. Asks about forty times for each.
 */
export async function searchTimes(
  countAt: (ms: number) => Promise<number>,
  from: Moment,
  to: Moment,
): Promise<number[]> {
  const times: number[] = [];
  const search = async (low: Moment, high: Moment): Promise<void> => {
    if (low.versions >= high.versions) return;
    if (high.ms - low.ms <= 1) {
      for (let version = low.versions; version < high.versions; version += 1)
        times.push(Math.max(high.ms, (times.at(-1) ?? -Infinity) + 1));
      return;
    }
    const ms = Math.floor((low.ms + high.ms) / 2);
    const middle = { ms, versions: await countAt(ms) };
    await search(low, middle);
    await search(middle, high);
  };
  await search(from, to);
  return times;
}
