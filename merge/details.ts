import { formatUtc } from '../openehr/base/iso8601.js';
import type { JsonObject } from '../openehr/base/json.js';
import type { AuditSubject } from '../models/audit.js';
import type { IdempotentResult } from '../models/idempotency.js';
import type { MergeHistoryDoc } from '../models/merge/history.js';
import type { MergeMotive, MergeRecordDoc } from '../models/merge/record.js';
import type { MergeWay } from './steps.js';
import type { Obstacle } from './unmerge/obstacles.js';

/** What a merge came to; without date for a dry run. */
export type MergeResult = Pick<
  MergeRecordDoc,
  'source_ehr' | 'target_ehr' | 'outcome' | 'reason' | 'requested_by' | 'approval'
> & {
  readonly merge_date?: Date;
  /** Of a merge that was made, or waits. */
  readonly _id?: string;
  readonly finalised?: MergeRecordDoc['finalised'];
  /** Whether it could be taken back now, without choices; absent where nobody asked. */
  readonly reversibleNow?: boolean;
  /** What stands against that; absent where nobody asked. */
  readonly obstacles?: readonly Obstacle[];
  /** How it was or would be written; absent where that is no matter. */
  readonly way?: MergeWay;
  /** It waits for another administrator. */
  readonly state?: 'pending';
  /** From `agreedPlan`. */
  readonly plan?: JsonObject;
};

/** A merge that was made, and what it did. */
export type MergedEhrs = MergeRecordDoc & { readonly plan: JsonObject };

/** MergeDetailsDto of a merge, without unmerge data. docs/spec/merge.md#details */
export function mergeDetails(result: MergeResult): JsonObject {
  const { outcome, merge_date: mergeDate, finalised } = result;
  return {
    outcome: { level: outcome.level, summary: outcome.summary },
    source_ehr: result.source_ehr,
    target_ehr: result.target_ehr,
    ...(result._id !== undefined && { merge_id: result._id }),
    ...(mergeDate !== undefined && { merge_date: formatUtc(mergeDate) }),
    ...(result.way !== undefined && { way: result.way }),
    ...(result.state !== undefined && { state: result.state }),
    ...motiveOf(result),
    ...approvalOf(result),
    ...(result.reversibleNow !== undefined && { reversible_now: result.reversibleNow }),
    ...obstaclesOf(result),
    ...(finalised !== undefined && { finalised: { ...finalised, date: formatUtc(finalised.date) } }),
    ...(result.plan !== undefined && { plan: result.plan }),
  };
}

function approvalOf({ approval }: MergeResult): JsonObject {
  if (approval === undefined) return {};
  const { requester, requested_at: date } = approval;
  return { requested: { date: formatUtc(date), administrator: requester } };
}

function obstaclesOf({ obstacles = [] }: MergeResult): JsonObject {
  if (obstacles.length === 0) return {};
  return {
    reasons: obstacles.map(({ message }) => message),
    obstacles: obstacles.map(({ object_ids: ids, choices, ...obstacle }) => ({
      ...obstacle,
      object_ids: [...ids],
      choices: [...choices],
    })),
  };
}

/** Why, and who asked for it, as far as it is known. */
export function motiveOf({ reason, requested_by }: MergeMotive): Record<string, string> {
  return {
    ...(reason !== undefined && { reason }),
    ...(requested_by !== undefined && { requested_by }),
  };
}

/** The same of a merge that was taken back, with when, by whom and into which CONTRIBUTIONs. */
export function undoneDetails({ undone, ...record }: MergeHistoryDoc): JsonObject {
  const { date, committer, contribution_uids: contributions, summary } = undone;
  return {
    ...mergeDetails(record),
    undone: {
      date: formatUtc(date),
      committer,
      contributions: [...contributions],
      summary,
      ...motiveOf(undone),
    },
  };
}

/** What the audit record of a merge or unmerge says beside the request: the merge, its CONTRIBUTION, its level. */
export function mergeSubject({ _id, contribution_uid: uid, outcome }: MergeRecordDoc): AuditSubject {
  return { objects: [_id, ...(uid === undefined ? [] : [uid])], outcome: outcome.level };
}

/** The same of an unmerge, with the CONTRIBUTIONs that it made. */
export function undoSubject({ undone, ...record }: MergeHistoryDoc): AuditSubject {
  return { ...mergeSubject(record), objects: [record._id, ...undone.contribution_uids] };
}

/** What the answer to a repeated merge or unmerge is rendered from. */
export function idempotentResultOf(result: MergeResult): IdempotentResult {
  const { source_ehr, target_ehr, outcome, merge_date: mergeDate } = result;
  const date = mergeDate === undefined ? {} : { merge_date: mergeDate.toISOString() };
  const way = result.way === undefined ? {} : { way: result.way };
  const id = result._id === undefined ? {} : { merge_id: result._id };
  const { level, summary } = outcome;
  return {
    kind: 'MERGE',
    uids: {
      ...{ source_ehr, target_ehr, level, summary, ...id, ...date, ...way, ...motiveOf(result) },
      ...(result.state !== undefined && { state: result.state }),
    },
  };
}

/** The merge or unmerge that such a result was made from. */
export function mergeOfIdempotentResult({ uids }: IdempotentResult): MergeResult {
  const { source_ehr = '', target_ehr = '', level, summary = '', merge_date: date, way, merge_id: id } = uids;
  return {
    source_ehr,
    target_ehr,
    outcome: { level: level === 'FOLDER_COPY' ? level : 'BASIC', summary },
    ...(date !== undefined && { merge_date: new Date(date) }),
    ...(id !== undefined && { _id: id }),
    ...((way === 'steps' || way === 'transaction') && { way }),
    ...(uids.state === 'pending' && { state: uids.state }),
    ...motiveOf(uids),
  };
}
