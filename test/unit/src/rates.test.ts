import { describe, expect, it } from '@jest/globals';
import { Rates } from '../../../src/admission/rates.js';

describe('what clients do in a span of time', () => {
  it('is let pass so many times, then told how long to wait, and begins anew', () => {
    const rates = new Rates({ most: 2, spanMs: 60_000 });
    expect([0, 1000, 2000].map((now) => rates.take('a', now))).toEqual([0, 0, 58_000]);
    expect(rates.take('b', 2000)).toBe(0);
    expect(rates.take('a', 60_000)).toBe(0);
  });

  it('is not counted by who asks whether one more is allowed', () => {
    const rates = new Rates({ most: 1, spanMs: 1000 });
    expect([0, 1].map((now) => rates.waitOf('a', now))).toEqual([0, 0]);
    rates.take('a', 100);
    expect([300, 1099, 1100].map((now) => rates.waitOf('a', now))).toEqual([800, 1, 0]);
  });

  it('is as if it had not been when it is taken back', () => {
    const rates = new Rates({ most: 1, spanMs: 1000 });
    rates.take('a', 0);
    rates.takeBack('a');
    rates.takeBack('a');
    expect([rates.take('a', 1), rates.take('a', 2)]).toEqual([0, 999]);
  });

  it('is remembered of no more clients than it may be', () => {
    const rates = new Rates({ most: 1, spanMs: 60_000, clients: 3 });
    for (const client of ['a', 'b', 'c', 'd']) expect(rates.take(client, 0)).toBe(0);
    expect(rates.take('d', 1)).toBeGreaterThan(0);
    expect(rates.take('c', 1)).toBeGreaterThan(0);
    expect(rates.take('a', 1)).toBe(0); // forgotten for the fourth
  });
});
