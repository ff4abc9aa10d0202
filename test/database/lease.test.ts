import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { isLeased, withLease } from '../../models/access/lease.js';
import { useDatabase } from '../support/database.js';

useDatabase();

const leases = () =>
  mongoose.connection.collection<{ _id: string; holder: string; expires_at: Date }>('settings');

describe('a lease', () => {
  it('is of one holder at a time, ends with the work and with its failure', async () => {
    const within = withLease('work', 'busy', () =>
      expect(withLease('work', 'busy', () => Promise.resolve('second'))).rejects.toMatchObject({
        code: 'conflict',
        message: 'busy',
      }),
    );
    await within;
    await expect(withLease('work', 'busy', () => Promise.reject(new Error('failed')))).rejects.toThrow(
      'failed',
    );
    expect(await withLease('work', 'busy', () => withLease('other', 'busy', () => Promise.resolve(1)))).toBe(
      1,
    );
    expect(await leases().countDocuments()).toBe(0);
  });

  it('is taken over from a process that died', async () => {
    await leases().insertOne({ _id: 'work', holder: 'dead', expires_at: new Date(Date.now() + 50_000) });
    await expect(withLease('work', 'busy', () => Promise.resolve(1))).rejects.toMatchObject({
      code: 'conflict',
    });
    await leases().updateOne({ _id: 'work' }, { $set: { expires_at: new Date(Date.now() - 86_400_000) } });
    expect(await withLease('work', 'busy', () => Promise.resolve(1))).toBe(1);
  });

  it.each([120_000, 86_400_000, 366 * 86_400_000])(
    'that ends in %d ms is none: the clock was ahead when its holder died',
    async (ms) => {
      await leases().insertOne({ _id: 'ahead', holder: 'dead', expires_at: new Date(Date.now() + ms) });
      expect(await isLeased('ahead')).toBe(false);
      expect(await withLease('ahead', 'busy', () => isLeased('ahead'))).toBe(true);
      expect(await leases().countDocuments({ _id: 'ahead' })).toBe(0);
    },
  );

  it('of another length than usual is one until its own time is over', async () => {
    const within = withLease('long', 'busy', () => isLeased('long'), 3_600_000);
    expect(await within).toBe(true);
  });

  it('is renewed while the work goes on', async () => {
    const expiry = async () => (await leases().findOne({ _id: 'work' }))?.expires_at.getTime() ?? 0;
    await withLease(
      'work',
      'busy',
      async () => {
        const first = await expiry();
        while ((await expiry()) === first) await pause(10);
        expect(await expiry()).toBeGreaterThan(first);
      },
      400,
    );
  });
});
