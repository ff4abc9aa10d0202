import { CdrError } from '../openehr/base/errors.js';
import { beingMerged, ehrNotFound, mergedMessage, notModifiable } from '../change/commit/refusal.js';
import { ehrById, finalEhrId, holdForMove, type EhrDoc } from '../models/ehr.js';

/** Both EHRs of a merge, active. */
export interface MergeablePair {
  readonly source: EhrDoc;
  readonly target: EhrDoc;
}

/**
 * The two EHRs of a merge, in the order of docs/spec/merge.md#checks.
 * @throws not-found when one never existed or was deleted; conflict when one was merged away already (naming
 * where it went) or the target is not modifiable
 */
export async function checkMerge(sourceEhr: string, targetEhr: string): Promise<MergeablePair> {
  const source = await existing(sourceEhr);
  const target = await existing(targetEhr);
  if (source.state === 'merged') {
    throw new CdrError('conflict', `EHR ${sourceEhr} was already merged into ${await finalEhrId(source)}`);
  }
  if (target.state === 'merged') {
    throw new CdrError('conflict', mergedMessage(targetEhr, await finalEhrId(target)));
  }
  if (!target.is_modifiable) throw notModifiable(targetEhr);
  return { source, target };
}

/**
 * Holds both EHRs of a merge or unmerge for the caller's transaction, in ascending order, so that two of them never wait for
 * each other: every write to an EHR holds its document first, so a parallel one is wholly before this or after it.
 * @throws unavailable when one of them is being merged in steps
 */
export async function holdBoth(
  { sourceEhr, targetEhr }: { readonly sourceEhr: string; readonly targetEhr: string },
  sourceState: 'active' | 'merged',
): Promise<void> {
  for (const ehrId of [sourceEhr, targetEhr].toSorted()) {
    const held = await holdForMove(ehrId, ehrId === sourceEhr ? sourceState : 'active');
    if (held === null && (await ehrById(ehrId))?.merging !== undefined) throw beingMerged(ehrId);
  }
}

async function existing(ehrId: string): Promise<EhrDoc> {
  const ehr = await ehrById(ehrId);
  if (ehr === null || ehr.state === 'deleting') throw ehrNotFound(ehrId);
  return ehr;
}
