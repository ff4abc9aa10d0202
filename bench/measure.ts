import { cpus, totalmem } from 'node:os';

/** Times of one kind of work, milliseconds. */
export interface Timing {
  readonly name: string;
  readonly runs: number;
  readonly medianMs: number;
  readonly p95Ms: number;
}

/** Runs `work` some times to warm up, then measures each of `runs` runs, one after another. */
export async function measure(name: string, runs: number, work: (run: number) => unknown): Promise<Timing> {
  const warmUp = Math.max(1, Math.min(20, Math.floor(runs / 5)));
  for (let run = 0; run < warmUp; run += 1) await work(run);
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const start = performance.now();
    await work(run);
    times.push(performance.now() - start);
  }
  return timing(name, times);
}

/** Median and 95th percentile of measured times. */
export function timing(name: string, times: readonly number[]): Timing {
  return { name, runs: times.length, medianMs: quantile(times, 0.5), p95Ms: quantile(times, 0.95) };
}

/** The value below which a share (0 to 1) of the values lies; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A number of milliseconds with as many digits as its size deserves. */
export function milliseconds(value: number): string {
  return value < 1 ? value.toFixed(3) : value < 10 ? value.toFixed(2) : value.toFixed(1);
}

/** What this machine is, for the head of every report. */
export function machine(): string {
  const [processor] = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} cores (${processor?.model.trim() ?? 'unknown'}), ${memory} GiB, Node ${process.version}`;
}
