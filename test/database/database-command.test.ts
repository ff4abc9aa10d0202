import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { startDatabaseProcess } from '../support/process/database.js';

const { MongoClient } = mongoose.mongo;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everchart-access-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const socketOf = (uri: string): string => decodeURIComponent(new URL(uri).host);

/** Writes and reads one document. */
async function use(uri: string): Promise<number> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 });
  try {
    const things = client.db('test').collection('things');
    await client.withSession((session) =>
      session.withTransaction(() => things.insertOne({ n: 1 }, { session })),
    );
    return await things.countDocuments();
  } finally {
    await client.close();
  }
}

describe('the socket of `everchart database`', () => {
  it('is below the folder for temporary files, in /tmp when that has too long a path', async () => {
    const short = join(folder, 't');
    const long = join(folder, 'x'.repeat(100));
    for (const [temporary, expected] of [
      [short, short],
      [long, '/tmp'],
    ] as const) {
      mkdirSync(temporary);
      const database = await startDatabaseProcess('temporary', { TMPDIR: temporary });
      const socket = socketOf(database.uri);
      expect(dirname(dirname(socket))).toBe(expected);
      expect(await use(database.uri)).toBe(1);
      expect(await database.stop()).toBe(0);
      expect(existsSync(dirname(socket))).toBe(false);
      expect(readdirSync(temporary).filter((name) => name.startsWith('everchart'))).toEqual([]);
    }
  });

  it('belongs to the folder of EMBEDDED_DATA_DIR unless --dir names another', async () => {
    const dir = join(folder, 'of-the-setting');
    const database = await startDatabaseProcess(null, { EMBEDDED_DATA_DIR: dir });
    expect(await use(database.uri)).toBe(1);
    expect(await database.stop()).toBe(0);
    expect(readdirSync(dir)).toContain('WiredTiger');
  });

  it('is what the command prints, also after the command and its engine were killed', async () => {
    const dir = join(folder, 'data');
    const first = await startDatabaseProcess(dir);
    expect(first.uri).toMatch(/^mongodb:\/\/%2F[^/]+%2Fmongodb\.sock\/\?/);
    expect(await use(first.uri)).toBe(1);
    await first.kill();
    const second = await startDatabaseProcess(dir);
    expect(second.uri).toBe(first.uri);
    expect(await use(second.uri)).toBe(2);
    expect(await second.stop()).toBe(0);
    rmSync(dirname(socketOf(first.uri)), { recursive: true });
  });
});
