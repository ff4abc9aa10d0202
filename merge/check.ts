import { CdrError } from '../openehr/base/errors.js';
import { ehrNotFound, mergedMessage, notModifiable } from '../change/commit/refusal.js';
import { ehrById, finalEhrId, type EhrDoc } from '../models/ehr.js';

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

async function existing(ehrId: string): Promise<EhrDoc> {
  const ehr = await ehrById(ehrId);
  if (ehr === null || ehr.state === 'deleting') throw ehrNotFound(ehrId);
  return ehr;
}
