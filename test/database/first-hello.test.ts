import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import { connectMongoose } from '../../database/connect.js';
import { inTransaction } from '../../database/transaction.js';
import { moveDocuments } from '../../models/merge-content.js';
import { COLLECTIONS } from '../../models/layout.js';
import { runWrites } from '../../models/write-batch.js';
import { startDatabaseProcess, type DatabaseProcess } from '../support/database-process.js';

jest.setTimeout(120_000);
const folder = mkdtempSync(join(tmpdir(), 'everchart-hello-'));
let database: DatabaseProcess;

beforeAll(async () => {
  database = await startDatabaseProcess(folder, { TMPDIR: folder });
  await connectMongoose(database.uri, 'first_hello');
  await mongoose.connection.collection(COLLECTIONS.itemTags).insertOne({ owner_id: 'from' });
});
afterAll(async () => {
  await mongoose.disconnect();
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

it('a process whose first question to the database failed writes and merges once the database is there', async () => {
  const collection = COLLECTIONS.itemTags;
  const write = (): Promise<boolean> =>
    inTransaction((session) => runWrites(session, [{ collection, insert: { owner_id: 'new' } }]));
  const move = (): Promise<number> =>
    inTransaction((session) =>
      moveDocuments(session, { collection, owner: 'owner_id', from: 'from', to: 'to' }),
    );
  await database.kill();
  await expect(write()).rejects.toThrow();
  await expect(move()).rejects.toThrow();
  database = await startDatabaseProcess(folder, { TMPDIR: folder });
  expect(await write()).toBe(true);
  expect(await move()).toBe(1);
});
