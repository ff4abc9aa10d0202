import { randomBytes } from 'node:crypto';
import mongoose from 'mongoose';
import { COLLECTIONS } from './layout.js';

interface AuditSettings {
  readonly _id: string;
  readonly key: string;
}

const ID = 'audit';
const KEY_BYTES = 32;

let known: string | null = null;

/** The secret of this database by which parameters of queries are hashed; made when it is first needed. */
export async function auditKey(): Promise<string> {
  known ??= await storedKey();
  return known;
}

async function storedKey(): Promise<string> {
  const settings = mongoose.connection.collection<AuditSettings>(COLLECTIONS.settings);
  const fresh = { key: randomBytes(KEY_BYTES).toString('hex') };
  // Other processes may make one as well: the first stays.
  await settings.updateOne({ _id: ID }, { $setOnInsert: fresh }, { upsert: true });
  const stored = await settings.findOne({ _id: ID });
  if (stored === null) throw new Error('the key of the audit cannot be read back');
  return stored.key;
}
