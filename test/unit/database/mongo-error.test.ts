import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { DatabaseAway, isUnavailable } from '../../../database/mongo-error.js';

const { mongo } = mongoose;
const failure = (code: string): Error => Object.assign(new Error(code), { code });
const inBulkWrite = (error: object): Error =>
  new mongo.MongoBulkWriteError(error as never, { insertedCount: 0 } as never);

describe('a database that cannot be reached', () => {
  it.each([
    ['no server can be selected', new mongo.MongoServerSelectionError('none', {} as never)],
    ['the connection broke', new mongo.MongoNetworkError('broken')],
    ['the primary steps down', new mongo.MongoServerError({ message: 'stepped down', code: 189 })],
    ['the engine stops', new mongo.MongoServerError({ message: 'stopping', code: 91 })],
    [
      'a limit of time of the server ends a command',
      new mongo.MongoServerError({ message: 'late', code: 50 }),
    ],
    ['a cursor is gone', new mongo.MongoServerError({ message: 'cursor', code: 43 })],
    ['a member does not answer another', new mongo.MongoServerError({ message: 'network', code: 89 })],
    ['the server times out in a bulk write', inBulkWrite({ message: 'late', code: 50 })],
    ['a command is written to a connection just lost', failure('ECONNRESET')],
    ['a command is written to a connection that the other side ended', failure('EPIPE')],
    ['a command is written to a connection that is gone', failure('ERR_STREAM_DESTROYED')],
    ['a bulk write finds no server', inBulkWrite(new mongo.MongoServerSelectionError('none', {} as never))],
    ['the connection of a bulk write breaks', inBulkWrite(new mongo.MongoNetworkError('broken'))],
    ['the engine stops during a bulk write', inBulkWrite({ message: 'stopping', code: 91 })],
    ['a transaction waited long enough for it', new DatabaseAway('away')],
  ])('is told when %s', (_, error) => {
    expect(isUnavailable(error)).toBe(true);
  });

  it.each([
    ['a document is refused', new mongo.MongoServerError({ message: 'duplicate', code: 11000 })],
    ['a document of a bulk write is refused', inBulkWrite({ message: 'duplicate', code: 11000 })],
    ['a name is not known', failure('ENOTFOUND')],
    ['a file is not there', failure('ENOENT')],
    ['the code is wrong', new TypeError('undefined is not a function')],
  ])('is not told when %s', (_, error) => {
    expect(isUnavailable(error)).toBe(false);
  });
});
