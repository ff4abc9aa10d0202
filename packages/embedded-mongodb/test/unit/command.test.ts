import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { journaled } from '../../src/front/journaled.js';
import { readCommand, readLegacyQuery, sequenceDocuments } from '../../src/protocol/command.js';
import { BsonError } from '../../src/protocol/bson-slice.js';
import { opMessage } from '../support/wire.js';

const { BSON } = mongoose.mongo;
const lsid = { id: new mongoose.mongo.UUID('00112233-4455-6677-8899-aabbccddeeff') };
const session = { lsid, txnNumber: BSON.Long.fromNumber(7), autocommit: false, startTransaction: true };
const big = { documents: [{ text: 'x'.repeat(5_000) }] };

/** A message whose sections stand in the given order: one body, document sequences. */
function sectioned(
  sections: readonly (Record<string, unknown> | [string, Record<string, unknown>[]])[],
): Buffer {
  const parts = sections.map((section) => {
    if (!Array.isArray(section)) return Buffer.concat([Buffer.from([0]), BSON.serialize(section)]);
    const [name, documents] = section;
    const content = Buffer.concat([
      Buffer.from(`${name}\0`),
      ...documents.map((item) => BSON.serialize(item)),
    ]);
    const head = Buffer.alloc(5);
    head[0] = 1;
    head.writeInt32LE(content.length + 4, 1);
    return Buffer.concat([head, content]);
  });
  const message = Buffer.concat([Buffer.alloc(20), ...parts]);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(9, 4);
  message.writeInt32LE(2013, 12);
  return message;
}

describe('readCommand', () => {
  it.each([
    ['first', { insert: 'a', ...session, ...big, $db: 'd' }],
    ['last', { insert: 'a', ...big, $db: 'd', ...session }],
    [
      'between others',
      {
        insert: 'a',
        lsid,
        ...big,
        txnNumber: session.txnNumber,
        $db: 'd',
        autocommit: false,
        z: 1,
        startTransaction: true,
      },
    ],
    [
      'after a large array, apart',
      {
        insert: 'a',
        ...big,
        lsid,
        ordered: true,
        txnNumber: session.txnNumber,
        $db: 'd',
        autocommit: false,
        w: 1,
        startTransaction: true,
      },
    ],
  ])('cuts session fields that stand %s', (_name, body) => {
    const command = readCommand(opMessage(5, body));
    const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !(name in session)));
    expect(Buffer.from(command.body).equals(BSON.serialize(rest))).toBe(true);
    expect(command.message.readInt32LE(0)).toBe(command.message.length);
    expect(command).toMatchObject({
      requestId: 5,
      name: 'insert',
      database: 'd',
      session: Buffer.from(lsid.id.id).toString('latin1'),
      txnNumber: 7n,
      isInTransaction: true,
      startsTransaction: true,
    });
  });

  it.each([
    [
      'after the body',
      (body: Record<string, unknown>, list: [string, Record<string, unknown>[]]) => [body, list],
    ],
    [
      'before the body',
      (body: Record<string, unknown>, list: [string, Record<string, unknown>[]]) => [list, body],
    ],
  ])('cuts beside a document sequence %s', (_name, order) => {
    const documents = [{ _id: 1, text: 'y'.repeat(300) }, { _id: 2 }];
    const command = readCommand(
      sectioned(order({ insert: 'a', ...session, $db: 'd' }, ['documents', documents])),
    );
    expect(
      command.message.equals(withId(sectioned(order({ insert: 'a', $db: 'd' }, ['documents', documents])))),
    ).toBe(true);
    expect(command.sequences.map(({ name }) => name)).toEqual(['documents']);
  });

  it('does not look into nested documents', () => {
    const body = { find: 'a', filter: { lsid: 1, txnNumber: 2, autocommit: false }, $db: 'd' };
    const command = readCommand(opMessage(1, body));
    expect(BSON.deserialize(command.body)).toEqual(body);
    expect(command).toMatchObject({ session: null, txnNumber: null, isInTransaction: false });
  });

  it('drops the checksum and reads the flags', () => {
    const message = opMessage(1, { ping: 1, $db: 'd' });
    const withSum = Buffer.concat([message, Buffer.from([1, 2, 3, 4])]);
    withSum.writeInt32LE(withSum.length, 0);
    withSum.writeUInt32LE(1 | 2 | 0x10000, 16);
    const command = readCommand(withSum);
    expect(command).toMatchObject({ isUnacknowledged: true, isExhaustAllowed: true });
    expect(command.message).toHaveLength(message.length);
    expect(command.message.readUInt32LE(16)).toBe(0);
  });

  it.each([
    ['without a body', sectioned([['documents', [{ a: 1 }]]])],
    ['with a body that is too long', corrupted((message) => message.writeInt32LE(1_000, 21))],
    ['with an unknown section', corrupted((message) => message.writeUInt8(7, 20))],
    ['with an unknown type', corrupted((message) => message.writeUInt8(99, 25))],
    ['with an empty command', opMessage(1, {})],
  ])('refuses a message %s', (_name, message) => {
    expect(() => readCommand(message)).toThrow(BsonError);
  });
});

it('reads the command of a legacy query', () => {
  const document = BSON.serialize({ isMaster: 1 });
  const message = Buffer.concat([Buffer.alloc(20), Buffer.from('admin.$cmd\0'), Buffer.alloc(8), document]);
  message.writeInt32LE(3, 4);
  const { requestId, body } = readLegacyQuery(message);
  expect([requestId, BSON.deserialize(body)]).toEqual([3, { isMaster: 1 }]);
});

function withId(message: Buffer): Buffer {
  message.writeInt32LE(9, 4);
  return message;
}

function corrupted(change: (message: Buffer) => void): Buffer {
  const message = opMessage(1, { ping: 1, $db: 'd' });
  change(message);
  return message;
}

describe('journaled', () => {
  const concernOf = (fields: Record<string, unknown>): unknown => {
    const forwarded = readCommand(journaled(readCommand(sectioned([{ ...fields, $db: 'd' }]))).message);
    return (BSON.deserialize(forwarded.body) as { writeConcern?: unknown }).writeConcern;
  };

  it.each(['insert', 'update', 'delete', 'bulkWrite', 'findAndModify', 'findandmodify'])(
    'has %s wait for the journal where the majority, or nothing, is asked for',
    (name) => {
      expect(concernOf({ [name]: 'a' })).toEqual({ w: 1, j: true });
      expect(concernOf({ [name]: 'a', writeConcern: { w: 'majority', wtimeout: 5 } })).toEqual({
        w: 1,
        wtimeout: 5,
        j: true,
      });
    },
  );

  it.each([[{ w: 0 }], [{ w: 1 }], [{ w: 1, j: false }]])('leaves %j to the client', (writeConcern) => {
    expect(concernOf({ insert: 'a', writeConcern })).toEqual(writeConcern);
  });

  it('leaves a client its own j: false, and reads without a write concern', () => {
    expect(concernOf({ insert: 'a', writeConcern: { w: 'majority', j: false } })).toEqual({ w: 1, j: false });
    expect(concernOf({ find: 'a' })).toBeUndefined();
  });

  it('sends document sequences on as they came', () => {
    const documents = [{ _id: 1 }, { _id: 2 }];
    const received = sectioned([{ insert: 'a', $db: 'd' }, ['documents', documents]]);
    const forwarded = readCommand(journaled(readCommand(received)).message);
    const [sequence] = forwarded.sequences;
    expect(sequence && sequenceDocuments(sequence).map((item) => BSON.deserialize(item))).toEqual(documents);
  });
});
