import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { BatchedRead } from '../../../models/access/batched-read.js';

/** A read that ends when it is told to; the numbers asked, read by read. */
function heldRead(): { reads: number[][]; ends: (() => void)[]; batched: BatchedRead<number, string> } {
  const reads: number[][] = [];
  const ends: (() => void)[] = [];
  const batched = new BatchedRead<number, string>(async (questions) => {
    reads.push([...questions]);
    await new Promise<void>((resolve) => ends.push(resolve));
    if (questions.includes(13)) throw new Error('unlucky');
    return questions.map((question) => `answer ${question}`);
  });
  return { reads, ends, batched };
}

describe('questions asked at the same time', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('are joined while a read is under way, and each gets its own answer', async () => {
    const { reads, ends, batched } = heldRead();
    // A machine that stands still between two calls is no read that is stuck.
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const first = batched.ask(1);
    const others = [batched.ask(2), batched.ask(3)];
    expect(reads).toEqual([[1]]);
    ends[0]!();
    expect(await first).toBe('answer 1');
    await pause(0);
    ends[1]!();
    expect(await Promise.all(others)).toEqual(['answer 2', 'answer 3']);
    expect(reads).toEqual([[1], [2, 3]]);
  });

  it('do not wait for a read that is stuck', async () => {
    const { reads, ends, batched } = heldRead();
    const stuck = batched.ask(1);
    const other = batched.ask(2);
    while (reads.length < 2) await pause(5);
    ends[1]!();
    expect(await other).toBe('answer 2');
    ends[0]!();
    expect(await stuck).toBe('answer 1');
  });

  it('do not wait for it either when they come after the others went on', async () => {
    const { reads, ends, batched } = heldRead();
    const stuck = batched.ask(1);
    await pause(30);
    const late = batched.ask(2);
    expect(reads).toEqual([[1], [2]]);
    ends[1]!();
    expect(await late).toBe('answer 2');
    ends[0]!();
    expect(await stuck).toBe('answer 1');
  });

  it('all fail with a read that fails, later ones do not', async () => {
    const { ends, batched } = heldRead();
    const failing = batched.ask(13);
    const later = batched.ask(4);
    ends[0]!();
    await expect(failing).rejects.toThrow('unlucky');
    while (ends.length < 2) await pause(1);
    ends[1]!();
    expect(await later).toBe('answer 4');
  });
});
