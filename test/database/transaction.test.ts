import { describe, expect, it } from '@jest/globals';
import mongoose, { Schema } from 'mongoose';
import { CdrError } from '../../openehr/base/errors.js';
import { isDuplicateKey, duplicateKeyIndex } from '../../database/mongo-error.js';
import { inTransaction, setWriteWait } from '../../database/transaction.js';
import { useOwnDatabase } from '../support/database.js';

useOwnDatabase([{ name: 'counters', indexes: [{ key: { name: 1 }, options: { unique: true } }] }]);

interface CounterDoc {
  readonly _id: string;
  readonly name: string;
  readonly value: number;
}
const counterSchema = new Schema<CounterDoc>(
  { _id: String, name: String, value: Number },
  { collection: 'counters', versionKey: false },
);
const Counter = mongoose.model<CounterDoc>('Counter', counterSchema);

describe('inTransaction', () => {
  it('commits what models wrote without a session argument', async () => {
    await inTransaction(async () => {
      await Counter.create([{ _id: 'a', name: 'a', value: 1 }]);
      await Counter.updateOne({ _id: 'a' }, { $inc: { value: 1 } });
    });
    expect(await Counter.findById('a').lean()).toEqual({ _id: 'a', name: 'a', value: 2 });
  });

  it('leaves nothing behind when the work throws', async () => {
    const work = inTransaction(async () => {
      await Counter.create([{ _id: 'b', name: 'b', value: 1 }]);
      await Counter.updateOne({ _id: 'a' }, { $inc: { value: 100 } });
      throw new CdrError('invalid', 'No');
    });
    await expect(work).rejects.toMatchObject({ code: 'invalid' });
    expect(await Counter.find().lean()).toEqual([{ _id: 'a', name: 'a', value: 2 }]);
  });

  it('passes a duplicate key on, with the index that refused', async () => {
    const work = inTransaction(() => Counter.create([{ _id: 'c', name: 'a', value: 1 }]));
    const error: unknown = await work.catch((caught: unknown) => caught);
    expect(isDuplicateKey(error)).toBe(true);
    expect(duplicateKeyIndex(error)).toEqual({ name: 1 });
  });

  it('refuses to nest', async () => {
    await expect(inTransaction(() => inTransaction(() => Promise.resolve()))).rejects.toThrow(
      'inside another',
    );
  });

  it('counts right with 20 concurrent read-modify-write transactions', async () => {
    await Counter.create({ _id: 'n', name: 'n', value: 0 });
    await Promise.all(
      Array.from({ length: 20 }, () =>
        inTransaction(async () => {
          const now = await Counter.findById('n').lean();
          await Counter.updateOne({ _id: 'n' }, { $set: { value: (now?.value ?? 0) + 1 } });
        }),
      ),
    );
    expect((await Counter.findById('n').lean())?.value).toBe(20);
  });

  it('gives up with unavailable, to be tried again, when the time is over: a merge may be under way', async () => {
    const conflict = async (): Promise<never> => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      const error = new mongoose.mongo.MongoServerError({ message: 'write conflict', code: 112 });
      error.addErrorLabel('TransientTransactionError');
      throw error;
    };
    const busy = { code: 'unavailable', details: { retryAfterSeconds: 1 } };
    await expect(inTransaction(conflict, { retryMs: 50 })).rejects.toMatchObject(busy);
    setWriteWait(50);
    await expect(inTransaction(conflict)).rejects.toMatchObject(busy);
  });

  it('gives up with conflict after the allowed attempts', async () => {
    let attempts = 0;
    const work = inTransaction(
      () => {
        attempts += 1;
        const error = new mongoose.mongo.MongoServerError({ message: 'write conflict', code: 112 });
        error.addErrorLabel('TransientTransactionError');
        return Promise.reject(error);
      },
      { maxAttempts: 3, retryMs: 60_000 },
    );
    await expect(work).rejects.toMatchObject({ code: 'conflict' });
    expect(attempts).toBe(3);
  });
});
