import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type mongoose from 'mongoose';
import { useEmbedded } from '../support/embedded.js';

const embedded = useEmbedded();
const COUNT = 3_000;
const SNAPSHOT = { readConcern: { level: 'snapshot' }, batchSize: 100 } as const;

interface Doc {
  readonly _id: number;
  readonly value: number;
  readonly text?: string;
}

const docs = (): mongoose.mongo.Collection<Doc> => embedded.db().collection<Doc>('docs');

async function given(text = ''): Promise<void> {
  await docs().deleteMany({});
  await docs().insertMany(Array.from({ length: COUNT }, (_, _id) => ({ _id, value: 0, text })));
}

/** In one transaction, so that nobody may see some of it. */
async function change(): Promise<void> {
  const client = await embedded.client();
  const session = client.startSession();
  await session.withTransaction(() =>
    client
      .db('test')
      .collection('docs')
      .updateMany({}, { $inc: { value: 1 } }, { session }),
  );
  await session.endSession();
}

const values = (found: readonly { readonly value?: number }[]): unknown[] => [
  found.length,
  [...new Set(found.map(({ value }) => value))],
];

describe('a read with the read concern snapshot', () => {
  beforeEach(() => given());

  it.each(['aggregate', 'find'] as const)('is one moment however many batches it has: %s', async (kind) => {
    const cursor = kind === 'find' ? docs().find({}, SNAPSHOT) : docs().aggregate<Doc>([], SNAPSHOT);
    const first = await cursor.next();
    await change();
    const rest = await cursor.toArray();
    expect(values([first!, ...rest])).toEqual([COUNT, [0]]);
    expect(values(await docs().find({}, SNAPSHOT).toArray())).toEqual([COUNT, [1]]);
  });

  it('leaves nothing held when its client closes the cursor', async () => {
    const cursor = docs().find({}, SNAPSHOT);
    const first = await cursor.next();
    await cursor.close();
    expect(first?._id).toBe(0);
    await change();
    expect(values(await docs().find({}, SNAPSHOT).toArray())).toEqual([COUNT, [1]]);
  });

  it('fails as a whole where a later batch fails', async () => {
    const divided = [{ $project: { value: { $divide: [1, { $subtract: [1_500, '$_id'] }] } } }];
    const cursor = docs().aggregate(divided, SNAPSHOT);
    await expect(cursor.next()).rejects.toMatchObject({ code: 2 });
  });
});

/** Files of held replies that a process has open; their names are gone. */
function heldFiles(pid: number): { readonly mode: number; readonly size: number }[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    const path = `/proc/${pid}/fd/${name}`;
    if (!/mongodb-rows-.* \(deleted\)$/.test(linkOf(path))) return [];
    const { mode, size } = statSync(path);
    return [{ mode: mode & 0o777, size }];
  });
}

/** Empty where it was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

it('a result of 60 MB is held in a file that nobody else sees, and is whole', async () => {
  await given('x'.repeat(20_000));
  const cursor = docs().find({}, SNAPSHOT);
  const first = await cursor.next();
  await change();
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('mongodb-rows-'))).toEqual([]);
  // What is beyond the 32 MiB of memory is in a file of this user alone.
  if (process.platform === 'linux') {
    const [file, ...others] = heldFiles(embedded.server.pid);
    expect([file?.mode.toString(8), others]).toEqual(['600', []]);
    expect(file?.size).toBeGreaterThan(20 * 1024 * 1024);
  }
  expect(values([first!, ...(await cursor.toArray())])).toEqual([COUNT, [0]]);
});

it('no read sees some of what an update changes that runs alone', async () => {
  await given();
  await docs().createIndexes([{ key: { value: 1 } }]);
  const running = { on: true };
  const read = async (): Promise<number> => {
    let reads = 0;
    for (; running.on; reads += 1) {
      const found = await docs()
        .aggregate([{ $match: { value: { $in: [0, 1] } } }, { $group: { _id: null, n: { $sum: 1 } } }])
        .toArray();
      expect(found).toEqual([{ _id: null, n: COUNT }]);
    }
    return reads;
  };
  const readers = [read(), read()];
  const alone = { comment: { alone: true } };
  for (let round = 0; round < 10; round += 1) {
    const from = (round + 1) % 2;
    await docs().updateMany({}, { $set: { value: from } }, alone);
  }
  running.on = false;
  expect(Math.min(...(await Promise.all(readers)))).toBeGreaterThan(0);
});
