import { randomUUID } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { isDuplicateKey } from '../../database/mongo-error.js';
import { COLLECTIONS } from './layout.js';
import { documents } from './documents.js';
import { collection, date, number, optional, text, type DocumentOf } from './collection.js';

const LEASE = {
  /** Name of the work. */
  _id: text,
  /** Who has it. */
  holder: text,
  /** By the database's clock; from then on anybody may take it, since its holder must have died. */
  expires_at: date,
  /** How long it is taken for, ms; absent: as long as `LEASE_MS`. */
  length_ms: optional(number),
};

/** Work that one process at a time does, of all that use the database. */
type Lease = DocumentOf<typeof LEASE>;

const LeaseModel = collection(COLLECTIONS.settings, LEASE, 'lease');

const leases = () => documents<Lease>(COLLECTIONS.settings);

/** How long after the death of its holder a lease is free again. */
const LEASE_MS = 60_000;

/**
 * Runs work that must not run twice at a time, in whichever processes. Renewed while it runs, so that a process that
 * is killed blocks the others for `leaseMs` at most; one that cannot renew for so long may meet another.
 * @throws conflict with `message` when another process, or this one, is at it
 */
export async function withLease<T>(
  name: string,
  message: string,
  work: () => Promise<T>,
  leaseMs = LEASE_MS,
): Promise<T> {
  const holder = randomUUID();
  if (!(await takeLease(name, holder, leaseMs))) throw new CdrError('conflict', message);
  const renewal = setInterval(() => {
    // The next one may succeed, and without a database the work itself fails.
    renew(name, holder, leaseMs).catch(() => undefined);
  }, leaseMs / 4);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    await LeaseModel.deleteOne({ _id: name, holder }).exec();
  }
}

/** Whether some process is at this work. */
export async function isLeased(name: string): Promise<boolean> {
  return (await leases().countDocuments({ _id: name, $expr: { $not: [IS_FREE] } })) > 0;
}

/**
 * Whether nobody has it: its time is over, or it ends later than one taken now would. The clock of whoever took that one
 * was ahead, so its end says nothing, and its holder, if it lives, renews it by the clock as it is now.
 */
const IS_FREE = {
  $or: [
    { $lte: ['$expires_at', '$$NOW'] },
    { $gt: ['$expires_at', { $add: ['$$NOW', { $ifNull: ['$length_ms', LEASE_MS] }] }] },
  ],
};

/** One command that takes it only when it is free or has expired; by the clock of the database, since servers differ. */
async function takeLease(name: string, holder: string, leaseMs: number): Promise<boolean> {
  const taken = {
    holder: { $cond: [IS_FREE, holder, '$holder'] },
    expires_at: { $cond: [IS_FREE, expiry(leaseMs), '$expires_at'] },
    length_ms: { $cond: [IS_FREE, leaseMs, { $ifNull: ['$length_ms', LEASE_MS] }] },
  };
  try {
    const lease = await leases().findOneAndUpdate({ _id: name }, [{ $set: taken }], {
      upsert: true,
      returnDocument: 'after',
    });
    return lease?.holder === holder;
  } catch (error) {
    // Two made it at the same time; this one came second.
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

async function renew(name: string, holder: string, leaseMs: number): Promise<void> {
  await leases().updateOne({ _id: name, holder }, [{ $set: { expires_at: expiry(leaseMs) } }]);
}

function expiry(leaseMs: number): object {
  return { $add: ['$$NOW', leaseMs] };
}
