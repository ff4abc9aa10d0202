import { createHash } from 'node:crypto';
import { afterAll, beforeAll, jest } from '@jest/globals';
import mongoose from 'mongoose';
import type { FrontLimits } from '../../src/front/limits.js';
import { startEmbedded, type EmbeddedDatabase } from '../../src/spawn.js';

type MongoClient = mongoose.mongo.MongoClient;
type ClientOptions = mongoose.mongo.MongoClientOptions;

/** Tests start processes; a busy machine takes its time. */
const SLOW_MACHINE_MS = 60_000;

/** An embedded server of one test file, with clients that are closed at its end. */
export interface TestServer {
  readonly server: EmbeddedDatabase;
  /** Lines of the child's log so far. */
  readonly logLines: readonly string[];
  client(options?: ClientOptions): Promise<MongoClient>;
  db(): mongoose.mongo.Db;
}

/** Starts an embedded server before all tests of a file and stops it after them. */
export function useEmbedded(
  limits: Partial<FrontLimits> = {},
  dir: () => string | null = () => null,
): TestServer {
  jest.setTimeout(SLOW_MACHINE_MS);
  const clients: MongoClient[] = [];
  const logLines: string[] = [];
  let server: EmbeddedDatabase | undefined;
  let main: MongoClient | undefined;
  const running = (): EmbeddedDatabase => {
    if (server === undefined) throw new Error('the server is not started yet');
    return server;
  };
  const client = async (options: ClientOptions = {}): Promise<MongoClient> => {
    const made = new mongoose.mongo.MongoClient(running().uri, options);
    clients.push(made);
    return made.connect();
  };
  beforeAll(async () => {
    server = await startEmbedded({ dir: dir(), limits, log: (line) => logLines.push(line) });
    main = await client();
  });
  afterAll(async () => {
    for (const opened of clients) await opened.close();
    await server?.stop();
  });
  return {
    get server() {
      return running();
    },
    logLines,
    client,
    db: () => {
      if (main === undefined) throw new Error('the client is not connected yet');
      return main.db('test');
    },
  };
}

/** Everything in a database that an aborted transaction must leave as it was: documents byte for byte, indexes. */
export async function dump(db: mongoose.mongo.Db): Promise<Record<string, unknown>> {
  const listed = await db.listCollections().toArray();
  const state: Record<string, unknown> = {};
  for (const { name, type } of listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (type === 'view') {
      state[name] = 'view';
      continue;
    }
    const raw = await db
      .collection(name)
      .find({}, { raw: true, sort: { _id: 1 } })
      .toArray();
    const indexes = await db.collection(name).indexes();
    state[name] = {
      documents: summary(raw.map((bytes) => Buffer.from(bytes as unknown as Uint8Array))),
      indexes: indexes.map((index) => String(index.name)).toSorted(),
    };
  }
  return state;
}

const SHOWN = 100;

/** The documents in hexadecimal; of many or large ones only their number and a hash. */
function summary(documents: readonly Buffer[]): unknown {
  const bytes = documents.reduce((sum, document) => sum + document.length, 0);
  if (documents.length <= SHOWN && bytes < 100_000)
    return documents.map((document) => document.toString('hex'));
  const hash = createHash('sha256');
  for (const document of documents) hash.update(document);
  return { count: documents.length, sha256: hash.digest('hex') };
}
