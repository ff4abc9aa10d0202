import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';

import { recordIdempotentResult, withIdempotencyClaim } from '../../change/commit/idempotency.js';
import { inTransaction } from '../../database/transaction.js';
import { completedRequest, removeExpiredRequests } from '../../models/idempotency.js';
import { useDatabase } from '../support/database.js';

const things = () => mongoose.connection.collection('settings');

/** A write as every POST makes it: what it is about, and what is memoized of it. */
function write(id: string, bodyHash = 'h'): Promise<void> {
  return withIdempotencyClaim({ id, bodyHash }, () =>
    inTransaction(async (session) => {
      await things().insertOne({ made: id }, { session });
      await recordIdempotentResult({ kind: 'THING', uids: { id } });
    }),
  );
}

useDatabase();

describe('recordIdempotentResult', () => {
  it('lets one of several processes write, whatever the others believed', async () => {
    const id = randomUUID();
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => write(id)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await things().countDocuments({ made: id })).toBe(1);
    expect(await completedRequest(id, new Date())).toMatchObject({
      _id: id,
      body_hash: 'h',
      status: 201,
      result: { kind: 'THING', uids: { id } },
    });
  });

  it('remembers nothing of a transaction that is rolled back', async () => {
    const id = randomUUID();
    const failing = withIdempotencyClaim({ id, bodyHash: 'h' }, () =>
      inTransaction(async () => {
        await recordIdempotentResult({ kind: 'THING', uids: {} });
        throw new Error('too late');
      }),
    );
    await expect(failing).rejects.toThrow('too late');
    expect(await completedRequest(id, new Date())).toBeNull();
  });

  it('does nothing without a claim', async () => {
    const before = await mongoose.connection.collection('idempotency_keys').countDocuments();
    await inTransaction(() => recordIdempotentResult({ kind: 'THING', uids: {} }));
    expect(await mongoose.connection.collection('idempotency_keys').countDocuments()).toBe(before);
  });
});

describe('removeExpiredRequests', () => {
  it('removes what has expired and nothing else', async () => {
    const [old, young] = [randomUUID(), randomUUID()];
    await write(old);
    await write(young);
    const keys = mongoose.connection.collection<{ _id: string }>('idempotency_keys');
    await keys.updateOne({ _id: old }, { $set: { expires_at: new Date(Date.now() - 1000) } });
    expect(await removeExpiredRequests(new Date())).toBe(1);
    expect(await keys.countDocuments({ _id: old })).toBe(0);
    expect(await keys.countDocuments({ _id: young })).toBe(1);
  });
});
