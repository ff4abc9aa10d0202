import { describe, expect, it } from '@jest/globals';
import { StepPace } from '../../../maintenance/template-pace.js';

/** How many the steps have where each COMPOSITION takes so long, ms. */
function sizes(each: number, steps: number, pace = new StepPace()): number[] {
  return Array.from({ length: steps }, () => {
    const { size } = pace;
    pace.took(size, size * each);
    return size;
  });
}

describe('the pace of an upgrade', () => {
  it('has as many COMPOSITIONs in a step as take about 100 ms', () => {
    expect(sizes(4, 6)).toEqual([10, 20, 25, 25, 25, 25]);
  });

  it('has 100 at most, and never less than 5', () => {
    expect(sizes(0.01, 7)).toEqual([10, 20, 40, 80, 100, 100, 100]);
    expect(sizes(1_000, 4)).toEqual([10, 5, 5, 5]);
  });

  it('grows and shrinks by half or double, whatever one step took', () => {
    const pace = new StepPace();
    sizes(0.1, 5, pace);
    expect(pace.size).toBe(100);
    expect(sizes(50, 4, pace)).toEqual([100, 50, 25, 13]);
    pace.took(7, 1);
    expect(pace.size).toBe(14);
  });

  it('rests for a tenth of a step, 20 ms at most', () => {
    const pace = new StepPace();
    expect([pace.took(10, 50), pace.took(10, 1_000)]).toEqual([5, 20]);
  });
});
