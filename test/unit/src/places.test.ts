import { describe, expect, it } from '@jest/globals';
import { CdrError } from '../../../openehr/base/errors.js';
import { Places } from '../../../src/admission/places.js';

const full = () => new CdrError('unavailable', 'full');

describe('places for work', () => {
  it('are taken in the order in which it comes, a few at a time, and refused to what finds all full', async () => {
    const places = new Places({ atOnce: 1, waiting: 2 }, full);
    const begun: number[] = [];
    let end = (): void => undefined;
    const first = places.run(() => {
      begun.push(0);
      return new Promise<void>((resolve) => (end = resolve));
    });
    const others = [1, 2].map((number) => places.run(() => Promise.resolve(begun.push(number))));
    await expect(places.run(() => Promise.resolve())).rejects.toThrow('full');
    expect(begun).toEqual([0]);
    end();
    await Promise.all([first, ...others]);
    expect(begun).toEqual([0, 1, 2]);
  });

  it('are free again after work that failed', async () => {
    const places = new Places({ atOnce: 1, waiting: 0 }, full);
    await expect(places.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await places.run(() => Promise.resolve(1))).toBe(1);
  });
});
