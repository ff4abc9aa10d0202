import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** Processor seconds of the processes that this one started and that ended, and of theirs; NaN where `/proc` is not. */
export function processorSeconds() {
  try {
    // After the name in brackets; the 14th and 15th of those fields are ticks of waited-for children.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
  } catch {
    return NaN;
  }
}
