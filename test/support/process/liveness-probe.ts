/** What ran, and for how long nothing else could run meanwhile. */
export interface Probed<T> {
  readonly result: T;
  /**
   * Longest time between two ticks of a 50 ms timer that this process worked through: what other programs of the machine
   * take of the processors is not its fault.
   */
  readonly largestGapMs: number;
  /** How much the heap grew at most, seen at the ticks. */
  readonly heapGrowthBytes: number;
}

const TICK_MS = 50;

/** Runs something beside a timer that tells how long the event loop was busy at a time. */
export async function probed<T>(run: () => Promise<T>): Promise<Probed<T>> {
  const heapBefore = process.memoryUsage().heapUsed;
  let largestHeap = heapBefore;
  let largestGapMs = 0;
  let last = performance.now();
  let processor = process.cpuUsage();
  const tick = (): void => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(processor);
    largestGapMs = Math.max(largestGapMs, Math.min(now - last, (user + system) / 1000));
    processor = process.cpuUsage();
    largestHeap = Math.max(largestHeap, process.memoryUsage().heapUsed);
    last = now;
  };
  const timer = setInterval(tick, TICK_MS);
  try {
    const result = await run();
    tick();
    return { result, largestGapMs, heapGrowthBytes: largestHeap - heapBefore };
  } finally {
    clearInterval(timer);
  }
}
