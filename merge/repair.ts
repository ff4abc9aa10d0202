import { CHANGE_TYPE } from '../change/commit/codes.js';
import { writeContribution } from '../change/commit/commit.js';
import { ehrsAfter, holdActive } from '../models/ehr.js';
import { withSession } from '../models/access/write.js';
import { stateOf } from './content.js';
import { mergeAudit } from './plan/plan.js';
import { harmsOf, type Harm } from './replay/harm.js';
import { repairUid } from './replay/repair-uid.js';
import type { MergeContext } from './request.js';
import { inMergeTransaction } from './transaction.js';

/** EHRs read at once. */
const PAGE = 100;

/** What is written of what is found. `certain`: not where an older release may have been told to do it. */
export type Repairing = 'none' | 'certain' | 'all';

/**
 * What older releases left wrong when they took merges back, EHR by EHR: written as new versions as `write` says.
 * docs/spec/merge.md#repair
 * @throws conflict after `MERGE_RETRIES`
 */
export async function* repairMerges(context: MergeContext, write: Repairing): AsyncGenerator<Harm> {
  for (let page = await ehrsAfter('', PAGE); page.length > 0;) {
    for (const { _id: ehrId, state, merge_seq: mergeSeq } of page) {
      if (state !== 'active' || mergeSeq === undefined) continue;
      yield* write === 'none'
        ? await withSession((session) => harmsOf(session, ehrId))
        : await repaired(context, ehrId, write);
    }
    page = await ehrsAfter(page.at(-1)?._id ?? '', PAGE);
  }
}

function repaired(context: MergeContext, ehrId: string, write: Repairing): Promise<Harm[]> {
  return inMergeTransaction(context.retries, async (session) => {
    if ((await holdActive(ehrId)) === null) return [];
    const found = await harmsOf(session, ehrId);
    const harms = found.filter(({ isGuess }) => write === 'all' || !isGuess);
    const audit = mergeAudit(CHANGE_TYPE.modification, 'everchart', `Repair of merges of EHR ${ehrId}`);
    for (const { type, latest, object, from } of harms) {
      const isFromElsewhere = from !== null && from.object_id !== latest.object_id;
      const entry = {
        kind: 'update' as const,
        type,
        versionedObjectUid: latest.object_id,
        precedingVersionUid: latest._id,
        object,
        audit,
        lifecycleState: stateOf(from ?? latest),
        templateDigest: from?.template_digest,
        ...(isFromElsewhere && { otherInputVersionUids: [from._id] }),
      };
      const contributionUid = repairUid(latest._id);
      await writeContribution(session, context.change, { ehrId, contributionUid, audit, entries: [entry] });
    }
    return harms;
  });
}
