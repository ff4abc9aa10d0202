import { describe, expect, it } from '@jest/globals';

import { LruCache } from '../../../base/lru-cache.js';

describe('LruCache', () => {
  it('drops the value unused for longest', () => {
    const cache = new LruCache<string, number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    expect(cache.get('a')).toBe(1);
    cache.set('c', 3);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
  });

  it('replaces a value under the same key', () => {
    const cache = new LruCache<string, number>(2);
    cache.set('a', 1);
    cache.set('a', 2);
    expect([cache.size, cache.get('a')]).toEqual([1, 2]);
  });

  it('keeps nothing at capacity 0', () => {
    const cache = new LruCache<string, number>(0);
    cache.set('a', 1);
    expect(cache.size).toBe(0);
  });

  it('drops surplus values when it is made smaller', () => {
    const cache = new LruCache<string, number>(3);
    for (const key of ['a', 'b', 'c']) cache.set(key, 1);
    cache.resize(1);
    expect([cache.size, cache.get('c')]).toEqual([1, 1]);
    cache.delete('c');
    cache.set('d', 1);
    cache.clear();
    expect(cache.size).toBe(0);
  });
});
