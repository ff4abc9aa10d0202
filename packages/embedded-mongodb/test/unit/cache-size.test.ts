import { expect, it } from '@jest/globals';
import { defaultCacheSizeGB } from '../../src/engine/cache-size.js';

it.each([
  ['the least on a small machine', 0.5, 0.25],
  ['half of what is above one GiB', 2.5, 0.75],
  ['no more than one on a large machine', 64, 1],
])('the embedded engine gets %s', (_name, memoryGB, cacheGB) => {
  expect(defaultCacheSizeGB(memoryGB * 1024 ** 3)).toBe(cacheGB);
});
