/** What a MongoDB can do of what docs/spec/database.md#what-is-needed names, tried out in a database of its own. */
import { setTimeout as pause } from 'node:timers/promises';
import mongoose, { type ClientSession } from 'mongoose';
import { CdrError } from '../openehr/base/errors.js';
import { checkServerAtStart } from './check-server.js';
import { createCollections, missingIndexes, type CollectionDefinition } from './indexes.js';

/** One line of what was found. */
export interface DoctorFinding {
  readonly what: string;
  readonly verdict: 'works' | 'slow' | 'missing';
  readonly detail: string;
}

/** Wire version of MongoDB 8.0, the first with the `bulkWrite` command. */
const BULK_WRITE_WIRE_VERSION = 25;
/** Milliseconds beyond which something is called slow. */
const SLOW = { ping: 20, commit: 50, indexes: 60_000, clock: 1_000 } as const;
const MAJORITY = new mongoose.mongo.WriteConcern('majority', undefined, true);
const PROBE = 'doctor';
/** Writes that are measured. */
const TRIES = 20;
/** Bytes of a document of the large transaction, and how many: more than one entry of the oplog has. */
const LARGE = { bytes: 1024 * 1024, documents: 20 } as const;
/** How long the second of two transactions is waited for, ms. */
const CONFLICT_MS = 3_000;

/** Tries everything out, one after the other; what fails is a line, and the others go on. `layout`: what indexes are needed. */
export async function examine(layout: readonly CollectionDefinition[]): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  const tried: readonly (readonly [string, () => Promise<Omit<DoctorFinding, 'what'>>])[] = [
    ['version, topology, rights', server],
    ['round trip', roundTrip],
    ['clock', clock],
    ['bulkWrite of several collections', bulkWriteCommand],
    ['a write of the majority', majorityWrite],
    ['transaction, committed', () => transaction(1)],
    ['transaction, aborted', aborted],
    ['transactions on one document', conflict],
    ['transaction of 20 MiB', largeTransaction],
    ['collections and indexes', () => indexes(layout)],
  ];
  for (const [what, trial] of tried) findings.push({ what, ...(await judged(trial)) });
  return findings;
}

/** Drops the database in which all of that was done. */
export async function forgetExamination(): Promise<void> {
  await mongoose.connection.dropDatabase();
}

async function judged(
  trial: () => Promise<Omit<DoctorFinding, 'what'>>,
): Promise<Omit<DoctorFinding, 'what'>> {
  try {
    return await trial();
  } catch (error) {
    return { verdict: 'missing', detail: error instanceof Error ? error.message : String(error) };
  }
}

const works = (detail: string): Omit<DoctorFinding, 'what'> => ({ verdict: 'works', detail });

/** `slow` beyond so many milliseconds. */
function timed(ms: number, most: number, detail: string): Omit<DoctorFinding, 'what'> {
  return { verdict: ms > most ? 'slow' : 'works', detail };
}

function connected(): mongoose.mongo.Db {
  const { db } = mongoose.connection;
  if (db === undefined) throw new CdrError('unavailable', 'The database is not connected');
  return db;
}

const probes = (): mongoose.mongo.Collection<{ _id: string; n: number; text?: string }> =>
  connected().collection(PROBE);

async function server(): Promise<Omit<DoctorFinding, 'what'>> {
  await checkServerAtStart();
  const { version } = await connected().admin().command({ buildInfo: 1 });
  const { setName, msg, hosts } = await connected().admin().command({ hello: 1 });
  const members = Array.isArray(hosts) ? hosts.length : 1;
  const place = msg === 'isdbgrid' ? 'behind a mongos' : `set ${String(setName)} of ${members}`;
  return works(`MongoDB ${String(version)}, ${place}`);
}

async function roundTrip(): Promise<Omit<DoctorFinding, 'what'>> {
  const ms = await median(() => connected().admin().command({ ping: 1 }));
  return timed(ms, SLOW.ping, `${ms.toFixed(1)} ms; a commit takes at least two`);
}

async function clock(): Promise<Omit<DoctorFinding, 'what'>> {
  const before = Date.now();
  const { localTime } = await connected().admin().command({ hello: 1 });
  const after = Date.now();
  if (!(localTime instanceof Date)) return works('the server does not tell its time');
  const difference = Math.round(localTime.getTime() - (before + after) / 2);
  const detail = `${difference} ms from this machine's; commits and leases go by both`;
  return timed(Math.abs(difference), SLOW.clock, detail);
}

/** In a transaction, as a commit sends it. */
async function bulkWriteCommand(): Promise<Omit<DoctorFinding, 'what'>> {
  const { maxWireVersion } = await connected().admin().command({ hello: 1 });
  const names = [PROBE, `${PROBE}-other`];
  for (const name of names) await connected().collection<{ _id: string }>(name).insertOne({ _id: 'bulk' });
  const ops = names.map((_, index) => ({ insert: index, document: { _id: 'bulk-written' } }));
  const nsInfo = names.map((name) => ({ ns: `${connected().databaseName}.${name}` }));
  try {
    const { nInserted } = await inSession(async (session) => {
      session.startTransaction({ writeConcern: MAJORITY });
      const written = await connected().admin().command({ bulkWrite: 1, ops, nsInfo }, { session });
      await session.commitTransaction();
      return written;
    });
    if (Number(nInserted) !== names.length)
      throw new Error(`it wrote ${String(nInserted)} of ${names.length}`);
    return works('one command for a whole commit');
  } catch (error) {
    // What a server of 8.0 says that it has is relied on.
    if (Number(maxWireVersion) >= BULK_WRITE_WIRE_VERSION) throw error;
    return { verdict: 'slow', detail: 'one command for each collection: it is there from 8.0 on' };
  }
}

async function majorityWrite(): Promise<Omit<DoctorFinding, 'what'>> {
  const ms = await median((index) =>
    probes().insertOne({ _id: `w${index}`, n: index }, { writeConcern: MAJORITY }),
  );
  return timed(ms, SLOW.commit, `${ms.toFixed(1)} ms`);
}

async function transaction(documents: number, text = ''): Promise<Omit<DoctorFinding, 'what'>> {
  const ms = await median(
    (index) =>
      inSession(async (session) => {
        session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: MAJORITY });
        for (let document = 0; document < documents; document += 1)
          await probes().insertOne({ _id: `t${documents}-${index}-${document}`, n: 1, text }, { session });
        await session.commitTransaction();
      }),
    documents === 1 ? TRIES : 1,
  );
  return timed(ms, SLOW.commit * documents, `${ms.toFixed(1)} ms`);
}

function largeTransaction(): Promise<Omit<DoctorFinding, 'what'>> {
  return transaction(LARGE.documents, 'x'.repeat(LARGE.bytes));
}

async function aborted(): Promise<Omit<DoctorFinding, 'what'>> {
  await inSession(async (session) => {
    session.startTransaction();
    await probes().insertOne({ _id: 'aborted', n: 1 }, { session });
    await session.abortTransaction();
  });
  const left = await probes().findOne({ _id: 'aborted' });
  return left === null
    ? works('nothing of it is left')
    : { verdict: 'missing', detail: 'its write is still there' };
}

/** Two transactions change one document: one of them must learn of it, at once or when the other has ended. */
async function conflict(): Promise<Omit<DoctorFinding, 'what'>> {
  await probes().insertOne({ _id: 'conflict', n: 0 });
  const increase = (session: ClientSession) =>
    probes().updateOne({ _id: 'conflict' }, { $inc: { n: 1 } }, { session });
  return inSession((one) =>
    inSession(async (other) => {
      one.startTransaction();
      other.startTransaction();
      await increase(one);
      const second = increase(other).then(
        () => 'nobody notices',
        (error: unknown) => labelOf(error),
      );
      const seen = await Promise.race([second, pause(CONFLICT_MS, 'it waits')]);
      await one.abortTransaction();
      await second;
      await other.abortTransaction().catch(() => undefined);
      if (seen === 'it waits') return { verdict: 'slow', detail: 'the second one waits for the first' };
      if (seen !== LABELLED) return { verdict: 'missing', detail: seen };
      return works(seen);
    }),
  );
}

const LABELLED = 'the second one is told at once, with the label of a retry';

function labelOf(error: unknown): string {
  const isLabelled =
    error instanceof mongoose.mongo.MongoError && error.hasErrorLabel('TransientTransactionError');
  return isLabelled ? LABELLED : `without the label of a retry: ${String(error)}`;
}

async function indexes(layout: readonly CollectionDefinition[]): Promise<Omit<DoctorFinding, 'what'>> {
  const start = performance.now();
  await createCollections(layout);
  const ms = performance.now() - start;
  const missing = await missingIndexes(layout);
  if (missing.length > 0)
    return {
      verdict: 'missing',
      detail: missing.map(({ collection, name }) => `${collection} ${name}`).join(', '),
    };
  const count = layout.reduce((sum, { indexes: own }) => sum + own.length, 0);
  return timed(ms, SLOW.indexes, `${count} indexes of ${layout.length} collections in ${Math.round(ms)} ms`);
}

function inSession<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
  return mongoose.connection.getClient().withSession(work);
}

/** Milliseconds of the middle one of several runs. */
async function median(work: (index: number) => Promise<unknown>, tries: number = TRIES): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < tries; index += 1) {
    const start = performance.now();
    await work(index);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(tries / 2)] ?? 0;
}
