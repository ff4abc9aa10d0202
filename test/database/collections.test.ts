import { afterEach, describe, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import { createCollections } from '../../database/indexes.js';
import { COLLECTION_LAYOUT, COLLECTIONS } from '../../models/access/layout.js';
import { useOwnDatabase } from '../support/database.js';

useOwnDatabase();

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

async function compressedIndexes(name: string): Promise<string[]> {
  const indexes = await mongoose.connection.collection(name).indexes();
  return indexes.filter((index) => JSON.stringify(index).includes('zstd')).map((index) => index.name!);
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('collections', () => {
  it.each(Object.values(COLLECTIONS))('%s is compressed with zstd', async (name) => {
    expect(await compressorOf(name)).toBe('zstd');
  });

  it('have compressed indexes, and those that are there stay as they are', async () => {
    const plain = mongoose.connection.collection('old');
    await plain.createIndexes([{ key: { a: 1 }, name: 'a_1' }]);
    for (let start = 0; start < 2; start += 1)
      await createCollections([{ name: 'old', indexes: [{ key: { a: 1 } }, { key: { b: -1 } }] }]);
    expect(await compressedIndexes('old')).toEqual(['b_-1']);
    const { indexes } = COLLECTION_LAYOUT.find(({ name }) => name === COLLECTIONS.aql)!;
    expect(await compressedIndexes(COLLECTIONS.aql)).toHaveLength(indexes.length);
  });

  it('with an index that contradicts an old one are refused', async () => {
    await mongoose.connection.collection('other').createIndexes([{ key: { a: 1 }, name: 'a_1' }]);
    const definition = { name: 'other', indexes: [{ key: { a: 1 }, options: { unique: true } }] } as const;
    await expect(createCollections([definition])).rejects.toThrow('a_1');
  });

  it('are made as a server likes it that refuses the option', async () => {
    const db = database();
    const refusal = new mongoose.mongo.MongoServerError({ message: 'no zstd', code: 72 });
    const create = db.createCollection.bind(db);
    const asked = jest.spyOn(db, 'createCollection').mockImplementation((name, options) => {
      if (options?.storageEngine === undefined) return create(name);
      return Promise.reject(refusal);
    });
    const run = db.command.bind(db);
    jest.spyOn(db, 'command').mockImplementation((command, more) => {
      return JSON.stringify(command).includes('zstd') ? Promise.reject(refusal) : run(command, more);
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
