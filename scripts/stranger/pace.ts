import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

const TICKS_PER_SECOND = 100;

/** How much of one processor others may take while something is timed that has to be quick: a machine is never quite idle. */
const OTHERS = 0.2;

/** What something took by the clock, and how much of one processor others took meanwhile: NaN where nobody tells. */
export interface Pace {
  readonly seconds: number;
  readonly others: number;
}

/**
 * Begins to measure how much of a processor others take, which the answer tells. What this process has started counts as its own once
 * that has ended, and as somebody else's before.
 */
export function watchOthers(): () => number {
  const [start, before] = [performance.now(), othersSeconds()];
  return () => ((othersSeconds() - before) * 1_000) / (performance.now() - start);
}

/** What is said of a pace of at most `most` seconds. @throws Error when it is slower although nobody else kept the machine busy */
export function judged(what: string, { seconds, others }: Pace, most: number): string {
  const said = `${what}: ${seconds.toFixed(2)} s of at most ${most}`;
  if (seconds > most && others < OTHERS) throw new Error(`${said}, on an idle machine`);
  return Number.isNaN(others)
    ? said
    : `${said}, while others took ${Math.round(others * 100)} % of a processor`;
}

/** Of the machine: user, nice, system, interrupts of two kinds, and what other machines took of it. */
const OF_MACHINE = [1, 2, 3, 6, 7, 8];
/** Behind the name in brackets: user and system time of this process, and of its children that have ended. */
const OWN = [11, 12, 13, 14];

/** Processor seconds that the machine worked and this process did not. */
function othersSeconds(): number {
  try {
    const [machine = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const own = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1) ?? '';
    return (ticksOf(machine.split(/\s+/), OF_MACHINE) - ticksOf(own.split(' '), OWN)) / TICKS_PER_SECOND;
  } catch {
    return NaN;
  }
}

function ticksOf(fields: readonly string[], places: readonly number[]): number {
  return places.reduce((sum, place) => sum + Number(fields[place]), 0);
}
