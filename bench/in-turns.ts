import { quantile } from './measure.js';

/** Two kinds of work that were done in turns, milliseconds. */
export interface InTurns {
  readonly first: readonly number[];
  readonly second: readonly number[];
}

/** Does two kinds of work in turns, so that whatever else the machine does meets both alike; a twentieth before it counts. */
export async function inTurns(
  count: number,
  first: (index: number) => Promise<unknown>,
  second: (index: number) => Promise<unknown>,
): Promise<InTurns> {
  const times: { first: number[]; second: number[] } = { first: [], second: [] };
  for (let index = -Math.ceil(count / 20); index < count; index += 1) {
    const both = [['first', first] as const, ['second', second] as const];
    for (const [side, work] of index % 2 === 0 ? both : both.reverse()) {
      const start = performance.now();
      await work(Math.abs(index));
      if (index >= 0) times[side].push(performance.now() - start);
    }
  }
  return times;
}

/** The median of each. */
export function mediansOf({ first, second }: InTurns): readonly [first: number, second: number] {
  return [quantile(first, 0.5), quantile(second, 0.5)];
}
