import { createHash } from 'node:crypto';
import { expect } from '@jest/globals';
import mongoose from 'mongoose';
import { versionOf, type StoredVersion } from '../../../models/version-text.js';
import type { VersionedObjectDoc } from '../../../models/versioned-object.js';
import { COLLECTIONS } from '../../../models/access/layout.js';

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
 * and id. `write_seq` and `merge_seq` are left out: they only ever grow.
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
    .filter(([name]) => name !== 'write_seq' && name !== 'merge_seq')
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

/** What EHRs hold, for what an unmerge has to give back. */
export interface RecordState {
  /** A hash of each document that never changes but for its owner: EHRs, VERSIONs, CONTRIBUTIONs, item tags. */
  readonly documents: Readonly<Record<string, string>>;
  /** What each object that is not deleted holds now, without the uid of the version, by its EHR and object id. */
  readonly contents: Readonly<Record<string, string>>;
}

/** What these EHRs hold. */
export async function recordState(ehrIds: readonly string[]): Promise<RecordState> {
  const all = await clinicalState(ehrIds);
  const lasting = /^(ehrs|versions|contributions|item_tags) /;
  const documents = Object.fromEntries(Object.entries(all).filter(([key]) => lasting.test(key)));
  const contents: Record<string, string> = {};
  const live = { ehr_id: { $in: [...ehrIds] }, deleted: false };
  for await (const container of mongoose.connection
    .collection<VersionedObjectDoc>('versioned_objects')
    .find(live)) {
    const versions = mongoose.connection.collection<StoredVersion>('versions');
    const stored = await versions.findOne({ _id: container.latest_version_uid });
    if (stored === null) continue;
    const { lifecycle_state: state, template_id: templateId, data } = versionOf(stored);
    const content = [state, templateId, { ...JSON.parse(data!), uid: null }];
    contents[`${container.ehr_id} ${container.type} ${container._id}`] = JSON.stringify(content);
  }
  return { documents, contents };
}

/** Both EHRs hold what they held, and nothing that was written before changed or went. */
export async function expectRestored(before: RecordState, ehrIds: readonly string[]): Promise<void> {
  const now = await recordState(ehrIds);
  expect(now.contents).toEqual(before.contents);
  expect(now.documents).toMatchObject(before.documents);
}
