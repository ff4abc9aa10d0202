import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';

import { recordIdempotentResult, withIdempotencyClaim } from '../../change/commit/idempotency.js';
import { inTransaction } from '../../database/transaction.js';
import { isDuplicateKey } from '../../database/mongo-error.js';
import {
  completedRequest,
  completedRequestInsert,
  isCompletedMeanwhile,
  removeExpiredRequests,
} from '../../models/idempotency.js';
import { itemTagInsert, type ItemTagDoc } from '../../models/item-tag.js';
import { runWrites, type Write } from '../../models/access/write.js';
import { useDatabase } from '../support/database.js';

const things = () => mongoose.connection.collection('settings');

/** A write as every POST makes it: what it is about, and what is memoized of it. */
function write(id: string, bodyHash = 'h'): Promise<void> {
  return withIdempotencyClaim({ id, bodyHash, status: 201 }, () =>
    inTransaction(async (session) => {
      await things().insertOne({ made: id }, { session });
      await recordIdempotentResult(session, { kind: 'THING', uids: { id } });
    }),
  );
}

useDatabase();

describe('recordIdempotentResult', () => {
  it('lets one of several processes write, whatever the others expected', async () => {
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
    const failing = withIdempotencyClaim({ id, bodyHash: 'h', status: 201 }, () =>
      inTransaction(async (session) => {
        await recordIdempotentResult(session, { kind: 'THING', uids: {} });
        throw new Error('too late');
      }),
    );
    await expect(failing).rejects.toThrow('too late');
    expect(await completedRequest(id, new Date())).toBeNull();
  });

  it('does nothing without a claim', async () => {
    const before = await mongoose.connection.collection('idempotency_keys').countDocuments();
    await inTransaction((session) => recordIdempotentResult(session, { kind: 'THING', uids: {} }));
    expect(await mongoose.connection.collection('idempotency_keys').countDocuments()).toBe(before);
  });
});

it('a batch tells the key that was completed meanwhile from any other id that is taken', async () => {
  const id = randomUUID();
  await write(id);
  const failure = (write: Write): Promise<unknown> =>
    inTransaction((session) => runWrites(session, [write])).catch((error: unknown) => error);
  const doc = await completedRequest(id, new Date());
  expect(isCompletedMeanwhile(await failure(completedRequestInsert(doc!)))).toBe(true);
  const tag: ItemTagDoc = {
    ...{ _id: id, owner_id: id, target: id, target_type: 'COMPOSITION', target_version: null },
    ...{ key: 'idempotency_keys', value: null, target_path: '.idempotency_keys ' },
  };
  await inTransaction((session) => runWrites(session, [itemTagInsert(tag)]));
  const taken = await failure(itemTagInsert(tag));
  expect(isDuplicateKey(taken)).toBe(true);
  expect(isCompletedMeanwhile(taken)).toBe(false);
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
