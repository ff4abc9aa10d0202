import { describe, expect, it } from '@jest/globals';
import { PhaseFairLock } from '../../src/front/lock.js';

/** Waits until all that can settle has settled. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('PhaseFairLock', () => {
  it('is shared by any number of commands', () => {
    const lock = new PhaseFairLock();
    expect([lock.tryShare(), lock.tryShare(), lock.tryShare()]).toEqual([true, true, true]);
  });

  it('is owned by one transaction at a time, after the sharers', async () => {
    const lock = new PhaseFairLock();
    const order: string[] = [];
    lock.tryShare();
    void lock.own(1_000).then(() => order.push('first owner'));
    void lock.own(1_000).then(() => order.push('second owner'));
    await settle();
    expect(order).toEqual([]);
    lock.unshare();
    await settle();
    expect(order).toEqual(['first owner']);
    lock.disown();
    await settle();
    expect(order).toEqual(['first owner', 'second owner']);
  });

  it('lets new sharers wait behind a waiting owner', async () => {
    const lock = new PhaseFairLock();
    lock.tryShare();
    const owner = lock.own(1_000);
    expect(lock.tryShare()).toBe(false);
    lock.unshare();
    expect(await owner).toBe(true);
  });

  it('lets all waiting sharers go before the next owner', async () => {
    const lock = new PhaseFairLock();
    const order: string[] = [];
    await lock.own(1_000);
    void lock.own(1_000).then(() => order.push('owner'));
    void lock.share(1_000).then(() => order.push('sharer'));
    void lock.share(1_000).then(() => order.push('sharer'));
    lock.disown();
    await settle();
    expect(order).toEqual(['sharer', 'sharer']);
    lock.unshare();
    await settle();
    expect(order).toHaveLength(2);
    lock.unshare();
    await settle();
    expect(order).toEqual(['sharer', 'sharer', 'owner']);
  });

  it('gives up after the time, in either role', async () => {
    const lock = new PhaseFairLock();
    await lock.own(1_000);
    expect(await Promise.all([lock.own(10), lock.share(10)])).toEqual([false, false]);
    lock.disown();
    expect(lock.tryShare()).toBe(true);
  });

  it('lets sharers go on when the owner they waited behind gives up', async () => {
    const lock = new PhaseFairLock();
    lock.tryShare();
    const owner = lock.own(10);
    const sharer = lock.share(1_000);
    expect(await owner).toBe(false);
    expect(await sharer).toBe(true);
    lock.unshare();
    lock.unshare();
    expect(await lock.own(10)).toBe(true);
  });
});
