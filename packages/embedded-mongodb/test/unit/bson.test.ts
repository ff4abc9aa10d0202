import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import {
  asBigInt,
  asDocument,
  asDocuments,
  asNumber,
  asText,
  BsonError,
  fieldBytes,
  fieldOf,
  fields,
  isSet,
} from '../../src/protocol/bson-slice.js';
import { documentOf, encode, newObjectId, rawValue, withFields } from '../../src/protocol/bson-write.js';

const { BSON } = mongoose.mongo;
const { Long, Double, Int32, Decimal128, ObjectId, Timestamp, Binary, Code, MinKey, MaxKey, DBRef } = BSON;

const EVERYTHING = {
  double: new Double(1.5),
  text: 'täxt',
  document: { a: { b: 1 } },
  array: [1, 'two', { three: 3 }],
  binary: new Binary(Buffer.from([1, 2, 3])),
  objectId: new ObjectId(),
  yes: true,
  date: new Date(5),
  nothing: null,
  regex: /a.b/i,
  code: new Code('return 1'),
  scoped: new Code('return x', { x: 1 }),
  int: new Int32(7),
  timestamp: new Timestamp({ t: 1, i: 2 }),
  long: Long.fromString('9007199254740993'),
  decimal: Decimal128.fromString('1.50'),
  min: new MinKey(),
  max: new MaxKey(),
  ref: new DBRef('a', new ObjectId()),
};

describe('reading', () => {
  it('walks over every type and gives the same bytes back', () => {
    const document = Buffer.from(BSON.serialize(EVERYTHING));
    const all = fields(document);
    expect(all.map((field) => field.name)).toEqual(Object.keys(EVERYTHING));
    expect(documentOf(all.map(fieldBytes)).equals(document)).toBe(true);
  });

  it('reads the values that commands and replies carry', () => {
    const document = Buffer.from(BSON.serialize(EVERYTHING));
    expect(asNumber(fieldOf(document, 'double'))).toBe(1.5);
    expect(asBigInt(fieldOf(document, 'long'))).toBe(9007199254740993n);
    expect(asBigInt(fieldOf(document, 'int'))).toBe(7n);
    expect(asText(fieldOf(document, 'text'))).toBe('täxt');
    expect(asText(fieldOf(document, 'int'))).toBeUndefined();
    expect(asDocuments(fieldOf(document, 'array'))).toHaveLength(1);
    expect(asDocument(fieldOf(document, 'text'))).toBeUndefined();
    expect([isSet(fieldOf(document, 'yes')), isSet(fieldOf(document, 'nothing'))]).toEqual([true, false]);
    expect(fieldOf(document, 'absent')).toBeUndefined();
  });

  it('refuses every document that is cut off', () => {
    const document = Buffer.from(BSON.serialize(EVERYTHING));
    for (let length = 0; length < document.length; length += 1) {
      expect(() => fields(document.subarray(0, length))).toThrow(BsonError);
    }
  });

  it('refuses or reads, but never runs over, a document with any one byte changed', () => {
    const document = Buffer.from(BSON.serialize(EVERYTHING));
    for (let at = 0; at < document.length; at += 1) {
      const changed = Buffer.from(document);
      changed[at] = 255 - (changed[at] ?? 0);
      try {
        for (const field of fields(changed)) expect(field.end).toBeLessThanOrEqual(changed.length);
      } catch (error) {
        expect(error).toBeInstanceOf(BsonError);
      }
    }
  });
});

describe('writing', () => {
  it('writes what the driver reads', () => {
    const inner = encode({ a: 1 });
    const document = encode({
      i: 1,
      d: 1.5,
      big: 2 ** 40,
      l: 5n,
      t: 'ä',
      b: false,
      n: null,
      at: new Date(7),
      inner,
      list: [1, 'x', inner],
      skipped: undefined,
    });
    expect(BSON.deserialize(document, { promoteLongs: false })).toEqual({
      i: 1,
      d: 1.5,
      big: 2 ** 40,
      l: Long.fromNumber(5),
      t: 'ä',
      b: false,
      n: null,
      at: new Date(7),
      inner: { a: 1 },
      list: [1, 'x', { a: 1 }],
    });
  });

  it('changes, adds and removes fields and keeps the others as they are', () => {
    const document = Buffer.from(BSON.serialize({ a: new Double(1), b: 2, c: 3 }));
    const changed = withFields(document, { b: 'new', c: undefined, d: true });
    expect(Object.entries(BSON.deserialize(changed, { promoteValues: false }))).toEqual([
      ['a', new Double(1)],
      ['b', 'new'],
      ['d', true],
    ]);
  });

  it('makes ObjectIds that are all different', () => {
    const keys = new Set(Array.from({ length: 1_000 }, () => newObjectId().key()));
    expect(keys.size).toBe(1_000);
  });

  it('tells values of different types apart', () => {
    const [first, second] = fields(Buffer.from(BSON.serialize({ a: new Int32(1), b: new Double(1) })));
    expect(rawValue(first!).key()).not.toBe(rawValue(second!).key());
  });
});
