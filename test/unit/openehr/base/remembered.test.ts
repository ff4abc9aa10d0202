import { describe, expect, it } from '@jest/globals';
import { memoized } from '../../../../openehr/base/maps.js';

describe('a memoized function', () => {
  it('works out its value once for each object, whatever the value is', () => {
    let calls = 0;
    const sizeOf = memoized((list: readonly string[]) => {
      calls += 1;
      return list.length === 0 ? undefined : list.length;
    });
    const two = ['a', 'b'];
    const none: string[] = [];
    expect([sizeOf(two), sizeOf(two), sizeOf(none), sizeOf(none), sizeOf(['a', 'b'])]).toEqual([
      2,
      2,
      undefined,
      undefined,
      2,
    ]);
    expect(calls).toBe(3);
  });
});
