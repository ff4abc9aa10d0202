import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { ahead } from '../../../models/access/in-steps.js';

describe('what is asked for ahead', () => {
  it('comes in its order, one before it is needed and no more', async () => {
    const asked: number[] = [];
    async function* numbers(): AsyncGenerator<number> {
      for (let number = 1; number <= 4; number += 1) {
        asked.push(number);
        yield await Promise.resolve(number);
      }
    }
    const seen: [number, number][] = [];
    for await (const number of ahead(numbers())) {
      await setImmediate();
      seen.push([number, asked.length]);
    }
    expect(seen).toEqual([
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 4],
    ]);
  });

  it('fails after what came before the failure was worked on', async () => {
    async function* failing(): AsyncGenerator<number> {
      yield await Promise.resolve(1);
      throw new Error('the cursor is gone');
    }
    const seen: number[] = [];
    const work = async (): Promise<void> => {
      for await (const number of ahead(failing())) {
        await setImmediate();
        seen.push(number);
      }
    };
    await expect(work()).rejects.toThrow('the cursor is gone');
    expect(seen).toEqual([1]);
  });

  it('closes its source when nobody goes on', async () => {
    let isClosed = false;
    async function* endless(): AsyncGenerator<number> {
      try {
        for (;;) yield await Promise.resolve(1);
      } finally {
        isClosed = true;
      }
    }
    for await (const number of ahead(endless())) if (number === 1) break;
    expect(isClosed).toBe(true);
  });
});
