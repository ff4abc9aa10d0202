import { beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { dump, useEmbedded } from '../support/embedded.js';

type Db = mongoose.mongo.Db;
type Session = mongoose.mongo.ClientSession;
type Operation = (db: Db, session: Session | undefined) => Promise<unknown>;

const { ObjectId, Decimal128, Long, Double } = mongoose.mongo.BSON;
const embedded = useEmbedded();

/** Runs a raw command with or without a session. */
const command =
  (body: Record<string, unknown>): Operation =>
  (db, session) =>
    db.command(body, session === undefined ? {} : { session });

const update = (...updates: Record<string, unknown>[]): Operation => command({ update: 'items', updates });
const remove = (...deletes: Record<string, unknown>[]): Operation => command({ delete: 'items', deletes });
const modify = (body: Record<string, unknown>): Operation => command({ findAndModify: 'items', ...body });
const bulk =
  (ops: readonly Record<string, unknown>[], options: Record<string, unknown> = {}): Operation =>
  (db, session) =>
    db.admin().command(
      {
        bulkWrite: 1,
        ops,
        nsInfo: [{ ns: `${db.databaseName}.items` }, { ns: `${db.databaseName}.fresh` }],
        ...options,
      },
      session === undefined ? {} : { session },
    );
const caseInsensitive = { locale: 'en', strength: 2 };

const OPERATIONS: Record<string, Operation> = {
  'insert one': command({ insert: 'items', documents: [{ _id: 100, n: 100 }] }),
  'insert many into a new collection': command({ insert: 'fresh', documents: [{ _id: 1 }, { _id: 2 }] }),
  'insert without _id': command({ insert: 'items', documents: [{ n: 'a' }, { _id: 101, n: 'b' }] }),
  'update by _id': update({ q: { _id: 1 }, u: { $set: { x: 1 } } }),
  'update by _id with $eq and other conditions': update({
    q: { _id: { $eq: 1 }, n: 1 },
    u: { $inc: { n: 50 } },
  }),
  'several updates of one document': update(
    { q: { _id: 1 }, u: { $inc: { n: 10 } } },
    { q: { _id: 1 }, u: { $inc: { n: 10 } } },
  ),
  'update by another numeric type of _id': update({ q: { _id: new Double(1) }, u: { $set: { x: 1 } } }),
  'update by Decimal128 _id': update({ q: { _id: Decimal128.fromString('2') }, u: { $set: { x: 1 } } }),
  'update by embedded document _id': update({ q: { _id: { a: 1, b: 2 } }, u: { $set: { x: 1 } } }),
  'update one by filter': update({ q: { group: 'a' }, u: { $set: { x: 1 } } }),
  'update one by filter, sorted': update({ q: { group: 'a' }, u: { $set: { x: 1 } }, sort: { n: -1 } }),
  'update one by filter that changes what it filters': update(
    { q: { group: 'a' }, u: { $set: { group: 'z' } } },
    { q: { group: 'a' }, u: { $set: { group: 'y' } } },
    { q: { _id: 1 }, u: { $set: { w: 1 } } },
    { q: { group: 'z' }, u: { $set: { group: 'zz' } }, multi: true },
  ),
  'update one with hint': update({ q: { group: 'a', n: { $gt: 0 } }, u: { $set: { x: 1 } }, hint: 'n_1' }),
  'update one with collation': update({
    q: { _id: 'KEY' },
    u: { $set: { x: 1 } },
    collation: caseInsensitive,
  }),
  'update one with let': command({
    update: 'items',
    updates: [{ q: { $expr: { $eq: ['$n', '$$wanted'] } }, u: [{ $set: { x: '$$wanted' } }] }],
    let: { wanted: 3 },
  }),
  'update by _id $in': update({ q: { _id: { $in: [2, 3] } }, u: { $set: { x: 1 } }, multi: true }),
  'update one by _id $in': update({ q: { _id: { $in: [2, 3] } }, u: { $set: { x: 1 } } }),
  'update many': update({ q: { group: 'a' }, u: { $inc: { n: 100 } }, multi: true }),
  'update many with a random filter': update({
    q: { $expr: { $lt: [{ $rand: {} }, 2] } },
    u: { $set: { x: 1 } },
    multi: true,
  }),
  'update with array filters': update({
    q: { group: 'b' },
    u: { $set: { 'list.$[item].v': 9 } },
    arrayFilters: [{ 'item.v': 2 }],
  }),
  'update with the positional operator': update({ q: { 'list.v': 2 }, u: { $set: { 'list.$.v': 7 } } }),
  'replace by filter': update({ q: { group: 'a' }, u: { other: 1 } }),
  'update without a hit': update({ q: { group: 'none' }, u: { $set: { x: 1 } } }),
  'upsert by _id': update({ q: { _id: 200 }, u: { $set: { x: 1 } }, upsert: true }),
  'upsert by _id that hits': update({ q: { _id: 1 }, u: { $set: { x: 1 } }, upsert: true }),
  'upsert by filter': update({ q: { key: 'k' }, u: { $set: { x: 1 } }, upsert: true }),
  'upsert by filter that hits': update({ q: { group: 'a' }, u: { $set: { x: 1 } }, upsert: true }),
  'upsert many by filter': update({ q: { key: 'k' }, u: { $set: { x: 1 } }, upsert: true, multi: true }),
  'upsert with $setOnInsert': update({
    q: { key: 'k' },
    u: { $set: { x: 1 }, $setOnInsert: { y: 2 } },
    upsert: true,
  }),
  'upsert that sets its _id on insert': update({
    q: { key: 'k' },
    u: { $setOnInsert: { _id: 'own' } },
    upsert: true,
  }),
  'upsert that sets its _id': update({ q: { key: 'k' }, u: { $set: { _id: 'own' } }, upsert: true }),
  'upsert of a replacement': update({ q: { key: 'k' }, u: { x: 1 }, upsert: true }),
  'upsert of an empty replacement': update({ q: { key: 'k' }, u: {}, upsert: true }),
  'upsert of a replacement with _id': update({ q: { key: 'k' }, u: { _id: 'own', x: 1 }, upsert: true }),
  'upsert by a pipeline': update({ q: { key: 'k' }, u: [{ $set: { x: 1 } }], upsert: true }),
  'upsert by a pipeline that sets _id': update({
    q: { key: 'k' },
    u: [{ $set: { _id: 'own' } }],
    upsert: true,
  }),
  'upsert with $and': update({
    q: { $and: [{ key: 'k' }, { _id: 'own' }] },
    u: { $set: { x: 1 } },
    upsert: true,
  }),
  'upsert with one _id in $in': update({ q: { _id: { $in: ['own'] } }, u: { $set: { x: 1 } }, upsert: true }),
  'upsert with a part of _id': update({ q: { '_id.a': 5 }, u: { $set: { x: 1 } }, upsert: true }),
  'upsert into a new collection': command({
    update: 'fresh',
    updates: [{ q: { key: 'k' }, u: { $set: { x: 1 } }, upsert: true }],
  }),
  'delete by _id': remove({ q: { _id: 1 }, limit: 1 }, { q: { _id: 2 }, limit: 0 }),
  'delete one by filter': remove({ q: { group: 'a' }, limit: 1 }, { q: { group: 'a' }, limit: 1 }),
  'delete many': remove({ q: { group: 'a' }, limit: 0 }),
  'delete all': remove({ q: {}, limit: 0 }),
  'delete with collation': remove({ q: { _id: 'KEY' }, limit: 1, collation: caseInsensitive }),
  'findAndModify by _id': modify({ query: { _id: 1 }, update: { $inc: { n: 10 } }, new: true }),
  'findAndModify sorted': modify({
    query: { group: 'a' },
    sort: { n: -1 },
    update: { $set: { x: 1 } },
    fields: { n: 1 },
  }),
  'findAndModify remove': modify({ query: { group: 'a' }, sort: { n: -1 }, remove: true }),
  'findAndModify upsert': modify({ query: { key: 'k' }, update: { $set: { x: 1 } }, upsert: true }),
  'findAndModify upsert by _id': modify({ query: { _id: 'own' }, update: { x: 1 }, upsert: true, new: true }),
  'findAndModify upsert by a pipeline': modify({
    query: { key: 'k' },
    update: [{ $set: { x: 1 } }],
    upsert: true,
  }),
  'findAndModify without a hit': modify({ query: { key: 'k' }, update: { $set: { x: 1 } } }),
  'bulkWrite of known ids': bulk([
    { insert: 0, document: { _id: 300 } },
    { insert: 1, document: { _id: 301 } },
    { update: 0, filter: { _id: 1, n: 1 }, updateMods: { $set: { x: 1 } } },
    { update: 0, filter: { _id: 1 }, updateMods: { $inc: { x: 1 } } },
    { update: 1, filter: { _id: 302 }, updateMods: { $set: { x: 1 } }, upsert: true },
    { delete: 0, filter: { _id: 2 } },
  ]),
  'bulkWrite of everything': bulk([
    { insert: 0, document: { _id: 300, group: 'a' } },
    { update: 0, filter: { group: 'a' }, updateMods: { $set: { seen: 1 } }, multi: true },
    { update: 0, filter: { group: 'b' }, updateMods: { $set: { seen: 1 } } },
    { update: 0, filter: { key: 'k' }, updateMods: { $setOnInsert: { _id: 'own' } }, upsert: true },
    { delete: 0, filter: { group: 'b' }, multi: true },
    { delete: 0, filter: { _id: 300 } },
    { insert: 1, document: { _id: 1 } },
  ]),
  'bulkWrite that reports errors only': bulk(
    [
      { update: 0, filter: { group: 'b' }, updateMods: { $set: { seen: 1 } } },
      { update: 0, filter: { key: 'k' }, updateMods: { $set: { a: 1 } }, upsert: true },
    ],
    { errorsOnly: true },
  ),
  'bulkWrite without _id': bulk([{ insert: 0, document: { n: 'new' } }]),
  'exchange of unique keys': update(
    { q: { _id: 1 }, u: { $set: { n: 999 } } },
    { q: { _id: 2 }, u: { $set: { n: 1 } } },
    { q: { _id: 1 }, u: { $set: { n: 2 } } },
  ),
  'unique key of a deleted document': async (db, session) => [
    await remove({ q: { _id: 1 }, limit: 1 })(db, session),
    await command({ insert: 'items', documents: [{ _id: 400, n: 1 }] })(db, session),
  ],
  'delete and insert again with another type of _id': async (db, session) => [
    await remove({ q: { _id: 1 }, limit: 1 })(db, session),
    await command({ insert: 'items', documents: [{ _id: Long.fromNumber(1), n: 77 }] })(db, session),
  ],
  'insert, then update by filter, then delete': async (db, session) => [
    await command({ insert: 'items', documents: [{ _id: 500, group: 'n' }] })(db, session),
    await update({ q: { group: 'n' }, u: { $set: { x: 1 } } })(db, session),
    await remove({ q: { group: 'n' }, limit: 1 })(db, session),
  ],
  'create a collection': command({ create: 'fresh' }),
  'create indexes': command({ createIndexes: 'items', indexes: [{ key: { group: 1 }, name: 'group' }] }),
  'create indexes in a new collection': command({
    createIndexes: 'fresh',
    indexes: [{ key: { group: 1 }, name: 'group' }],
  }),
};

/** Fields of replies that differ between two runs by nature. */
function comparable(reply: unknown): unknown {
  const text = mongoose.mongo.BSON.EJSON.stringify(reply, (key: string, value: unknown) =>
    key === '$clusterTime' || key === 'operationTime' ? undefined : value,
  );
  return JSON.parse(
    text.replaceAll(/\{"\$oid":"[0-9a-f]{24}"\}/g, '"ObjectId"').replaceAll(/test\w*\./g, ''),
  );
}

/** Documents with new ObjectIds made alike; key order kept. */
async function contents(db: Db): Promise<unknown> {
  const found: Record<string, unknown> = {};
  for (const name of ['items', 'fresh']) {
    const documents = await db
      .collection(name)
      .find({}, { sort: { n: 1, _id: 1 }, promoteValues: false })
      .toArray();
    found[name] = documents.map((document) => JSON.stringify(comparable(document)));
  }
  return found;
}

async function seed(db: Db): Promise<void> {
  await db.dropDatabase();
  await db.collection('items').insertMany([
    { _id: 1, n: 1, group: 'a' },
    { _id: Long.fromNumber(2), n: 2, group: 'a', '10': 'x', '9': 'y' },
    { _id: 3, n: new Double(3), group: 'a' },
    { _id: new ObjectId(), n: 4, group: 'b', list: [{ v: 1 }, { v: 2 }, { v: 2 }] },
    { _id: { a: 1, b: 2 }, n: 5, group: 'b' },
    { _id: 'key', n: 6, group: 'c', d: Decimal128.fromString('1.50') },
  ] as unknown as mongoose.mongo.Document[]);
  await db.command({
    createIndexes: 'items',
    indexes: [{ key: { n: 1 }, name: 'n_1', unique: true, sparse: true }],
  });
}

describe.each(Object.entries(OPERATIONS))('%s', (_name, operation) => {
  let db: Db;
  beforeEach(async () => {
    db = embedded.db();
    await seed(db);
  });

  it('is undone by an abort', async () => {
    const before = await dump(db);
    const session = db.client.startSession();
    session.startTransaction();
    await operation(db, session);
    await session.abortTransaction();
    await session.endSession();
    expect(await dump(db)).toEqual(before);
  });

  it('does in a transaction what it does outside', async () => {
    const outside = db.client.db('test_outside');
    await seed(outside);
    const expected = comparable(await operation(outside, undefined));
    const session = db.client.startSession();
    session.startTransaction();
    const reply = comparable(await operation(db, session));
    await session.commitTransaction();
    await session.endSession();
    expect(reply).toEqual(expected);
    expect(await contents(db)).toEqual(await contents(outside));
  });
});
