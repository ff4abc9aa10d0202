import type { REVISION_HISTORY } from '../../rm/src/generated/types.js';
import { versionNumberOf } from './uid.js';

/** One version of an object: who made it, when, how and why. */
export interface HistoryEntry {
  readonly uid: string;
  readonly number: number;
  /** ISO 8601. */
  readonly time: string;
  /** creation, modification, deleted, … */
  readonly change: string;
  readonly committer: string | undefined;
  readonly description: string | undefined;
}

/** The versions that a REVISION_HISTORY lists, oldest first. */
export function historyOf({ items = [] }: REVISION_HISTORY): HistoryEntry[] {
  return items.flatMap(({ version_id, audits }) => {
    const [audit] = audits;
    if (audit === undefined) return [];
    const { time_committed, change_type, committer, description } = audit;
    return {
      uid: version_id.value,
      number: Number(versionNumberOf(version_id.value)),
      time: time_committed.value,
      change: change_type.value,
      committer: 'name' in committer ? committer.name : undefined,
      description: description?.value,
    };
  });
}
