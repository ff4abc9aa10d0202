import mongoose, { type ClientSession } from 'mongoose';
import { memoizedAnswer } from '../../openehr/base/maps.js';
import { documents, type StoredDocument } from './documents.js';
import type { CollectionName } from './layout.js';

/** Wire version of MongoDB 5.0, the first that reads a snapshot outside of transactions. */
const SNAPSHOT_WIRE_VERSION = 13;

/** How one read of the database is made to see one moment; empty where the server cannot. */
export interface SnapshotOption {
  readonly readConcern?: { readonly level: 'snapshot' };
}

/**
 * A read that lets others write on the way goes on in what is there then: of two EHRs that are merged meanwhile it would see
 * a document twice, or not at all. docs/spec/merge.md#atomicity
 */
export async function oneSnapshot(): Promise<SnapshotOption> {
  return (await snapshots()).option;
}

/** Whether the server, the embedded one, makes writers wait until all of a snapshot is read. */
export async function holdsSnapshots(): Promise<boolean> {
  return (await snapshots()).areHeld;
}

/** Sessions whose reads are of one moment. */
const ofOneMoment = new WeakSet<ClientSession>();

/**
 * Runs reads of one moment, as far as the database can: the embedded engine would make writers wait for each of them. They read through
 * `documentsIn`.
 */
export async function inReadSession<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
  const { option, areHeld } = await snapshots();
  const isOneMoment = option.readConcern !== undefined && !areHeld;
  const how = isOneMoment ? { snapshot: true } : { causalConsistency: false };
  return mongoose.connection.getClient().withSession(how, (session) => {
    if (isOneMoment) ofOneMoment.add(session);
    return work(session);
  });
}

/** A collection as a session reads it. The read concern of the connection would win over that of a session of one moment, and end it. */
export function documentsIn<D extends { _id: string } = StoredDocument>(
  session: ClientSession | undefined,
  name: CollectionName,
): mongoose.mongo.Collection<D> {
  const { db } = mongoose.connection;
  if (session === undefined || db === undefined || !ofOneMoment.has(session)) return documents<D>(name);
  return db.collection<D>(name, { readConcern: { level: 'snapshot' } });
}

const snapshots = memoizedAnswer(async () => {
  const hello = await mongoose.connection.getClient().db('admin').command({ hello: 1 });
  const isKnown = Number(hello.maxWireVersion) >= SNAPSHOT_WIRE_VERSION;
  const option: SnapshotOption = isKnown ? { readConcern: { level: 'snapshot' } } : {};
  return { option, areHeld: hello.holdsSnapshots === true };
});

/** More documents than a reply of the database holds: it ends a batch at its size instead. */
export const WHOLE_BATCH = 100_000;

/** How a list of any length is read so that it is of one moment, in as few commands as there can be. */
export async function wholeList(): Promise<SnapshotOption & { readonly batchSize: number }> {
  return { ...(await oneSnapshot()), batchSize: WHOLE_BATCH };
}
