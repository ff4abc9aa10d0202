import { describe, expect, it } from '@jest/globals';
import { groupBy } from '../../../../openehr/base/maps.js';

describe('grouping', () => {
  it('keeps the order of the items and of the first item of each key', () => {
    const groups = groupBy(['b1', 'a1', 'b2', 'c1', 'a2'], ([key]) => key);
    expect([...groups]).toEqual([
      ['b', ['b1', 'b2']],
      ['a', ['a1', 'a2']],
      ['c', ['c1']],
    ]);
  });
});
