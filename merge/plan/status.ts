import { CdrError } from '../../openehr/base/errors.js';
import { ehrById, finalEhrId, type EhrDoc } from '../../models/ehr.js';
import { archivedBodies } from '../../models/merge/archive.js';
import { waitingMerges, type MergeRequestDoc } from '../../models/merge/request.js';
import { undoneMerges, type MergeHistoryDoc } from '../../models/merge/history.js';
import {
  allMerges,
  mergeBetween,
  mergeOfSource,
  mergesInto,
  type MergePage,
  type MergeRecordDoc,
} from '../../models/merge/record.js';
import { withSession } from '../../models/access/write.js';
import { obstaclesAtOnce, obstaclesTo, type Obstacle } from '../unmerge/obstacles.js';
import { unmergeSnapshot } from '../unmerge/snapshot.js';

/** Which merges are asked for. */
export interface MergeFilter {
  readonly source: string | null;
  readonly target: string | null;
  /** true: also merges that lead on from the source or led to the target. */
  readonly cascaded: boolean;
  readonly page: MergePage;
}

/** A merge that stands, and whether it could be taken back now without choices. */
export interface StandingMerge extends MergeRecordDoc {
  readonly reversibleNow: boolean;
  /** What stands against it; of a merge that can never be taken back, or not before another one, that alone. */
  readonly obstacles: readonly Obstacle[];
}

/**
 * The merges that fit, oldest first. See docs/spec/merge.md#cascades.
 * @throws not-found when a filter is given and nothing fits
 */
export async function mergeStatus(filter: MergeFilter): Promise<StandingMerge[]> {
  const { source, target, page } = filter;
  if (source === null && target === null) return withReversibility(await allMerges(page));
  const found = filter.cascaded ? await cascade(filter) : await direct(filter);
  if (found.length === 0) throw noMerge();
  const sorted = found.toSorted((a, b) => a.merge_date.getTime() - b.merge_date.getTime());
  return withReversibility(sorted.slice(page.offset, page.offset + page.fetch));
}

async function withReversibility(records: readonly MergeRecordDoc[]): Promise<StandingMerge[]> {
  const found: StandingMerge[] = [];
  for (const record of records) found.push({ ...record, ...(await reversibility(record)) });
  return found;
}

async function reversibility(
  record: MergeRecordDoc,
): Promise<Pick<StandingMerge, 'reversibleNow' | 'obstacles'>> {
  const target = await ehrById(record.target_ehr);
  if (target === null || target.state === 'deleting') return { reversibleNow: false, obstacles: [] };
  const obstacles = await obstaclesNow(record, target);
  return { reversibleNow: target.merging === undefined && obstacles.length === 0, obstacles };
}

async function obstaclesNow(record: MergeRecordDoc, target: EhrDoc): Promise<Obstacle[]> {
  const targetMergedInto = target.state === 'merged' ? await finalEhrId(target) : null;
  const [source = null] = await archivedBodies(record._id, 'ehr');
  const atOnce = obstaclesAtOnce({ record, target, targetMergedInto, source });
  if (atOnce.length > 0 || target.merging !== undefined) return atOnce;
  return obstaclesTo(await withSession((session) => unmergeSnapshot(session, record, target)));
}

/** The merges between these EHRs that were taken back, oldest first. @throws not-found as `mergeStatus` */
export async function undoneStatus(pair: Omit<MergeFilter, 'cascaded'>): Promise<MergeHistoryDoc[]> {
  const found = await undoneMerges(pair);
  if (found.length === 0 && (pair.source !== null || pair.target !== null)) throw noMerge();
  return found;
}

/** The merges between these EHRs that wait for approval, oldest first. @throws not-found as `mergeStatus` */
export async function pendingStatus(pair: Omit<MergeFilter, 'cascaded'>): Promise<MergeRequestDoc[]> {
  const found = await waitingMerges(pair, pair.page);
  if (found.length === 0 && (pair.source !== null || pair.target !== null)) throw noMerge();
  return found;
}

function noMerge(): CdrError {
  return new CdrError('not-found', 'there is no such merge');
}

/** The direct merge of one EHR into another. @throws not-found when there is none, a cascade does not count */
export async function directMerge(source: string, target: string): Promise<MergeRecordDoc> {
  const record = await mergeBetween(source, target);
  if (record === null) throw noSuchMerge(source, target);
  return record;
}

/** 404 for a direct merge that does not exist. */
export function noSuchMerge(source: string, target: string): CdrError {
  return new CdrError('not-found', `EHR ${source} was not merged into ${target}`);
}

/** The EHR in which the data of a merged one is now. @throws not-found when it was not merged away */
export async function mergeTarget(ehrId: string): Promise<string> {
  const ehr = await ehrById(ehrId);
  if (ehr?.state !== 'merged') throw new CdrError('not-found', `EHR ${ehrId} was not merged`);
  return finalEhrId(ehr);
}

async function direct({ source, target }: MergeFilter): Promise<MergeRecordDoc[]> {
  if (source === null) return target === null ? [] : mergesInto([target]);
  const record = target === null ? await mergeOfSource(source) : await mergeBetween(source, target);
  return record === null ? [] : [record];
}

function cascade({ source, target }: MergeFilter): Promise<MergeRecordDoc[]> {
  if (source !== null) return pathFrom(source, target);
  return target === null ? Promise.resolve([]) : leadingTo(target);
}

/** The merges that data of the source went through; up to `target` if one is named, none when it is not reached. */
async function pathFrom(source: string, target: string | null): Promise<MergeRecordDoc[]> {
  const path: MergeRecordDoc[] = [];
  for (let ehrId = source; ;) {
    const record = await mergeOfSource(ehrId);
    if (record === null) return target === null ? path : [];
    path.push(record);
    if (record.target_ehr === target) return path;
    ehrId = record.target_ehr;
  }
}

/** All merges whose data ended in this EHR. */
async function leadingTo(target: string): Promise<MergeRecordDoc[]> {
  const found: MergeRecordDoc[] = [];
  for (let targets = [target]; targets.length > 0;) {
    const records = await mergesInto(targets);
    found.push(...records);
    targets = records.map((record) => record.source_ehr);
  }
  return found;
}
