import type { Work } from './soak-work.js';

/** An answer to one request of an open loop. */
export interface LoopAnswer {
  /** When the request was due, ms after the first. */
  readonly dueMs: number;
  /** Since it was due, not since it was sent: a server that falls behind does not make its own figures better. */
  readonly ms: number;
  /** HTTP status; 0: none, or too many were under way to send it. */
  readonly status: number;
}

/** What is sent when. */
export interface LoopPlan {
  /** Requests a second. */
  readonly rate: number;
  readonly ms: number;
  /** With so many under way a request that is due is not sent. */
  readonly mostUnderWay: number;
}

/** Sends requests when they are due, whether earlier ones are answered or not; ends with the last answer. */
export async function openLoop(
  work: Work,
  { rate, ms, mostUnderWay }: LoopPlan,
  answered: (answer: LoopAnswer) => void,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const start = performance.now();
  for (let turn = 0; turn < (rate * ms) / 1000; turn += 1) {
    const dueMs = (turn * 1000) / rate;
    const waitMs = start + dueMs - performance.now();
    if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const answer = underWay.size < mostUnderWay ? work(turn) : Promise.resolve(0);
    const request = answer.then((status) => {
      answered({ dueMs, ms: performance.now() - start - dueMs, status });
      underWay.delete(request);
    });
    underWay.add(request);
  }
  await Promise.all(underWay);
}
