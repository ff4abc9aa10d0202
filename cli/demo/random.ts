/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** A whole number from `low` to `high`, both inclusive. */
  integer(low: number, high: number): number;
  /** Bell-shaped around 0 with the given standard deviation. */
  bell(deviation: number): number;
  pick<T>(values: readonly [T, ...T[]]): T;
}

/** A generator (mulberry32) for data that is made up, never for ids or secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    integer,
    bell: (deviation) => (next() + next() + next() + next() - 2) * Math.sqrt(3) * deviation,
    pick: (values) => values[integer(0, values.length - 1)] ?? values[0],
  };
}
