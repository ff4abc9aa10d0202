import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useEmbedded } from '../support/embedded.js';

const embedded = useEmbedded();
const DOCUMENTS = 400;
const EVERY = [{ $lookup: { from: 'numbers', pipeline: [], as: 'x' } }, { $unwind: '$x' }];
/** 64 million rows: far longer than the test. */
const HEAVY = [
  ...EVERY,
  { $lookup: { from: 'numbers', pipeline: [], as: 'y' } },
  { $unwind: '$y' },
  { $group: { _id: { $mod: ['$y.n', 7] } } },
  // As long as those of queries are: the engine tells only the beginning of it.
  { $set: { text: { $literal: 'x'.repeat(10_000) } } },
];
const LIMITS = { maxTimeMS: 120_000 };

beforeAll(async () => {
  const documents = Array.from({ length: DOCUMENTS }, (_, n) => ({ n }));
  await embedded.db().collection<{ n: number }>('numbers').insertMany(documents);
});

async function isRunning(comment: string): Promise<boolean> {
  const { inprog } = await embedded.db().admin().command({ currentOp: 1 });
  return (inprog as { command?: { comment?: string } }[]).some(({ command }) => command?.comment === comment);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await setTimeout(20);
}

describe('a read whose client goes away', () => {
  it.each(['rows', 'explain'])('ends in the database: %s', async (kind) => {
    const end = new AbortController();
    const options = { ...LIMITS, comment: `left-${kind}`, signal: end.signal };
    const cursor = embedded.db().collection('numbers').aggregate(HEAVY, options);
    const run = kind === 'rows' ? cursor.toArray() : cursor.explain('executionStats');
    const failed = run.then(
      () => 'ran',
      () => 'ended',
    );
    await until(() => isRunning(options.comment));
    end.abort();
    expect(await failed).toBe('ended');
    await until(async () => !(await isRunning(options.comment)));
  });

  it('ends while it looks for the next rows', async () => {
    const options = { ...LIMITS, comment: 'left-more', batchSize: 1 };
    // A first row at once, then none for long.
    const sum = { $add: ['$n', '$x.n', '$y.n'] };
    const pipeline = [...HEAVY.slice(0, 4), { $match: { $expr: { $in: [sum, [0, -1]] } } }];
    const end = new AbortController();
    const cursor = embedded
      .db()
      .collection('numbers')
      .aggregate(pipeline, { ...options, signal: end.signal });
    expect(await cursor.next()).not.toBeNull();
    const rest = cursor.toArray().catch(() => 'ended');
    await until(() => isRunning(options.comment));
    end.abort();
    expect(await rest).toBe('ended');
    await until(async () => !(await isRunning(options.comment)));
  });

  it('leaves reads of others alone', async () => {
    const own = new AbortController();
    const numbers = embedded.db().collection('numbers');
    const options = { ...LIMITS, comment: 'gone', signal: own.signal };
    const gone = numbers
      .aggregate(HEAVY, options)
      .toArray()
      .catch(() => null);
    const stays = numbers.aggregate([...EVERY, { $count: 'n' }], { ...LIMITS, comment: 'stays' }).toArray();
    await until(() => isRunning('gone'));
    own.abort();
    expect(await gone).toBeNull();
    expect(await stays).toEqual([{ n: DOCUMENTS * DOCUMENTS }]);
  });
});
