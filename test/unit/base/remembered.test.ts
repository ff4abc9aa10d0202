import { describe, expect, it } from '@jest/globals';
import { remembered } from '../../../base/remembered.js';

describe('a remembered function', () => {
  it('works out its value once for each object, whatever the value is', () => {
    let calls = 0;
    const sizeOf = remembered((list: readonly string[]) => {
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
