import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type mongoose from 'mongoose';
import { startEmbedded } from '../../src/spawn.js';
import { dump, useEmbedded } from '../support/embedded.js';
import { inSession, newSession, WireClient } from '../support/wire.js';

const tight = useEmbedded({
  slotWaitMs: 300,
  commandWaitMs: 500,
  warnAfterMs: 100,
  undoBytes: 1_000_000,
});
const shortLived = useEmbedded({ lifetimeMs: 300 });
const usual = useEmbedded();

describe('limits', () => {
  const items = (): mongoose.mongo.Collection => tight.db().collection('items');
  const open = async (): Promise<mongoose.mongo.ClientSession> => {
    const session = tight.db().client.startSession();
    session.startTransaction();
    await items().insertOne({ _id: 1 as never }, { session });
    return session;
  };
  beforeEach(async () => {
    await items().deleteMany({});
  });

  it('answers 24 with a label to a transaction that waits too long for its turn', async () => {
    const first = await open();
    const second = tight.db().client.startSession();
    second.startTransaction();
    const waiting = items().insertOne({ _id: 2 as never }, { session: second });
    await expect(waiting).rejects.toMatchObject({ code: 24, errorLabels: ['TransientTransactionError'] });
    await second.abortTransaction();
    await first.commitTransaction();
    expect(await items().countDocuments()).toBe(1);
  });

  it('answers 24 to a command outside that waits too long, after a warning in the log', async () => {
    const first = await open();
    await expect(items().findOne({})).rejects.toMatchObject({
      code: 24,
      message: expect.stringContaining('must carry its session') as unknown,
    });
    expect(tight.logLines.some((line) => line.startsWith('warning: find on test waits'))).toBe(true);
    await first.abortTransaction();
  });

  it('answers 50 to a command outside whose own maxTimeMS is over', async () => {
    const first = await open();
    await expect(items().findOne({}, { maxTimeMS: 50 })).rejects.toMatchObject({ code: 50 });
    await first.abortTransaction();
  });

  it('aborts a transaction that lives too long', async () => {
    const short = shortLived.db().collection('items');
    const session = shortLived.db().client.startSession();
    session.startTransaction();
    await short.insertOne({ _id: 1 as never }, { session });
    expect(await short.countDocuments()).toBe(0);
    await expect(short.findOne({}, { session })).rejects.toMatchObject({
      code: 251,
      errorLabels: ['TransientTransactionError'],
    });
    await session.abortTransaction();
  });

  it('answers 257 to a transaction that changes too much, and undoes it', async () => {
    const text = 'x'.repeat(1_000);
    await items().insertMany(Array.from({ length: 1_500 }, (_, n) => ({ n, text })));
    const session = tight.db().client.startSession();
    session.startTransaction();
    await items().updateOne({ n: 1 }, { $set: { changed: true } }, { session });
    await expect(items().updateMany({}, { $set: { changed: true } }, { session })).rejects.toMatchObject({
      code: 257,
    });
    await session.abortTransaction();
    expect(await items().countDocuments({ changed: true })).toBe(0);
  });
});

describe('sizes', () => {
  it('undoes the change of a 16 MB document', async () => {
    const big = usual.db().collection('big');
    await big.insertOne({ _id: 1 as never, text: 'x'.repeat(16 * 1024 * 1024 - 100) });
    const before = await dump(usual.db());
    const session = usual.db().client.startSession();
    session.startTransaction();
    await big.updateOne({}, { $set: { text: 'short' } }, { session });
    await session.abortTransaction();
    expect((await dump(usual.db()))['big']).toEqual(before['big']);
    await big.drop();
  });

  it('undoes 10 000 operations of one command, and 10 000 hits of one operation', async () => {
    const many = usual.db().collection('many');
    await many.insertMany(Array.from({ length: 10_000 }, (_, _id) => ({ _id, n: _id }) as never));
    const before = await dump(usual.db());
    const session = usual.db().client.startSession();
    session.startTransaction();
    const updates = Array.from({ length: 10_000 }, (_, id) => ({
      updateOne: { filter: { _id: id as never }, update: { $inc: { n: 1 } } },
    }));
    await many.bulkWrite(updates, { session });
    await many.updateMany({}, { $inc: { n: 1 } }, { session });
    await many.deleteMany({ n: { $gt: 5_000 } }, { session });
    await session.abortTransaction();
    expect(await dump(usual.db())).toEqual(before);
  });

  it('serves 1 000 connections', async () => {
    const clients = await Promise.all(
      Array.from({ length: 1_000 }, () => WireClient.connect(usual.server.address)),
    );
    const replies = await Promise.all(clients.map((client) => client.command({ find: 'none', $db: 'test' })));
    expect(replies.every((reply) => reply['ok'] === 1)).toBe(true);
    clients.forEach((client) => {
      client.close();
    });
  });

  it('makes and drops databases over and over beside transactions', async () => {
    const { client } = usual.db();
    for (let round = 0; round < 15; round += 1) {
      const db = client.db(`round_${round % 3}`);
      const session = client.startSession();
      await session.withTransaction(() => db.collection('a').insertOne({ round }, { session }));
      await session.endSession();
      expect(await db.collection('a').countDocuments()).toBe(1);
      await db.dropDatabase();
    }
  });
});

describe('handshake', () => {
  const EXHAUST_ALLOWED = 0x10000;

  it('says it is a primary, without cluster times or compression', async () => {
    const hello = await usual.db().admin().command({ hello: 1 });
    const { address } = usual.server;
    expect(hello).toMatchObject({
      isWritablePrimary: true,
      setName: 'rs0',
      hosts: [address],
      primary: address,
      me: address,
      logicalSessionTimeoutMinutes: 30,
      maxBsonObjectSize: 16_777_216,
      maxMessageSizeBytes: 33_554_432,
      maxWriteBatchSize: 100_000,
    });
    expect(hello).not.toHaveProperty('$clusterTime');
    expect(hello).not.toHaveProperty('compression');
  });

  it('streams hellos to a client that knows the topology', async () => {
    const wire = await WireClient.connect(usual.server.address);
    const first = await wire.command({ hello: 1, $db: 'admin' });
    const { topologyVersion } = first;
    const requestId = wire.send(
      { hello: 1, topologyVersion, maxAwaitTimeMS: 50, $db: 'admin' },
      EXHAUST_ALLOWED,
    );
    const sentAt = performance.now();
    const second = await wire.receive();
    expect(performance.now() - sentAt).toBeGreaterThan(40);
    expect(second).toMatchObject({ responseTo: requestId, flags: 2 });
    const third = await wire.receive();
    expect(third).toMatchObject({ responseTo: second.requestId, flags: 2 });
    wire.close();
  });

  it('answers other commands of the legacy protocol with 352 and closes on nonsense', async () => {
    const wire = await WireClient.connect(usual.server.address);
    wire.socket.write(Buffer.from([1, 0, 0, 0, ...Array.from({ length: 20 }, () => 0)]));
    await expect(wire.receive()).rejects.toThrow('closed');
  });
});

describe('processes', () => {
  it('frees the lock when a client is killed in the middle of a transaction', async () => {
    const script = `
      import mongoose from 'mongoose';
      const client = await new mongoose.mongo.MongoClient(process.argv[1]).connect();
      const session = client.startSession();
      session.startTransaction();
      await client.db('test').collection('killed').insertOne({ n: 1 }, { session });
      process.stdout.write('open');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, usual.server.uri]);
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    const killedAt = performance.now();
    expect(await usual.db().collection('killed').countDocuments()).toBe(0);
    expect(performance.now() - killedAt).toBeLessThan(5_000);
  });

  it('refuses a second process on one directory at once', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'everchart-test-'));
    const first = await startEmbedded({ dir, log: () => undefined });
    await expect(startEmbedded({ dir, log: () => undefined })).rejects.toMatchObject({
      isUnavailable: false,
    });
    await first.stop();
    await rm(dir, { recursive: true });
  });

  it('leaves no temporary directory behind', async () => {
    const server = await startEmbedded({ dir: null, log: () => undefined });
    expect(await readdir(server.dir)).not.toHaveLength(0);
    await server.stop();
    await expect(readdir(server.dir)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

it('keeps a session number apart from those of other sessions', async () => {
  const wire = await WireClient.connect(usual.server.address);
  const insert = { insert: 'sessions', documents: [{}], $db: 'test' };
  for (const lsid of [newSession(), newSession()]) {
    expect(await wire.command({ ...insert, ...inSession(lsid, 1, { starts: true }) })).toMatchObject({
      ok: 1,
    });
    const commit = { commitTransaction: 1, $db: 'admin', ...inSession(lsid, 1) };
    expect(await wire.command(commit)).toMatchObject({ ok: 1 });
  }
  wire.close();
});
