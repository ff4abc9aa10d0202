import { CdrError } from '../openehr/base/errors.js';
import { formatUtc } from '../openehr/base/iso8601.js';
import { digestOf, type Gate } from '../change/approval/gate.js';
import { inAuditedTransaction } from '../change/commit/audit-draft.js';
import { beingMerged } from '../change/commit/refusal.js';
import { noteStates } from '../models/cross-collection/state-note.js';
import { holdForMove } from '../models/ehr.js';
import { archiveRemoval } from '../models/merge/archive.js';
import { undoneMerge } from '../models/merge/history.js';
import { mergeById, mergeFinalising, mergesBefore, type MergeRecordDoc } from '../models/merge/record.js';
import { waitingMerge } from '../models/merge/request.js';
import type { ActPlan } from '../models/waiting-request.js';
import { runWrites, type Session } from '../models/access/write.js';

/** How a merge is made final. */
export interface Finalising {
  readonly mergeId: string;
  /** Name of the administrator. */
  readonly committer: string;
  readonly reason: string;
}

/**
 * Makes a merge final: its archive goes, it can never be taken back. See docs/spec/merge.md#making-a-merge-final. `gate`: where
 * that takes two persons.
 * @throws not-found for an unknown merge; conflict for one that is final already or was taken back; unavailable while it is
 * taken back in steps
 */
export function finaliseMerge(request: Finalising, now: Date, gate?: Gate): Promise<MergeRecordDoc> {
  const { mergeId, committer, reason } = request;
  const isDone = gate?.opens !== false;
  return inAuditedTransaction(
    async (session) => {
      const record = await mergeById(mergeId);
      if (record === null) throw await notStanding(session, mergeId);
      // Held, so that it is not taken back at the same time.
      if (isDone && (await holdForMove(record.source_ehr, 'merged')) === null)
        throw beingMerged(record.source_ehr);
      if (!record.reversible) throw new CdrError('conflict', `merge ${mergeId} is final already`);
      await gate?.pass(session, actPlan(record));
      if (!isDone) return record;
      const finalised = { date: now, committer, reason };
      await runWrites(session, [mergeFinalising(mergeId, finalised), archiveRemoval([mergeId])]);
      await noteStates(session, { collection: 'merge_records', ids: [mergeId], reason: 'merge' });
      return { ...record, reversible: false, finalised };
    },
    ({ source_ehr: source, target_ehr: target }) => ({
      ehr_id: source,
      ehr_ids: [source, target],
      target,
      objects: [mergeId],
      reason,
    }),
  );
}

/** What a second person sees, and agrees on: a merge that stands is always the same. */
function actPlan({ _id, source_ehr: source, target_ehr: target, merge_date: date }: MergeRecordDoc): ActPlan {
  return {
    digest: digestOf([_id, source, target, date.toISOString()]),
    summary: `the merge of EHR ${source} into ${target} can never be taken back any more`,
    ehr_ids: [source, target],
    merge_id: _id,
    merge_date: formatUtc(date),
  };
}

async function notStanding(session: Session, mergeId: string): Promise<CdrError> {
  if ((await waitingMerge(mergeId)) !== null)
    return new CdrError('conflict', `merge ${mergeId} waits for approval`);
  return (await undoneMerge(session, mergeId)) === null
    ? new CdrError('not-found', `there is no merge ${mergeId}`)
    : new CdrError('conflict', `merge ${mergeId} was taken back`);
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Merges made final in one go. */
const AT_ONCE = 100;

/**
 * Makes merges final that are older than so many days (`MERGE_REVERSIBLE_DAYS`), those that others are busy with at another
 * time. `recorded`: writes the audit record of each. Gives how many.
 */
export async function finaliseOldMerges(
  days: number,
  recorded: (work: () => Promise<unknown>) => Promise<unknown>,
  now: Date = new Date(),
): Promise<number> {
  let finalised = 0;
  const old = await mergesBefore(new Date(now.getTime() - days * DAY_MS), AT_ONCE);
  for (const { _id: mergeId } of old) {
    const request = { mergeId, committer: 'everchart', reason: `MERGE_REVERSIBLE_DAYS=${days}` };
    try {
      await recorded(() => finaliseMerge(request, now));
      finalised += 1;
    } catch (error) {
      if (!(error instanceof CdrError)) throw error;
    }
  }
  return finalised;
}
