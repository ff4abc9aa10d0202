import { describe, expect, it } from '@jest/globals';
import { ownTimes } from '../../../console/src/pages/query/stage-times.js';

describe('the times of the stages of a query', () => {
  it('are of each stage alone, though the database adds them up and tells the whole first', () => {
    expect(ownTimes([612, 27, 28, 578, 578, 599])).toEqual([27, 0, 1, 550, 0, 21]);
    expect(ownTimes([12])).toEqual([12]);
    expect(ownTimes([])).toEqual([]);
  });
});
