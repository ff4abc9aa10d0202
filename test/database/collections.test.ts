import { afterEach, describe, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import { createCollections } from '../../database/indexes.js';
import { COLLECTIONS } from '../../models/layout.js';
import { useDatabase } from '../support/database.js';

useDatabase();

const database = () => mongoose.connection.db!;

async function compressorOf(name: string): Promise<string | undefined> {
  const [stats] = await mongoose.connection
    .collection(name)
    .aggregate<{ storageStats: { wiredTiger: { creationString: string } } }>([
      { $collStats: { storageStats: {} } },
    ])
    .toArray();
  return /block_compressor=(\w*)/.exec(stats!.storageStats.wiredTiger.creationString)?.[1];
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('collections', () => {
  it.each(Object.values(COLLECTIONS))('%s is compressed with zstd', async (name) => {
    expect(await compressorOf(name)).toBe('zstd');
  });

  it('are made as a server likes it that refuses the option', async () => {
    const db = database();
    const create = db.createCollection.bind(db);
    const asked = jest.spyOn(db, 'createCollection').mockImplementation((name, options) => {
      if (options?.storageEngine === undefined) return create(name);
      return Promise.reject(new mongoose.mongo.MongoServerError({ message: 'no zstd', code: 72 }));
    });
    await createCollections([{ name: 'refused', indexes: [{ key: { a: 1 } }] }]);
    expect(asked).toHaveBeenCalledTimes(2);
    expect(await database().collection('refused').indexExists('a_1')).toBe(true);
  });

  it('that another process makes meanwhile are taken as they are', async () => {
    const definition = { name: 'twice', indexes: [] };
    await Promise.all(Array.from({ length: 8 }, () => createCollections([definition])));
    expect(await compressorOf('twice')).toBe('zstd');
  });
});
