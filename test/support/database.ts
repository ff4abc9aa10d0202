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

/** URI of the database server of this run, or of this worker where each has one. */
export function testDatabaseUri(): string {
  const ofWorker = process.env[`TEST_MONGODB_URI_${process.env['JEST_WORKER_ID'] ?? '1'}`];
  const uri = ofWorker ?? process.env['TEST_MONGODB_URI'];
  if (uri === undefined)
    throw new Error('the database of the run is missing: see test/support/jest/global-setup.mjs');
  return uri;
}

/** Whether this file has the worker's database, which others had before; from `useDatabase()` on. */
let isShared = false;
/** Whether somebody has been told the name of this file's own, so that it has to be that. */
let isNamed = false;

/** The database of this test file: one that no other file uses meanwhile. */
export function testDatabaseName(): string {
  const worker = process.env['JEST_WORKER_ID'] ?? '1';
  if (isShared) return `test_${worker}`;
  isNamed = true;
  const { testPath } = expect.getState();
  const path = testPath ?? 'unknown';
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 8);
  const name = basename(path).replace(/\W.*$/, '').slice(0, 30);
  return `test_${worker}_${name}_${digest}`;
}

/**
 * Connects mongoose to an empty database with all collections and indexes of the product before all tests. It is one for all files
 * of a worker, one after the other, which empty it: its 34 collections and 102 indexes take the database half a second of processor time.
 */
export function useDatabase(): void {
  isShared = !isNamed;
  if (!isShared) {
    useOwnDatabase();
    return;
  }
  beforeAll(async () => {
    await connectTestDatabase();
    if (await isEmptied()) return;
    await makeAnew(COLLECTION_LAYOUT);
    await keepCatalog();
  });
  afterAll(() => mongoose.disconnect());
}

/**
 * Connects mongoose to a database of this test file alone before all tests, with all collections and indexes of the product or
 * those given; drops it after them. For tests that look at plans, which know of what an index or a cache has seen, or have a layout of their own.
 */
export function useOwnDatabase(layout: readonly CollectionDefinition[] = COLLECTION_LAYOUT): void {
  beforeAll(async () => {
    await connectTestDatabase();
    await makeAnew(layout);
  });
  afterAll(async () => {
    await mongoose.connection.dropDatabase();
    await mongoose.disconnect();
  });
}

async function connectTestDatabase(): Promise<void> {
  await connectMongoose(patient(testDatabaseUri()), testDatabaseName(), PATIENCE_MS);
}

async function makeAnew(layout: readonly CollectionDefinition[]): Promise<void> {
  await mongoose.connection.dropDatabase();
  await createCollections(layout);
}

/** More than these are gone sooner with their collections. */
const MOST_EMPTIED = 5_000;

/** Empties the database if it has the collections and indexes that it was made with, and not too much; says whether. */
async function isEmptied(): Promise<boolean> {
  const { db } = mongoose.connection;
  const catalog = await catalogOf(db!);
  if (catalog === '' || catalog !== catalogs().get(db!.databaseName)) return false;
  const { objects } = (await db!.command({ dbStats: 1 })) as unknown as { objects: number };
  if (objects > MOST_EMPTIED) return false;
  const names = COLLECTION_LAYOUT.map(({ name }) => name);
  const { nErrors } = await db!.admin().command({
    bulkWrite: 1,
    ops: names.map((_, index) => ({ delete: index, filter: {}, multi: true })),
    nsInfo: names.map((name) => ({ ns: `${db!.databaseName}.${name}` })),
    errorsOnly: true,
  });
  return nErrors === 0;
}

/** Notes what the database is made with, for the files after this one. */
async function keepCatalog(): Promise<void> {
  const { db } = mongoose.connection;
  catalogs().set(db!.databaseName, await catalogOf(db!));
}

/** Catalogues by name of the database, of all files of the worker: `test/support/jest/environment.mjs`. */
function catalogs(): Map<string, string> {
  return (globalThis as unknown as { everchartCatalogs: Map<string, string> }).everchartCatalogs;
}

/** Collections and indexes as the server stores them, which collection by its UUID too; empty where it does not tell. */
async function catalogOf(db: mongoose.mongo.Db): Promise<string> {
  const pipeline = [{ $listCatalog: {} }, { $match: { db: db.databaseName } }, { $sort: { name: 1 } }];
  const ofDocuments = ['multikey', 'multikeyPaths'];
  try {
    const { cursor } = await db.admin().command({ aggregate: 1, pipeline, cursor: { batchSize: 1_000 } });
    const stored = (cursor as { firstBatch: unknown }).firstBatch;
    return JSON.stringify(stored, (name, value: unknown) => (ofDocuments.includes(name) ? undefined : value));
  } catch {
    return '';
  }
}
