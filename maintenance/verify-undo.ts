import { withSession } from '../models/access/write.js';
import type { EhrDoc } from '../models/ehr.js';
import { harmsOf } from '../merge/replay/harm.js';
import type { Findings } from './verify-report.js';

/**
 * Validates that an EHR holds what persons and the merges that stand give it: releases before the replay left more when merges
 * were taken back in another order. `everchart merge repair` writes what is right. docs/spec/merge.md#repair
 */
export async function checkUndone(
  { _id: ehrId, merge_seq: mergeSeq }: EhrDoc,
  found: Findings,
): Promise<void> {
  // What is damaged otherwise is no history that could be replayed.
  if (mergeSeq === undefined || found.violations.length > 0) return;
  try {
    for (const { type, latest, from, isGuess } of await withSession((session) => harmsOf(session, ehrId))) {
      const right =
        from === null ? 'what persons and the merges that stand give it' : `the content of ${from._id}`;
      const what = `the ${type} of EHR ${ehrId}`;
      if (isGuess)
        found.addUnrecorded(
          latest._id,
          `${what} was joined by an older release, which did not record whose content was chosen; by the rule it would hold ${right}`,
        );
      else
        found.add(
          'versions',
          latest._id,
          `${what} holds what a merge left that was taken back; right is ${right}`,
        );
    }
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    found.add('ehrs', ehrId, 'its merges are damaged and could not be replayed');
  }
}
