import { setTimeout } from 'node:timers/promises';

/** How long others waited for their answers, ms. */
interface Waits {
  readonly count: number;
  readonly p99: number;
  readonly longest: number;
}

/** One that asks a server again and again while something goes on, with a pause in between; what is not answered does not count. */
export class Neighbour {
  readonly #waits: number[] = [];
  #isDone = false;
  #answered = 0;

  constructor(
    readonly name: string,
    /** Asks once, and gives how long that took, ms; null: it was not answered, or there was nothing to ask for. */
    readonly ask: () => Promise<number | null>,
  ) {}

  /** Until `end`. */
  async run(): Promise<void> {
    while (!this.#isDone) {
      const wait = await this.ask();
      if (wait !== null) {
        this.#answered += 1;
        if (this.#answered > COLD) this.#waits.push(wait);
      }
      await setTimeout(PAUSE_MS);
    }
  }

  /** A server that has just started is asked from now on: its first answers are not counted. */
  isCold(): void {
    this.#answered = 0;
  }

  end(): void {
    this.#isDone = true;
  }

  get waits(): Waits {
    const sorted = this.#waits.toSorted((one, other) => one - other);
    const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
    return { count: sorted.length, p99, longest: sorted.at(-1) ?? 0 };
  }
}

const PAUSE_MS = 50;
/** A server that has just started compiles templates and runs code for the first time. */
const COLD = 5;
