import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { useEmbedded } from '../support/embedded.js';
import { inSession, newSession, WireClient } from '../support/wire.js';

const { Long } = mongoose.mongo.BSON;
const embedded = useEmbedded();
const transient = ['TransientTransactionError'];

describe('transaction state', () => {
  let wire: WireClient;
  let lsid = newSession();
  const insert = (id: number): Record<string, unknown> => ({
    insert: 'a',
    documents: [{ _id: id }],
    $db: 'test',
  });
  const end = (name: string, number: number): Promise<Record<string, unknown>> =>
    wire.command({ [name]: 1, $db: 'admin', ...inSession(lsid, number) });

  beforeEach(async () => {
    await embedded.db().dropDatabase();
    wire = await WireClient.connect(embedded.server.address);
    lsid = newSession();
  });
  afterEach(() => {
    wire.close();
  });

  const start = (number: number): Promise<Record<string, unknown>> =>
    wire.command({ ...insert(number), ...inSession(lsid, number, { starts: true }) });
  const ids = async (): Promise<unknown[]> =>
    (await embedded.db().collection('a').find().toArray()).map((d) => d._id);

  it('refuses a number below one already used with 225', async () => {
    expect(await start(5)).toMatchObject({ ok: 1, n: 1 });
    await end('commitTransaction', 5);
    expect(await start(4)).toMatchObject({ ok: 0, code: 225, codeName: 'TransactionTooOld' });
  });

  it('refuses to start the same number twice with 117', async () => {
    await start(5);
    expect(await start(5)).toMatchObject({ ok: 0, code: 117 });
    expect(await end('commitTransaction', 5)).toMatchObject({ ok: 1 });
  });

  it('aborts an older open transaction of the session when a newer one starts', async () => {
    await start(1);
    expect(await start(2)).toMatchObject({ ok: 1 });
    await end('commitTransaction', 2);
    expect(await ids()).toEqual([2]);
  });

  it('answers 251 with its label where no transaction is open', async () => {
    const reply = await wire.command({ ...insert(1), ...inSession(lsid, 7) });
    expect(reply).toMatchObject({ ok: 0, code: 251, codeName: 'NoSuchTransaction', errorLabels: transient });
    expect(await end('commitTransaction', 7)).toMatchObject({ code: 251, errorLabels: transient });
    expect(await end('abortTransaction', 7)).toMatchObject({ code: 251 });
  });

  it('commits a committed transaction again, and refuses to abort it with 256', async () => {
    await start(1);
    expect(await end('commitTransaction', 1)).toMatchObject({ ok: 1 });
    expect(await end('commitTransaction', 1)).toMatchObject({ ok: 1 });
    expect(await end('abortTransaction', 1)).toMatchObject({ ok: 0, code: 256 });
    expect(await wire.command({ ...insert(2), ...inSession(lsid, 1) })).toMatchObject({ ok: 0, code: 251 });
  });

  it('aborts, and then knows of no such transaction', async () => {
    await start(1);
    expect(await end('abortTransaction', 1)).toMatchObject({ ok: 1 });
    expect(await end('commitTransaction', 1)).toMatchObject({ ok: 0, code: 251, errorLabels: transient });
    expect(await ids()).toEqual([]);
  });

  it('rolls back at once when a write fails, and passes the failure on unchanged', async () => {
    await embedded
      .db()
      .collection('a')
      .insertOne({ _id: 9 as never });
    await start(1);
    const reply = await wire.command({ ...insert(9), ...inSession(lsid, 1) });
    expect(reply).toMatchObject({ ok: 1, n: 0, writeErrors: [{ index: 0, code: 11000 }] });
    expect(await ids()).toEqual([9]);
    expect(await end('commitTransaction', 1)).toMatchObject({ code: 251 });
  });

  it('rolls back at once when a command fails', async () => {
    await start(1);
    const reply = await wire.command({ find: 'a', filter: { $bad: 1 }, $db: 'test', ...inSession(lsid, 1) });
    expect(reply).toMatchObject({ ok: 0, code: 2 });
    expect(await ids()).toEqual([]);
  });

  it.each([
    ['count', { count: 'a' }],
    ['drop', { drop: 'a' }],
    ['listCollections', { listCollections: 1 }],
    ['aggregate with $out', { aggregate: 'a', pipeline: [{ $out: 'b' }], cursor: {} }],
    [
      'aggregate with $merge',
      { aggregate: 'a', pipeline: [{ $match: {} }, { $merge: { into: 'b' } }], cursor: {} },
    ],
    ['insert into a capped collection', { insert: 'capped', documents: [{ _id: 1 }] }],
    [
      'update of a capped collection',
      { update: 'capped', updates: [{ q: { x: 1 }, u: { $set: { y: 1 } } }] },
    ],
    ['insert into a time-series collection', { insert: 'series', documents: [{ at: new Date() }] }],
  ])('refuses %s with 263', async (_name, body) => {
    await embedded.db().createCollection('capped', { capped: true, size: 4096 });
    await embedded.db().createCollection('series', { timeseries: { timeField: 'at' } });
    await start(1);
    const reply = await wire.command({ ...body, $db: 'test', ...inSession(lsid, 1) });
    expect(reply).toMatchObject({ ok: 0, code: 263, codeName: 'OperationNotSupportedInTransaction' });
    expect(await end('commitTransaction', 1)).toMatchObject({ code: 251 });
  });

  it('refuses writes to config with 263', async () => {
    const reply = await wire.command({
      ...insert(1),
      $db: 'config',
      ...inSession(lsid, 1, { starts: true }),
    });
    expect(reply).toMatchObject({ ok: 0, code: 263 });
  });

  it('aborts when the session is ended, and frees the lock', async () => {
    await start(1);
    const other = await WireClient.connect(embedded.server.address);
    expect(await other.command({ endSessions: [lsid], $db: 'admin' })).toMatchObject({ ok: 1 });
    expect(await ids()).toEqual([]);
    other.close();
  });

  it('aborts when its only connection closes, and frees the lock at once', async () => {
    await start(1);
    const closedAt = performance.now();
    wire.close();
    expect(await ids()).toEqual([]);
    // A transaction that nobody ends goes after a minute.
    expect(performance.now() - closedAt).toBeLessThan(30_000);
  });

  it('survives one of two connections that it was seen on', async () => {
    const other = await WireClient.connect(embedded.server.address);
    await start(1);
    expect(await other.command({ ...insert(2), ...inSession(lsid, 1) })).toMatchObject({ ok: 1 });
    other.close();
    expect(await end('commitTransaction', 1)).toMatchObject({ ok: 1 });
    expect(await ids()).toEqual([1, 2]);
  });

  it('applies a retried write once', async () => {
    await embedded
      .db()
      .collection('a')
      .insertOne({ _id: 1 as never, n: 0 });
    const write = {
      update: 'a',
      updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }],
      lsid,
      txnNumber: Long.fromNumber(3),
      $db: 'test',
    };
    const first = await wire.command(write);
    expect(first).toMatchObject({ ok: 1, nModified: 1 });
    expect(await wire.command(write)).toEqual(first);
    expect(await wire.command({ ...write, txnNumber: Long.fromNumber(2) })).toMatchObject({ code: 225 });
    expect(await embedded.db().collection('a').findOne({})).toMatchObject({ n: 1 });
  });

  it('runs a failed retryable write again under the same number', async () => {
    const write = { insert: 'a', documents: [{ _id: 1 }], lsid, txnNumber: Long.fromNumber(1), $db: 'test' };
    expect(await wire.command({ ...write, unknownField: 1 })).toMatchObject({ ok: 0 });
    expect(await wire.command(write)).toMatchObject({ ok: 1, n: 1 });
  });

  it('runs the commands of one transaction one after another', async () => {
    await start(1);
    const others = await Promise.all([2, 3, 4, 5].map(() => WireClient.connect(embedded.server.address)));
    const replies = await Promise.all(
      others.map((client, index) => client.command({ ...insert(index + 2), ...inSession(lsid, 1) })),
    );
    expect(replies.every((reply) => reply['ok'] === 1)).toBe(true);
    expect(await end('abortTransaction', 1)).toMatchObject({ ok: 1 });
    expect(await ids()).toEqual([]);
    others.forEach((client) => client.close());
  });
});

describe('isolation', () => {
  const items = (): mongoose.mongo.Collection => embedded.db().collection('isolation');
  beforeEach(async () => {
    await items().deleteMany({});
  });

  it('shows nobody what is not committed', async () => {
    await items().insertOne({ _id: 1 as never, n: 0 });
    const session = embedded.db().client.startSession();
    session.startTransaction();
    await items().updateOne({ n: 0 }, { $set: { n: 1 } }, { session });
    let isEnded = false;
    const outside = items()
      .findOne({})
      .then((found) => ({ found, isEnded }));
    expect(await items().findOne({}, { session })).toMatchObject({ n: 1 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    isEnded = true;
    await session.abortTransaction();
    expect(await outside).toEqual({ found: { _id: 1, n: 0 }, isEnded: true });
  });

  it('kills the cursors of a transaction at its end, and keeps those opened outside', async () => {
    await items().insertMany(Array.from({ length: 50 }, (_, _id) => ({ _id }) as never));
    const outside = items().find({}, { batchSize: 10 });
    expect(await outside.next()).toMatchObject({ _id: 0 });
    const session = embedded.db().client.startSession();
    session.startTransaction();
    const inside = items().find({}, { batchSize: 10, session });
    await inside.next();
    const id = inside.id;
    await session.commitTransaction();
    expect(await outside.toArray()).toHaveLength(49);
    const more = embedded.db().command({ getMore: id, collection: 'isolation' });
    await expect(more).rejects.toMatchObject({ code: 43 });
  });

  it('lets withTransaction repeat work after a transient failure', async () => {
    const session = embedded.db().client.startSession();
    let runs = 0;
    await session.withTransaction(async () => {
      runs += 1;
      await items().insertOne({ n: runs }, { session });
      if (runs < 3) {
        const error = new mongoose.mongo.MongoServerError({ message: 'again', code: 112 });
        error.addErrorLabel('TransientTransactionError');
        throw error;
      }
    });
    await session.endSession();
    expect((await items().find().toArray()).map((document) => document['n'])).toEqual([3]);
  });
});

describe('a query', () => {
  it('is answered when none of its plans finds anything soon', async () => {
    const collection = embedded.db().collection('plans');
    await collection.insertMany(Array.from({ length: 30_000 }, (_, n) => ({ a: 1, b: 1, text: `x${n}` })));
    await collection.createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }]);
    expect(await collection.find({ a: 1, b: 1, text: /zz$/ }).toArray()).toEqual([]);
  });
});
