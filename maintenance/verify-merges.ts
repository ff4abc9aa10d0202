import { ehrById, knownEhrIds } from '../models/ehr.js';
import { archivedKinds } from '../models/merge/archive.js';
import { mergeJobs } from '../models/access/merge-job.js';
import { allWaitingMerges } from '../models/merge/request.js';
import { allMerges, mergeOfSource, type MergeRecordDoc } from '../models/merge/record.js';
import { allWaitingRequests } from '../models/waiting-request.js';
import { foundByEveryLook } from './verify-looks.js';
import { Findings } from './verify-report.js';

/** Validates merge records, tombstones and archives against each other; beside merges some are always half read. */
export async function checkMerges(): Promise<Findings> {
  return foundByEveryLook(async () => ({ found: await checkOnce(), isStill: false }));
}

async function checkOnce(): Promise<Findings> {
  const found = new Findings();
  const kinds = new Map(await archivedKinds());
  const jobs = await mergeJobs();
  const records = await allMerges();
  found.count('merge_records', records.length);
  for (const record of records) {
    const archived = kinds.get(record._id) ?? {};
    kinds.delete(record._id);
    const total = Object.values(archived).reduce((sum, count) => sum + count, 0);
    found.count('merge_archive', total);
    if (await checkRecord(record, found)) checkArchive(record, archived, found);
  }
  // Ids are archived before a merge in steps is decided.
  for (const { _id } of jobs) kinds.delete(_id);
  for (const mergeId of kinds.keys()) found.add('merge_archive', mergeId, 'its merge record does not exist');
  await checkWaiting(found);
  return found;
}

/** Validates that what waits for a second person is about EHRs that are there. */
async function checkWaiting(found: Findings): Promise<void> {
  const waiting = await allWaitingMerges();
  const known = await knownEhrIds(waiting.flatMap((one) => [one.source_ehr, one.target_ehr]));
  for (const { _id, source_ehr: source, target_ehr: target } of waiting)
    if (!known.has(source) || !known.has(target))
      found.add('merge_requests', _id, 'an EHR that it names does not exist');
  const others = await allWaitingRequests();
  const ehrsOf = ({ ehr_id: ehrId, other_ehr: other }: (typeof others)[number]): string[] =>
    [ehrId, other].filter((id) => id !== undefined);
  const named = await knownEhrIds(others.flatMap(ehrsOf));
  for (const one of others)
    if (!ehrsOf(one).every((id) => named.has(id)))
      found.add('waiting_requests', one._id, 'an EHR that it names does not exist');
}

/** Whether the archive of the merge can be validated: not while the EHR it ended in is being deleted. */
async function checkRecord(record: MergeRecordDoc, found: Findings): Promise<boolean> {
  const source = await ehrById(record.source_ehr);
  const isTombstone =
    source?.state === 'merged' && source.merge_id === record._id && source.merged_into === record.target_ehr;
  if (!isTombstone) found.add('merge_records', record._id, 'its source is not the tombstone of this merge');
  let last = await ehrById(record.target_ehr);
  while (last?.state === 'merged') last = await ehrById(last.merged_into ?? '');
  if (last === null) found.add('merge_records', record._id, 'the EHR it ended in does not exist');
  return last?.state === 'active';
}

function checkArchive(
  record: MergeRecordDoc,
  archived: Readonly<Record<string, number>>,
  found: Findings,
): void {
  if (!record.reversible) {
    if (Object.keys(archived).length > 0)
      found.add('merge_records', record._id, 'it is not reversible but has an archive');
    return;
  }
  if (archived.ehr !== 1)
    found.add('merge_records', record._id, `its archive has ${archived.ehr ?? 0} EHR documents`);
  if ((archived.container ?? 0) < 1 || (archived.version ?? 0) < 1)
    found.add('merge_records', record._id, 'its archive has no EHR_STATUS');
}

/** Validates a tombstone: it names the record that made it. */
export async function checkTombstoneRecord(ehrId: string, mergeId: string | undefined): Promise<Findings> {
  const found = new Findings();
  const record = await mergeOfSource(ehrId);
  if (record === null || record._id !== mergeId) {
    const still = await ehrById(ehrId);
    if (still?.state === 'merged' && still.merge_id === mergeId)
      found.add('ehrs', ehrId, 'it was merged away but has no merge record');
  }
  return found;
}
