import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { withLease } from '../../models/access/lease.js';
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
    await leases().insertOne({ _id: 'work', holder: 'dead', expires_at: new Date(Date.now() + 86_400_000) });
    await expect(withLease('work', 'busy', () => Promise.resolve(1))).rejects.toMatchObject({
      code: 'conflict',
    });
    await leases().updateOne({ _id: 'work' }, { $set: { expires_at: new Date(Date.now() - 86_400_000) } });
    expect(await withLease('work', 'busy', () => Promise.resolve(1))).toBe(1);
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
