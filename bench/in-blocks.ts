import { childrenOf, processorMilliseconds } from './process-figures.js';
import { quantile } from './measure.js';

/** What some kind of work took. */
interface Cost {
  /** Median of the single runs by the clock, milliseconds. */
  readonly clock: number;
  /** Processor time of one run in each block, milliseconds: of this process, and of the database and whatever else it has started. */
  readonly server: readonly number[];
  readonly database: readonly number[];
}

/**
 * Does several kinds of work in turns, a block of runs of the one and then of the next, and tells time by the clock and by the processor. The first
 * round does not count. Processor time hardly depends on what else the machine does, the clock does.
 */
export async function inBlocks(
  { rounds, block }: { readonly rounds: number; readonly block: number },
  works: readonly ((index: number) => Promise<unknown>)[],
): Promise<Cost[]> {
  const children = childrenOf(process.pid);
  const costs = works.map(() => ({
    times: [] as number[],
    server: [] as number[],
    database: [] as number[],
  }));
  for (let round = -1; round < rounds; round += 1)
    for (const place of works.keys()) {
      // Each comes behind each other one as often: what one leaves to be cleared away the next one pays for.
      const turn = (round % 2 === 0 ? place : works.length - 1 - place) % works.length;
      const [work, cost] = [works[turn], costs[turn]];
      const [server, database] = [process.cpuUsage(), processorOf(children)];
      const times: number[] = [];
      for (let index = 0; index < block; index += 1) {
        const start = performance.now();
        await work?.((round + 1) * block + index);
        times.push(performance.now() - start);
      }
      if (round < 0) continue;
      const { user, system } = process.cpuUsage(server);
      cost?.times.push(...times);
      cost?.server.push((user + system) / 1000 / block);
      cost?.database.push((processorOf(children) - database) / block);
    }
  return costs.map(({ times, ...rest }) => ({ clock: quantile(times, 0.5), ...rest }));
}

function processorOf(processes: readonly number[]): number {
  return processes.reduce((sum, each) => sum + processorMilliseconds(each), 0);
}

/** How many times as much processor time one kind of work takes as another one, by their medians. */
export function processorRatio(cost: Cost, base: Cost): number {
  return allOf(cost) / allOf(base);
}

function allOf({ server, database }: Cost): number {
  return quantile(
    server.map((each, round) => each + (database[round] ?? 0)),
    0.5,
  );
}

/** The median of the rounds, server and database. */
export function processorTime({ server, database }: Cost): string {
  return `${quantile(server, 0.5).toFixed(2)} + ${quantile(database, 0.5).toFixed(2)}`;
}
