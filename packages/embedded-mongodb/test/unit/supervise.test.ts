import { expect, it } from '@jest/globals';
import { restartPauseMs } from '../../src/supervise.js';

it('a database that was well is started again at once, one that fails after pauses that grow to half a minute', () => {
  const pauses = Array.from({ length: 9 }, (_, failed) => restartPauseMs(failed));
  expect(pauses).toEqual([0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

it('never gives up, however often it failed', () => {
  expect(restartPauseMs(5_000)).toBe(30_000);
});
