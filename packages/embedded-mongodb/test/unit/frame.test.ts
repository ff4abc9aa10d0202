import { describe, expect, it } from '@jest/globals';
import { FrameError, FrameReader, MAX_MESSAGE_BYTES, messageHead } from '../../src/protocol/frame.js';
import { opMessage } from '../support/wire.js';

const MESSAGES = [
  opMessage(1, { ping: 1, $db: 'a' }),
  opMessage(2, { find: 'b', $db: 'a' }),
  opMessage(3, { x: 1 }),
];
const STREAM = Buffer.concat(MESSAGES);

function readAll(chunks: readonly Buffer[]): Buffer[] {
  const reader = new FrameReader();
  const found: Buffer[] = [];
  for (const chunk of chunks) {
    reader.push(Buffer.from(chunk));
    for (let message = reader.next(); message !== null; message = reader.next()) found.push(message);
  }
  return found;
}

describe('FrameReader', () => {
  it('gives the same messages wherever the stream is split', () => {
    for (let at = 0; at <= STREAM.length; at += 1) {
      expect(readAll([STREAM.subarray(0, at), STREAM.subarray(at)])).toEqual(MESSAGES);
    }
  });

  it('gives the same messages byte by byte', () => {
    expect(readAll([...STREAM].map((byte) => Buffer.from([byte])))).toEqual(MESSAGES);
  });

  it.each([
    ['a length below the smallest', 20],
    ['a negative length', -1],
    ['a length above the limit', MAX_MESSAGE_BYTES + 1],
  ])('refuses %s', (_name, length) => {
    const message = Buffer.from(opMessage(1, { ping: 1 }));
    message.writeInt32LE(length, 0);
    expect(() => readAll([message])).toThrow(FrameError);
  });

  it('refuses an unknown opcode as soon as it is seen', () => {
    const message = Buffer.from(opMessage(1, { ping: 1 }));
    message.writeInt32LE(2012, 12);
    expect(() => readAll([message.subarray(0, 16)])).toThrow('2012');
  });
});

describe('messageHead', () => {
  it('counts itself and tells whether more is to come', () => {
    const head = messageHead(10, { requestId: 7, responseTo: 6, moreToCome: true });
    expect([head.readInt32LE(0), head.readInt32LE(4), head.readInt32LE(8)]).toEqual([31, 7, 6]);
    expect(head.readUInt32LE(16)).toBe(2);
  });
});
