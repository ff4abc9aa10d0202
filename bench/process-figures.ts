import { readdirSync, readFileSync } from 'node:fs';

/** What Linux says of another process; zeros where the system does not, or the process has ended. */
export interface ProcessFigures {
  readonly processorSeconds: number;
  readonly residentBytes: number;
  /** The highest since its start. */
  readonly peakBytes: number;
}

/** Ticks of the clock in which Linux counts processor time; the same on every platform that Node.js runs on. */
const TICKS_PER_SECOND = 100;

/** Ids of the running processes that a process started. */
export function childrenOf(processId: number): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => Number(/^PPid:\s+(\d+)$/m.exec(proc(id, 'status'))?.[1]) === processId);
}

/** The figures of a process. */
export function processFigures(processId: number): ProcessFigures {
  const status = proc(processId, 'status');
  const kibibytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
  // The name in parentheses may contain spaces; utime and stime are the 12th and 13th field after it.
  const fields = proc(processId, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');
  return {
    processorSeconds: (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND,
    residentBytes: kibibytes('VmRSS') * 1024,
    peakBytes: kibibytes('VmHWM') * 1024,
  };
}

/** Processor time of all threads of a process that it still has, to the nanosecond where Linux counts it so; 0 where it does not. */
export function processorMilliseconds(processId: number): number {
  try {
    return readdirSync(`/proc/${processId}/task`)
      .map((thread) => Number(proc(processId, `task/${thread}/schedstat`).split(' ')[0] ?? 0) / 1e6)
      .reduce((sum, each) => sum + each, 0);
  } catch {
    return 0;
  }
}

function proc(processId: number, file: string): string {
  try {
    return readFileSync(`/proc/${processId}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
