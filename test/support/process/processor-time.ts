import { readFileSync } from 'node:fs';

/** Clock ticks of Linux in a second, as /proc counts. */
const TICKS = 100;

/**
 * Processor time that the main thread of this process has taken, in seconds; where the system does not tell threads apart,
 * that of the whole process.
 */
function mainThreadSeconds(): number {
  try {
    const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold anything; user and system time are the 12th and 13th behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  }
}

/** Seconds of processor time that the main thread takes while `work` runs: a busy machine does not change it. */
export async function mainThreadTime(work: () => Promise<unknown>): Promise<number> {
  const before = mainThreadSeconds();
  await work();
  return mainThreadSeconds() - before;
}
