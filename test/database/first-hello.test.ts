import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { connectMongoose } from '../../database/connect.js';
import { inTransaction } from '../../database/transaction.js';
import { itemTagInsert, type ItemTagDoc } from '../../models/item-tag.js';
import { moveItemTags } from '../../models/cross-collection/owned-documents.js';
import { COLLECTIONS } from '../../models/access/layout.js';
import { runWrites } from '../../models/access/write.js';
import { startDatabaseProcess, type DatabaseProcess } from '../support/process/database.js';

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
  const tag: ItemTagDoc = {
    ...{ _id: 'tag', owner_id: 'new', target: 'target', target_type: 'COMPOSITION', target_version: null },
    ...{ key: 'key', value: null, target_path: null },
  };
  const write = (): Promise<boolean> => inTransaction((session) => runWrites(session, [itemTagInsert(tag)]));
  const move = (): Promise<number> =>
    inTransaction((session) => moveItemTags(session, { from: 'from', to: 'to' }));
  await database.kill();
  await expect(write()).rejects.toThrow();
  await expect(move()).rejects.toThrow();
  database = await startDatabaseProcess(folder, { TMPDIR: folder });
  expect(await write()).toBe(true);
  expect(await move()).toBe(1);
});
