import { deflateSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import mongoose from 'mongoose';
import type { VersionDoc } from '../../../models/version.js';
import {
  compressTexts,
  decodedCell,
  storedLength,
  storedVersion,
  versionAsFound,
  versionOf,
  type StoredVersion,
} from '../../../models/version-text.js';
import { inflated } from '../../../models/inflated.js';

const { Binary } = mongoose.mongo;

function aVersion(data: string | null): VersionDoc {
  return {
    _id: '7e3f2a5e-0000-4000-8000-000000000000::local.cdr::1',
    ehr_id: 'e',
    object_id: '7e3f2a5e-0000-4000-8000-000000000000',
    type: 'COMPOSITION',
    version: 1,
    time_committed: new Date(0),
    contribution_uid: 'c',
    commit_audit: {},
    lifecycle_state: {},
    data,
  };
}

const stored = (data: Buffer | string, encoding: unknown = 'deflate'): StoredVersion =>
  ({ ...aVersion(''), encoding, data: typeof data === 'string' ? data : new Binary(data) }) as StoredVersion;
const LONG = JSON.stringify({ text: 'x'.repeat(1_100) });

afterEach(() => {
  compressTexts(true);
});

describe('the text of a VERSION', () => {
  it('comes back as it was, whatever it holds', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.json(),
      fc.string({ unit: 'grapheme', minLength: 900, maxLength: 3_000 }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(versionOf(storedVersion(aVersion(text)))).toEqual(aVersion(text));
      }),
    );
  });

  it.each([
    ['a deletion', null],
    ['a short text', '{}'],
    ['a text of 1,023 characters', 'x'.repeat(1_023)],
  ])('is stored as it is: %s', (_, data) => {
    expect(storedVersion(aVersion(data))).toEqual(aVersion(data));
  });

  it('is compressed from 1,024 characters on, and only if that is wanted', () => {
    const { encoding, data, ...rest } = storedVersion(aVersion('x'.repeat(1_024)));
    expect([encoding, data instanceof Binary]).toEqual(['deflate', true]);
    expect({ ...rest, data: 'x'.repeat(1_024) }).toEqual(aVersion('x'.repeat(1_024)));
    compressTexts(false);
    expect(storedVersion(aVersion(LONG))).toEqual(aVersion(LONG));
  });

  it('tells the bytes that it takes', () => {
    expect([null, '{}'].map((data) => storedLength(storedVersion(aVersion(data))))).toEqual([0, 2]);
    expect(storedLength(storedVersion(aVersion(LONG)))).toBeLessThan(60);
  });
});

describe('a damaged document', () => {
  const damaged: [string, StoredVersion][] = [
    ['an unknown encoding', stored(deflateSync(LONG), 'brotli')],
    ['no encoding', { ...stored(deflateSync(LONG)), encoding: undefined } as unknown as StoredVersion],
    ['no zlib', stored(Buffer.from(LONG))],
    ['half of it', stored(deflateSync(LONG).subarray(0, 20))],
    [
      'a flipped bit',
      stored(Buffer.from(deflateSync(LONG).map((byte, at) => (at === 12 ? byte ^ 1 : byte)))),
    ],
    ['more than any text that was written', stored(deflateSync(Buffer.alloc(16 * 1024 * 1024 + 1, 'x')))],
  ];
  it.each(damaged)('is not answered, and names no content to a check: %s', (_, document) => {
    expect(() => versionOf(document)).toThrow();
    expect(versionAsFound(document)).toEqual(aVersion(''));
  });

  it('whose text is of the largest size is read', () => {
    const { data } = versionOf(stored(deflateSync(Buffer.alloc(16 * 1024 * 1024, 'x'))));
    expect(data).toHaveLength(16 * 1024 * 1024);
  });
});

it('cells of a query that are no text stay what they are', () => {
  for (const cell of [null, 1, 'x', true, [1], { data: { a: 1 } }, { a: 1 }])
    expect(decodedCell(cell, inflated)).toBe(cell);
  const data = new Binary(deflateSync(LONG));
  expect([decodedCell(data, inflated), decodedCell({ uid: 1, data }, inflated)]).toEqual([
    LONG,
    { uid: 1, data: LONG },
  ]);
});
