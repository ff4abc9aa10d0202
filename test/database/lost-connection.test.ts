import { Socket } from 'node:net';
import { afterEach, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import { useOwnDatabase } from '../support/database.js';

useOwnDatabase([{ name: 'things', indexes: [] }]);
afterEach(() => {
  jest.restoreAllMocks();
});

it('an operation whose connection is destroyed as its command is written is done on another one', async () => {
  const write = Reflect.get(Socket.prototype, 'write') as (...args: unknown[]) => unknown;
  let destroyed = 0;
  jest.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...args: unknown[]) {
    const [bytes] = args;
    if (destroyed === 0 && bytes instanceof Uint8Array && Buffer.from(bytes).includes('things')) {
      destroyed += 1;
      this.destroy();
    }
    return Reflect.apply(write, this, args) as boolean;
  });
  expect(await mongoose.connection.collection('things').countDocuments()).toBe(0);
  expect(destroyed).toBe(1);
});
