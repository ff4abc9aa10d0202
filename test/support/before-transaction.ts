import { AsyncLocalStorage } from 'node:async_hooks';
import { jest } from '@jest/globals';
import mongoose from 'mongoose';

/** What happens there is no part of what the transaction is of. */
const outside = AsyncLocalStorage.snapshot();

/**
 * Lets something happen once, just before the first transaction of this process that begins when it `isTime`. Resolves when that is
 * over; throws what it throws.
 */
export function beforeTransaction(
  isTime: () => Promise<boolean>,
  happens: () => Promise<void>,
): Promise<void> {
  const begin = mongoose.connection.transaction.bind(mongoose.connection);
  const spy = jest.spyOn(mongoose.connection, 'transaction');
  return new Promise((resolve, reject) => {
    let isOver = false;
    spy.mockImplementation(async (...given) => {
      if (!isOver && (await outside(isTime))) {
        isOver = true;
        spy.mockRestore();
        await outside(happens).then(resolve, reject);
      }
      return begin(...given);
    });
  });
}
