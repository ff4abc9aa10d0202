import type { CdrError } from '../../openehr/base/errors.js';

/** How much may run and wait. */
interface PlaceLimits {
  readonly atOnce: number;
  readonly waiting: number;
}

/**
 * Runs work a few at a time, in the order in which it came, for whomever it is; `QueryGate` shares places among users.
 */
export class Places {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** `refusal`: of what finds as much running and waiting as may. */
  constructor(
    private readonly limits: PlaceLimits,
    private readonly refusal: () => CdrError,
  ) {}

  /** The result of `work`, once it had its turn. @throws the refusal when too much waits already */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.limits.atOnce) this.#running += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.limits.waiting) throw this.refusal();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
