import { createHash } from 'node:crypto';
import mongoose from 'mongoose';
import { COLLECTIONS } from '../../models/layout.js';

const COMPARED = [
  COLLECTIONS.ehrs,
  COLLECTIONS.versionedObjects,
  COLLECTIONS.versions,
  COLLECTIONS.contributions,
  COLLECTIONS.aql,
  COLLECTIONS.itemTags,
  COLLECTIONS.mergeRecords,
  COLLECTIONS.mergeArchive,
] as const;

/**
 * A hash of every document of these EHRs in the clinical collections, and of all archives of merges, by collection
 * and id. `write_seq` is left out: it only ever grows.
 */
export async function clinicalState(ehrIds: readonly string[]): Promise<Record<string, string>> {
  const state: Record<string, string> = {};
  for (const name of COMPARED) {
    const filter = name === COLLECTIONS.mergeArchive ? {} : ownedBy(ehrIds);
    for await (const doc of mongoose.connection.collection(name).find(filter)) {
      const text = JSON.stringify(sorted(doc));
      state[`${name} ${String(doc._id)}`] = createHash('sha256').update(text).digest('hex');
    }
  }
  return state;
}

function ownedBy(ehrIds: readonly string[]): object {
  const among = { $in: [...ehrIds] };
  return { $or: ['ehr_id', 'ehr', 'owner_id', 'source_ehr', '_id'].map((field) => ({ [field]: among })) };
}

/** Fields of a document in one order; `$set` adds at the end. */
function sorted(doc: object): [string, unknown][] {
  return Object.entries(doc)
    .filter(([name]) => name !== 'write_seq')
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
