/** Which moments are certain: no commit under way will get a time before them. docs/spec/aql.md#as-of */
import { setTimeout } from 'node:timers/promises';
import { CdrError } from '../../openehr/base/errors.js';

/** How far a time may lie ahead of this server's clock, ms. */
const MOST_AHEAD_MS = 5_000;
/** How long one waits at most for the commits under way, ms. */
const MOST_WAIT_MS = 10_000;
/** How long other servers of the same database may take from the time of a commit until it can be read, ms. */
const OTHERS_MS = 2_000;

/** Commits under way, and whether other servers commit to the same database. */
export class CommitClock {
  readonly #underWay = new Map<Promise<unknown>, number>();
  #othersMs = 0;
  /** Until then answers have been given: no commit gets an earlier time, however the clock is set. */
  #answered = 0;

  /** `isShared`: other servers commit to this database too. */
  setShared(isShared: boolean): void {
    this.#othersMs = isShared ? OTHERS_MS : 0;
  }

  /** The time for a commit that is planned now. */
  now(): Date {
    return new Date(Math.max(Date.now(), this.#answered + 1));
  }

  /** Runs the writes of a commit that was given this time by `now`, without anything awaited in between. */
  async write<T>(time: Date, write: () => Promise<T>): Promise<T> {
    const writing = write();
    this.#underWay.set(writing, time.getTime());
    try {
      return await writing;
    } finally {
      this.#underWay.delete(writing);
    }
  }

  /** The latest moment up to which everything that was ever committed can be read now. */
  certain(): Date {
    return new Date(Math.min(Date.now() - this.#othersMs, ...this.#underWay.values()) - 1);
  }

  /**
   * Waits until a moment is certain; from then on a query as of it has one answer.
   * @throws invalid for a moment too far ahead; unavailable when commits take too long
   */
  async reached(moment: Date): Promise<void> {
    const time = moment.getTime();
    const aheadMs = time - Date.now();
    if (aheadMs > MOST_AHEAD_MS)
      throw new CdrError('invalid', `as_of must be no more than ${MOST_AHEAD_MS / 1000} s in the future`);
    const deadline = performance.now() + MOST_WAIT_MS;
    while (this.certain().getTime() < time) {
      const early = [...this.#underWay].filter(([, begun]) => begun <= time).map(([writing]) => writing);
      const leftMs = deadline - performance.now();
      if (leftMs <= 0)
        throw new CdrError('unavailable', 'commits before that time are still under way', {
          retryAfterSeconds: 1,
        });
      const toCome = time + this.#othersMs + 2 - Date.now();
      await Promise.race([
        early.length > 0 ? Promise.allSettled(early) : setTimeout(Math.max(1, toCome)),
        setTimeout(leftMs),
      ]);
    }
    this.#answered = Math.max(this.#answered, time);
  }
}

/** That of this process. */
export const commitClock = new CommitClock();
