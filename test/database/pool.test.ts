import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { connectMongoose, poolUse } from '../../database/connect.js';
import { testDatabaseName, testDatabaseUri } from '../support/database.js';

beforeEach(async () => {
  const uri = testDatabaseUri().replace(/&maxPoolSize=\d+/, '');
  const pool = `${uri.includes('?') ? '&' : '?'}maxPoolSize=1`;
  await connectMongoose(`${uri}${pool}`, testDatabaseName());
});
afterEach(() => mongoose.disconnect());

it('tells how many connections are open, how many are used and what waits for one', async () => {
  const state = { isDone: false };
  const pings = Array.from({ length: 5 }, () => mongoose.connection.db!.command({ ping: 1 }));
  const all = Promise.all(pings).finally(() => (state.isDone = true));
  const seen = [poolUse()];
  while (!state.isDone) {
    await turn();
    seen.push(poolUse());
  }
  await all;
  const highest = (name: keyof (typeof seen)[0]) => Math.max(...seen.map((use) => use[name]));
  expect([highest('size'), highest('checkedOut'), highest('waiting') > 1]).toEqual([1, 1, true]);
  expect(poolUse()).toEqual({ size: 1, checkedOut: 0, waiting: 0 });
});

it('forgets connections that were closed', async () => {
  await mongoose.disconnect();
  expect(poolUse()).toEqual({ size: 0, checkedOut: 0, waiting: 0 });
});
