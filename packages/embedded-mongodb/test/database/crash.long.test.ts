import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import { launchEmbedded, startEmbedded, type EmbeddedDatabase } from '../../src/spawn.js';
import { superviseEmbedded } from '../../src/supervise.js';
import { dump } from '../support/embedded.js';

/** `EMBEDDED_CRASH_ROUNDS=50 EMBEDDED_CRASH_RECORDS=20000` for a long look. */
const ROUNDS = Number(process.env['EMBEDDED_CRASH_ROUNDS'] ?? 2);
const RECORDS = Number(process.env['EMBEDDED_CRASH_RECORDS'] ?? 2_000);
const KILLED_RECOVERIES = RECORDS >= 20_000 ? 7 : 2;
const ACCOUNTS = 10;

interface Entry {
  readonly _id: number;
  readonly name?: string;
  readonly n?: number;
}

jest.setTimeout(600_000);
let dir: string;
let started: EmbeddedDatabase[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'everchart-crash-'));
});
afterEach(async () => {
  for (const server of started) await server.stop();
  started = [];
  await rm(dir, { recursive: true, force: true });
});

/** Starts a server that ends with its test, whatever becomes of the test. */
async function start(): Promise<EmbeddedDatabase> {
  const server = await startEmbedded({ dir, log: () => undefined });
  started.push(server);
  return server;
}
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs `work` on a client of a running server and closes the client. */
async function withClient<T>(
  uri: string,
  work: (client: mongoose.mongo.MongoClient) => Promise<T>,
  serverSelectionTimeoutMS = 5_000,
): Promise<T> {
  const client = await new mongoose.mongo.MongoClient(uri, { serverSelectionTimeoutMS }).connect();
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Moves money and writes an entry for it, in one transaction. */
async function transfer(client: mongoose.mongo.MongoClient, entry: number): Promise<void> {
  const db = client.db('bank');
  const [from, to] = [entry % ACCOUNTS, (entry * 7 + 3) % ACCOUNTS];
  const session = client.startSession();
  try {
    await session.withTransaction(async () => {
      await db.collection<Entry>('entries').insertOne({ _id: entry }, { session });
      await db.collection<Entry>('accounts').updateOne({ _id: from }, { $inc: { n: -1 } }, { session });
      await db.collection<Entry>('accounts').updateOne({ name: `a${to}` }, { $inc: { n: 1 } }, { session });
    });
  } finally {
    await session.endSession().catch(() => undefined);
  }
}

/** Transfers until the server is killed; answers the entries whose commit was acknowledged. */
async function transferUntilKilled(
  server: EmbeddedDatabase,
  first: number,
  killAfterMs: number,
): Promise<number[]> {
  const acknowledged: number[] = [];
  const killer = sleep(killAfterMs).then(() => process.kill(server.pid, 'SIGKILL'));
  const work = async (client: mongoose.mongo.MongoClient): Promise<void> => {
    for (let entry = first; ; entry += 1) {
      await transfer(client, entry);
      acknowledged.push(entry);
    }
  };
  await withClient(server.uri, work, 300).catch(() => undefined);
  await killer;
  return acknowledged;
}

it('keeps every acknowledged transfer and no half one through kill -9', async () => {
  let server = await start();
  await withClient(server.uri, async (client) => {
    const accounts = Array.from({ length: ACCOUNTS }, (_, n) => ({ _id: n, name: `a${n}`, n: 100 }));
    await client.db('bank').collection<Entry>('accounts').insertMany(accounts);
  });
  const acknowledged: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    acknowledged.push(...(await transferUntilKilled(server, round * 100_000, 150 + Math.random() * 400)));
    server = await start();
    await withClient(server.uri, async (client) => {
      const accounts = await client.db('bank').collection<Entry>('accounts').find().toArray();
      const entries = await client.db('bank').collection<Entry>('entries').find().toArray();
      const found = new Set(entries.map((entry) => entry._id));
      expect(accounts.reduce((sum, account) => sum + (account.n ?? 0), 0)).toBe(ACCOUNTS * 100);
      expect(acknowledged.filter((entry) => !found.has(entry))).toEqual([]);
      // one commit a round may have gone through without its answer reaching the client
      expect(found.size - acknowledged.length).toBeLessThanOrEqual(round + 1);
      expect(accountsAfter([...found])).toEqual(accounts.map((account) => account.n));
    });
  }
  expect(acknowledged.length).toBeGreaterThan(0);
  await server.stop();
});

/** Balances that these entries make. */
function accountsAfter(entries: readonly number[]): number[] {
  const balances = Array.from({ length: ACCOUNTS }, () => 100);
  for (const entry of entries) {
    balances[entry % ACCOUNTS]! -= 1;
    balances[(entry * 7 + 3) % ACCOUNTS]! += 1;
  }
  return balances;
}

it('puts everything back although the recovery itself is killed again and again', async () => {
  const server = await start();
  const before = await withClient(
    server.uri,
    async (client) => {
      const db = client.db('test');
      const documents = Array.from({ length: RECORDS }, (_, n) => ({ _id: n, n, text: 'x'.repeat(2_000) }));
      await db.collection<Entry>('many').insertMany(documents);
      await db.collection<Entry>('kept').insertOne({ _id: 1 });
      const state = await dump(db);
      const session = client.startSession();
      session.startTransaction();
      await db.collection('many').updateMany({}, { $set: { text: 'changed' } }, { session });
      await db.collection('many').deleteMany({ n: { $lt: RECORDS / 4 } }, { session });
      await db.collection<Entry>('many').insertMany([{ _id: -1 }, { _id: -2 }], { session });
      await db.collection<Entry>('fresh').insertOne({ _id: 1 }, { session });
      await db.collection('kept').updateOne({}, { $set: { changed: true } }, { session });
      process.kill(server.pid, 'SIGKILL');
      return state;
    },
    500,
  );
  for (let round = 0; round < KILLED_RECOVERIES; round += 1) {
    const child = launchEmbedded({ dir, log: () => undefined });
    await sleep(350 + Math.random() * 300 + (RECORDS / 100) * Math.random());
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  const last = await start();
  await withClient(last.uri, async (client) => {
    expect(await dump(client.db('test'))).toEqual(before);
    expect(await client.db('config').collection('embedded_undo').countDocuments()).toBe(0);
    for (const name of ['many', 'kept']) {
      expect(await client.db('test').command({ validate: name, full: true })).toMatchObject({ valid: true });
    }
  });
  await last.stop();
});

it('puts back what a release wrote that gave each record a document of its own', async () => {
  const server = await start();
  const { Binary, BSON } = mongoose.mongo;
  await withClient(
    server.uri,
    async (client) => {
      const items = client.db('test').collection<Entry>('a');
      await items.insertMany([
        { _id: 1, n: 2 },
        { _id: 2, n: 1 },
      ]);
      const image = BSON.serialize({ _id: 1, n: 1 });
      const [common, size] = [{ txn: 'one', ns: 'test.a' }, image.length];
      const records: readonly { readonly _id: number; readonly [field: string]: unknown }[] = [
        { _id: 0, txn: 'one', at: new Date() },
        { _id: 1, ...common, kind: 'image', id: 1, size, pre: new Binary(image.subarray(0, 7)) },
        { _id: 2, txn: 'one', kind: 'piece', pre: new Binary(image.subarray(7)) },
        { _id: 3, ...common, kind: 'absent', id: 2 },
      ];
      await client
        .db('config')
        .collection<Entry>('embedded_undo')
        .insertMany([...records]);
      process.kill(server.pid, 'SIGKILL');
    },
    500,
  );
  const next = await start();
  await withClient(next.uri, async (client) => {
    expect(await client.db('test').collection<Entry>('a').find().toArray()).toEqual([{ _id: 1, n: 1 }]);
    expect(await client.db('config').collection('embedded_undo').countDocuments()).toBe(0);
  });
});

it('runs again on its port after its process was killed, for the same client', async () => {
  const lines: string[] = [];
  const again = 'the embedded database runs again, 0 records put back';
  const server = await superviseEmbedded({ dir, log: (line) => lines.push(line) });
  try {
    await withClient(server.uri, async (client) => {
      const items = client.db('test').collection<Entry>('a');
      await items.insertOne({ _id: 1 });
      process.kill(server.pid, 'SIGKILL');
      while (!lines.includes(again)) await sleep(20);
      await items.insertOne({ _id: 2 });
      expect(await items.countDocuments()).toBe(2);
    });
    expect(lines).toEqual(['the embedded database ended unexpectedly (SIGKILL)', again]);
  } finally {
    await server.stop();
  }
});

it('goes on trying to start, however often that fails, until what stands against it is gone', async () => {
  const lines: string[] = [];
  const server = await superviseEmbedded({ dir, log: (line) => lines.push(line) });
  const away = `${dir}.away`;
  try {
    await withClient(server.uri, async (client) => {
      await client.db('test').collection<Entry>('a').insertOne({ _id: 1 });
    });
    const failures = (): number => lines.filter((line) => line.includes('cannot be started again')).length;
    // A file in place of the folder: the data cannot be opened, as on a disk without room.
    await rename(dir, away);
    await writeFile(dir, '');
    process.kill(server.pid, 'SIGKILL');
    while (failures() < 4) await sleep(50);
    await rm(dir);
    await rename(away, dir);
    while (!lines.some((line) => line.includes('runs again'))) await sleep(50);
    await withClient(server.uri, async (client) => {
      expect(await client.db('test').collection<Entry>('a').countDocuments()).toBe(1);
    });
    const pauses = lines.flatMap((line) => /started again in ([\d.]+) s/.exec(line)?.[1] ?? []);
    expect(pauses.slice(0, 3)).toEqual(['0.5', '1', '2']);
  } finally {
    await server.stop();
  }
});

it('keeps what was acknowledged outside of transactions when its process is killed at once', async () => {
  const lines: string[] = [];
  const server = await superviseEmbedded({ dir, log: (line) => lines.push(line) });
  try {
    await withClient(server.uri, async (client) => {
      const items = client.db('test').collection<Entry>('a');
      const one = { $set: { n: 1 } };
      const upsert = { upsert: true };
      const writes: ((_id: number) => Promise<unknown>)[] = [
        (_id) => items.insertOne({ _id }),
        (_id) => items.insertMany([{ _id }]),
        (_id) => items.updateOne({ _id }, one, upsert),
        (_id) => items.findOneAndUpdate({ _id }, one, upsert),
        (_id) => {
          const document: object = { _id };
          return client.bulkWrite([{ name: 'insertOne', namespace: 'test.a', document }]);
        },
      ];
      for (const [at, write] of writes.entries()) {
        await write(at);
        process.kill(server.pid, 'SIGKILL');
        while (lines.filter((line) => line.includes('runs again')).length <= at) await sleep(20);
        expect(await items.countDocuments()).toBe(at + 1);
      }
    });
  } finally {
    await server.stop();
  }
});

it('tells of each write of a bulk write, and puts back those before a refused one, with records in the engine', async () => {
  const server = await start();
  await withClient(server.uri, async (client) => {
    const items = client.db('test').collection<Entry>('a');
    await items.insertOne({ _id: 1, n: 1 });
    const write = (inserted: number): Promise<mongoose.mongo.ClientBulkWriteResult> => {
      const update = { $inc: { n: 1 } };
      const entry = (id: number): object => ({ _id: id });
      const models: mongoose.mongo.AnyClientBulkWriteModel<object>[] = [
        { name: 'updateOne', namespace: 'test.a', filter: entry(1), update },
        { name: 'insertOne', namespace: 'test.b', document: entry(inserted) },
        { name: 'updateOne', namespace: 'test.a', filter: entry(9), update },
        { name: 'insertOne', namespace: 'test.a', document: entry(inserted) },
      ];
      return client.withSession((session) =>
        session.withTransaction(() => client.bulkWrite(models, { session, verboseResults: true })),
      );
    };
    const result = await write(2);
    expect(result).toMatchObject({ insertedCount: 2, matchedCount: 1, modifiedCount: 1 });
    expect([...(result.insertResults ?? [])]).toEqual([
      [1, { insertedId: 2 }],
      [3, { insertedId: 2 }],
    ]);
    expect([...(result.updateResults ?? [])].map(([at, { matchedCount }]) => [at, matchedCount])).toEqual([
      [0, 1],
      [2, 0],
    ]);
    await expect(write(1)).rejects.toMatchObject({
      writeErrors: new Map([[3, expect.objectContaining({ code: 11_000 })]]),
    });
    expect(await items.find().sort({ _id: 1 }).toArray()).toEqual([{ _id: 1, n: 2 }, { _id: 2 }]);
    expect(await client.db('test').collection<Entry>('b').find().toArray()).toEqual([{ _id: 2 }]);
    expect(await client.db('config').collection('embedded_undo').countDocuments()).toBe(0);
  });
});

it('has nothing to put back after an orderly stop in the middle of a transaction', async () => {
  const server = await start();
  await withClient(
    server.uri,
    async (client) => {
      const session = client.startSession();
      session.startTransaction();
      await client.db('test').collection<Entry>('a').insertOne({ _id: 1 }, { session });
      await server.stop();
    },
    500,
  );
  const again = await start();
  expect(again.recovered).toBe(0);
  await withClient(again.uri, async (client) => {
    expect(await client.db('test').listCollections().toArray()).toEqual([]);
  });
  await again.stop();
});
