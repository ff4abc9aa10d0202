import mongoose from 'mongoose';
import { createCollections } from '../database/indexes.js';
import { deriveAqlDocument } from '../aql/index/derive.js';
import { COLLECTION_LAYOUT, COLLECTIONS } from '../models/access/layout.js';
import type { LeafIndex } from '../aql/index/document.js';
import { aqlInsert } from '../models/aql-document.js';
import { contributionInsert } from '../models/contribution.js';
import { holdEhr } from '../models/ehr.js';
import { versionInsert, type VersionDoc } from '../models/version.js';
import { containerInsert, headOf } from '../models/versioned-object.js';
import { runWrites, type Write } from '../models/access/write.js';
import { textTable } from '../cli/output.js';
import { measure, milliseconds } from './measure.js';
import { laboratoryReport, seeded } from './vital-signs.js';

const VALUES = 100;
const REPORTS = 300;
const EHR = 'e0000000-0000-4000-8000-0000000000ff';
const COLUMNS = ['leaves', 'commit ms', 'p95', 'document KB', 'all indexes KB', 'leaf index KB'];

/**
 * What the leaf index costs on laboratory reports with 100 values: the time of the transaction that a commit is, the
 * size of the derived document, and of the indexes for each document. Empties `aql` of the connected database.
 */
export async function benchLeafIndex(print: (line: string) => void): Promise<void> {
  const rows: string[][] = [];
  for (const leafIndex of ['all', 'numeric', 'none'] as const) rows.push(await committed(leafIndex));
  print(textTable(COLUMNS, rows));
}

async function committed(leafIndex: LeafIndex): Promise<string[]> {
  await mongoose.connection.dropCollection(COLLECTIONS.aql);
  await createCollections(COLLECTION_LAYOUT);
  const ehrs = mongoose.connection.collection<{ _id: string }>(COLLECTIONS.ehrs);
  const fields = { state: 'active', write_seq: 0, is_queryable: true, is_modifiable: true };
  await ehrs.updateOne({ _id: EHR }, { $set: fields }, { upsert: true });
  const random = seeded(1);
  const timing = await measure(leafIndex, REPORTS, (run) =>
    commitReport(`${leafIndex}-${run}-${random()}`, leafIndex, random),
  );
  // Sizes are those of the last checkpoint.
  await mongoose.connection.getClient().db('admin').command({ fsync: 1 });
  const { count, size, totalIndexSize, indexSizes } = await storageOf(COLLECTIONS.aql);
  const leaf = Object.entries(indexSizes).find(([name]) => name.startsWith('lv.k'))?.[1] ?? 0;
  const kilobytes = (bytes: number): string => (bytes / count / 1000).toFixed(1);
  return [
    ...[leafIndex, milliseconds(timing.medianMs), milliseconds(timing.p95Ms)],
    ...[kilobytes(size), kilobytes(totalIndexSize), kilobytes(leaf)],
  ];
}

/** The writes of one commit of a COMPOSITION, deriving included. */
async function commitReport(id: string, leafIndex: LeafIndex, random: () => number): Promise<void> {
  const time = new Date();
  const data = laboratoryReport(VALUES, time, random);
  const uid = `${id}::bench::1`;
  const { document } = deriveAqlDocument(
    {
      ...{ versionUid: uid, ehrId: EHR, versionedObjectUid: id, version: 1, type: 'COMPOSITION', leafIndex },
      ...{ timeCommitted: time, contributionUid: id, changeType: '249', lifecycleState: '532' },
      isQueryable: true,
    },
    data,
  );
  const type = 'COMPOSITION';
  const version: VersionDoc = {
    ...{ _id: uid, ehr_id: EHR, object_id: id, type, version: 1, time_committed: time, contribution_uid: id },
    ...{ commit_audit: {}, lifecycle_state: {}, data: JSON.stringify(data) },
  };
  const writes: Write[] = [
    holdEhr({ ehrId: EHR, isQueryable: true, needsModifiable: true }, {}),
    contributionInsert({ _id: id, ehr_id: EHR, time_committed: time, audit: {}, versions: [] }),
    versionInsert(version),
    containerInsert({ ...{ _id: id, ehr_id: EHR, type, time_created: time }, ...headOf(version) }),
    aqlInsert(document),
  ];
  await mongoose.connection.getClient().withSession((session) =>
    session.withTransaction(async () => {
      if (!(await runWrites(session, writes))) throw new Error('the EHR is gone');
    }),
  );
}

/** Figures of MongoDB's `$collStats`. */
export interface StorageFigures {
  readonly count: number;
  readonly size: number;
  readonly totalIndexSize: number;
  readonly indexSizes: Readonly<Record<string, number>>;
}

/** Bytes of a collection and of its indexes. */
export async function storageOf(collection: string): Promise<StorageFigures> {
  const [found] = await mongoose.connection
    .collection(collection)
    .aggregate<{ storageStats: StorageFigures }>([{ $collStats: { storageStats: {} } }])
    .toArray();
  if (found === undefined) throw new Error(`${collection} has no figures`);
  return found.storageStats;
}
