import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import mongoose from 'mongoose';
import { connectMongoose } from '../../database/connect.js';
import { createCollections, type CollectionDefinition } from '../../database/indexes.js';
import { COLLECTION_LAYOUT } from '../../models/access/layout.js';

/** What a test waits for is never the pace of a machine: a database that others keep busy is not one that went away. */
const PATIENCE_MS = 60_000;

function patient(uri: string): string {
  const waits = ['serverSelectionTimeoutMS', 'connectTimeoutMS'].map((name) => `${name}=${PATIENCE_MS}`);
  return [uri, ...waits].join(uri.includes('?') ? '&' : '?');
}

/** URI of the database server of this run. */
export function testDatabaseUri(): string {
  const uri = process.env['TEST_MONGODB_URI'];
  if (uri === undefined)
    throw new Error('the database of the run is missing: see test/support/jest/global-setup.mjs');
  return uri;
}

/** A database name of this worker and test file alone. */
export function testDatabaseName(): string {
  const { testPath } = expect.getState();
  const path = testPath ?? 'unknown';
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 8);
  const name = basename(path).replace(/\W.*$/, '').slice(0, 30);
  return `test_${process.env['JEST_WORKER_ID'] ?? '1'}_${name}_${digest}`;
}

/**
 * Connects mongoose to a database of this test file alone, with all collections and indexes of the product (or
 * those given), before all tests; drops it after them.
 */
export function useDatabase(layout: readonly CollectionDefinition[] = COLLECTION_LAYOUT): void {
  beforeAll(async () => {
    await connectMongoose(patient(testDatabaseUri()), testDatabaseName(), PATIENCE_MS);
    await mongoose.connection.dropDatabase();
    await createCollections(layout);
  });
  afterAll(async () => {
    await mongoose.connection.dropDatabase();
    await mongoose.disconnect();
  });
}
