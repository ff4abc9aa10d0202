import { readFileSync } from 'node:fs';

const NANOSECONDS = 1e-9;

/** Seconds of processor time that the main thread of a process has taken; null where the system does not tell threads apart. */
export function mainSecondsOf(pid: number): number | null {
  try {
    // The first number is the time on a processor, in nanoseconds: `stat` counts in hundredths of a second.
    const [running = ''] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(running) * NANOSECONDS;
  } catch {
    return null;
  }
}

/** That of this process; of all its threads where the system does not tell them apart. */
function mainThreadSeconds(): number {
  const { user, system } = process.cpuUsage();
  return mainSecondsOf(process.pid) ?? (user + system) / 1_000_000;
}

/** Seconds of processor time that the main thread takes while `work` runs: a busy machine does not change it. */
async function mainThreadTime(work: () => Promise<unknown>): Promise<number> {
  const before = mainThreadSeconds();
  await work();
  return mainThreadSeconds() - before;
}

/** The least of several times: the heap of the tests before may be collected during any of them, which takes half a second. */
export async function leastMainThreadTime(work: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let time = 0; time < TIMES; time += 1) least = Math.min(least, await mainThreadTime(work));
  return least;
}

/** Seconds of processor time that all other threads of this process take while `work` runs. */
export async function otherThreadsTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  const ofMain = await mainThreadTime(work);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000_000 - ofMain;
}

/** Milliseconds of processor time that a synchronous piece of work takes: the least of several times, when it is warm. */
export function processorMs(work: () => unknown): number {
  let least = Infinity;
  for (let time = 0; time < TIMES; time += 1) {
    const before = mainThreadSeconds();
    work();
    least = Math.min(least, (mainThreadSeconds() - before) * 1_000);
  }
  return least;
}

const TIMES = 5;

/**
 * How many times slower this machine is now than an AMD EPYC of 2026-11, on which the limits were set: by a fixed piece of work of
 * the kind that compilers do, objects and texts.
 */
export function slowness(): number {
  const text = JSON.stringify(tree(6));
  const work = (): void => {
    for (let pass = 0; pass < 20; pass += 1) JSON.stringify(JSON.parse(text));
  };
  return processorMs(work) / REFERENCE_MS;
}

/** What that work takes there. */
const REFERENCE_MS = 70;

function tree(depth: number): object {
  if (depth === 0) return { name: 'a name of some length', value: 1.5, codes: ['at0001', 'at0002'] };
  return { node: `at${depth}`, items: Array.from({ length: 4 }, () => tree(depth - 1)) };
}

/** Seconds of processor time that a process has taken, with all its threads; null where the system does not tell. */
export function secondsOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Behind the name, which may hold anything; in hundredths of a second.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    return (Number(user) + Number(system)) / 100;
  } catch {
    return null;
  }
}
