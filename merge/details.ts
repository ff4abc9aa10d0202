import { formatUtc } from '../base/iso8601.js';
import type { JsonObject } from '../base/json.js';
import type { MergeResult } from './merge.js';

/** MergeDetailsDto of a merge, without unmerge data. Contract, section 14. */
export function mergeDetails(result: MergeResult): JsonObject {
  const { outcome, merge_date: mergeDate } = result;
  return {
    outcome: { level: outcome.level, summary: outcome.summary },
    source_ehr: result.source_ehr,
    target_ehr: result.target_ehr,
    ...(mergeDate !== undefined && { merge_date: formatUtc(mergeDate) }),
  };
}
