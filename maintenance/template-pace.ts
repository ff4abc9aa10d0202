/** As long a step of an upgrade is to take, ms: others who write to the same EHRs wait for its transaction. */
const STEP_MS = 100;
const FIRST = 10;
const FEWEST = 5;
const MOST = 100;
/** Between two steps whoever waits for the database comes first: for this part of the step, and at most so long, ms. */
const REST = 0.1;
const LONGEST_REST_MS = 20;

/** How many COMPOSITIONs a step of an upgrade has, by how long the ones before it took: fewer where the machine is slow or busy. */
export class StepPace {
  #size = FIRST;

  /** Of the next step. */
  get size(): number {
    return this.#size;
  }

  /** Learns how long a step took that had so many. Gives how long to wait before the next one, ms. */
  took(count: number, ms: number): number {
    const wanted = (count * STEP_MS) / Math.max(1, ms);
    const near = Math.min(Math.max(wanted, this.#size / 2), this.#size * 2);
    this.#size = Math.round(Math.min(Math.max(near, FEWEST), MOST));
    return Math.min(LONGEST_REST_MS, ms * REST);
  }
}
