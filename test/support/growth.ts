const LARGER = 8;
/** Between what grows with the length (8 times as much) and what grows with its square (64 times). */
export const LINEAR = 28;
/** What is done in less is constant: the clock and the garbage collector are most of it. */
const LEAST_MS = 2;

function leastProcessorMs(work: () => unknown): number {
  const runs = [1, 2, 3, 4].map(() => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.max(LEAST_MS, Math.min(...runs));
}

/** A ratio that is too high may be the garbage collector's or another's; what grows with the square has one each time. */
const ATTEMPTS = 5;

/**
 * How many times the processor time `work` takes when its input is eight times as long: `LINEAR` at most where it grows
 * with the length. A ratio of least times in one run, so neither the pace of a machine nor what runs beside decides; one
 * that is too high is measured again, and the least counts.
 */
export function growth(work: (length: number) => unknown, length: number): number {
  let least = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && least >= LINEAR; attempt += 1)
    least = Math.min(least, ratio(work, length));
  return least;
}

const ratio = (work: (length: number) => unknown, length: number): number =>
  leastProcessorMs(() => work(LARGER * length)) / leastProcessorMs(() => work(length));
