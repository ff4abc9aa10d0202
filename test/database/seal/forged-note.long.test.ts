import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { sealBaseline } from '../../../maintenance/baseline.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { claimStorage } from '../../../models/settings.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);

interface Stored {
  _id: string;
  [field: string]: unknown;
}
const collection = (name: string) => mongoose.connection.collection<Stored>(name);
const violations = async (): Promise<string[]> =>
  (await verifyStorage()).violations.map(({ kind, id }) => `${kind} ${id}`);

beforeAll(async () => {
  await claimStorage('local.cdr', 'all');
  await sealBaseline();
  await givenTemplate(app);
  await givenComposition(app, await givenEhr(app));
  await sealNewRecords();
});

describe('a forged note of a removal', () => {
  it.each(['retention', 'erasure'])(
    'does not make the removal of an audit record rightful: %s',
    async (reason) => {
      expect(await violations()).toEqual([]);
      const record = (await collection('audit').findOne({}))!;
      await collection('audit').deleteOne({ _id: record._id });
      const note = {
        _id: randomUUID(),
        kind: 'removed',
        reason,
        collection: 'audit',
        ids: [record._id],
        time: new Date(),
        unsealed: true,
      };
      await collection('removals').insertOne(note);
      // The server seals it, as whatever is new.
      await sealNewRecords();
      expect(await violations()).toContain(`inserted ${note._id}`);
      await collection('audit').insertOne(record);
      await collection('removals').deleteOne({ _id: note._id });
      await mongoose.connection.collection<{ _id: number }>('seal_blocks').deleteMany({});
      await collection('removals').deleteMany({});
      await sealBaseline();
      await sealNewRecords();
    },
  );
});
