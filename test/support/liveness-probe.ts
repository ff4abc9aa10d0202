/** What ran, and for how long nothing else could run meanwhile. */
export interface Probed<T> {
  readonly result: T;
  /** Longest time between two ticks of a 50 ms timer. */
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
  const tick = (): void => {
    const now = performance.now();
    largestGapMs = Math.max(largestGapMs, now - last);
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
