import { describe, expect, it } from '@jest/globals';
import { Admission, ALWAYS_ADMITTED } from '../../../src/admission/admission.js';

/** Requests that come and go at times of the test. */
class Clock {
  now = 0;
  readonly #admission: Admission;
  running = 0;

  constructor(waitMs: number) {
    this.#admission = new Admission(waitMs, this.now);
  }

  /** Lets as many in as may, of so many; gives how many that were. */
  come(count: number): number {
    const before = this.running;
    for (let i = 0; i < count && this.retryAfter() === 0; i += 1) {
      this.#admission.enter();
      this.running += 1;
    }
    return this.running - before;
  }

  /** Lets some end, spread over a time. */
  end(count: number, ms: number): void {
    for (let i = 0; i < count; i += 1) {
      this.now += ms / count;
      this.#admission.leave(this.now);
      this.running -= 1;
    }
  }

  /** Requests come for ten seconds, and none ends. */
  standStill(): void {
    for (let i = 0; i < 10; i += 1) {
      this.now += 1_000;
      this.retryAfter();
    }
  }

  retryAfter(): number {
    return this.#admission.retryAfter(this.now);
  }
}

describe('the number of requests under way', () => {
  it('is bounded by what is finished in the time that one may take', () => {
    const clock = new Clock(1_000);
    expect(clock.come(10_000)).toBe(250);
    for (let second = 0; second < 10; second += 1) {
      clock.end(clock.running - ALWAYS_ADMITTED, 1_000 * ((clock.running - ALWAYS_ADMITTED) / 1_000));
      clock.come(10_000);
    }
    expect(clock.running).toBeGreaterThan(500);
  });

  it('falls when little is finished, never below what is always admitted', () => {
    const clock = new Clock(1_000);
    clock.come(10_000);
    clock.standStill();
    expect(clock.retryAfter()).toBe(10);
    clock.end(clock.running, 1);
    expect(clock.come(10_000)).toBe(ALWAYS_ADMITTED);
  });

  it('does not fall because little is asked for', () => {
    const clock = new Clock(1_000);
    for (let i = 0; i < 100; i += 1) {
      clock.come(1);
      clock.end(1, 1_000);
    }
    expect(clock.come(10_000)).toBe(250);
  });

  it('recovers when a database that stood still goes on', () => {
    const clock = new Clock(1_000);
    clock.come(10_000);
    clock.standStill();
    clock.end(clock.running, 1);
    clock.now += 30_000;
    expect(clock.come(10_000)).toBe(250);
  });
});
