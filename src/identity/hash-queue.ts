import { CdrError } from '../../openehr/base/errors.js';

/** Passwords hashed at the same time: each takes a thread and some 32 MiB. */
export const HASHES_AT_ONCE = 2;
/** Passwords that may wait for their turn. */
export const HASHES_WAITING = 20;

/** Runs costly work a few at a time, in the order in which it came. */
export class HashQueue {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** The result of `work`, once it had its turn. @throws unavailable with `Retry-After` when too much waits already */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < HASHES_AT_ONCE) this.#running += 1;
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
    if (this.#waiting.length >= HASHES_WAITING)
      throw new CdrError('unavailable', 'too many passwords wait to be checked', { retryAfterSeconds: 2 });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
