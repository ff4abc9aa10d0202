import { describe, expect, it } from '@jest/globals';
import { RequestRates } from '../../../src/middleware/limits.js';

describe('the count of requests', () => {
  it('lets so many pass in a minute, tells how long to wait, and begins anew', () => {
    const rates = new RequestRates(2);
    expect([0, 1000, 2000].map((now) => rates.waitAfter('a', now))).toEqual([0, 0, 58_000]);
    expect(rates.waitAfter('b', 2000)).toBe(0);
    expect(rates.waitAfter('a', 60_000)).toBe(0);
  });

  it('keeps no more clients than it may', () => {
    const rates = new RequestRates(1, 3);
    for (const client of ['a', 'b', 'c', 'd']) expect(rates.waitAfter(client, 0)).toBe(0);
    expect(rates.waitAfter('d', 1)).toBeGreaterThan(0);
    expect(rates.waitAfter('c', 1)).toBeGreaterThan(0);
    expect(rates.waitAfter('a', 1)).toBe(0); // forgotten for the fourth
  });
});
