import { CdrError } from '../../openehr/base/errors.js';
import type { ContributionDoc } from '../../models/contribution.js';
import {
  canonicalText,
  contributionLeaf,
  listOf,
  versionLeaf,
} from '../../models/cross-collection/seal-hash.js';
import type { UndoneMerge } from '../../models/cross-collection/interchange.js';
import type { EhrDoc } from '../../models/ehr.js';
import { attestVersion, type VersionDoc } from '../../models/version.js';
import type { Write } from '../../models/access/write.js';
import type { EhrPart, RestoreState, Tombstone } from './part.js';

/* What is there already is the same, or refused. What the store works out for itself does not count. */

/** @throws conflict when the EHR is here and was made otherwise, or cannot be written; invalid when nothing says how it was made */
export function requireEhr({ ehrId, ehr: restored }: EhrPart, ehr: EhrDoc | null): void {
  if (ehr === null) {
    if (restored !== null) return;
    throw new CdrError('invalid', `EHR ${ehrId} is neither here nor before what it holds in the file`);
  }
  const { merged_into: mergedInto } = ehr;
  if (mergedInto !== undefined)
    throw new CdrError('conflict', `EHR ${ehrId} was merged into ${mergedInto} here`);
  if (ehr.state !== 'active') throw new CdrError('conflict', `EHR ${ehrId} is being erased here`);
  if (ehr.merging !== undefined) throw new CdrError('conflict', `EHR ${ehrId} is being merged here`);
  const isSame =
    restored === null ||
    (ehr.system_id === restored.system_id && ehr.time_created.getTime() === restored.time_created.getTime());
  if (!isSame) throw new CdrError('conflict', `another EHR with id ${ehrId} was made here`);
}

/** Whether the EHR was merged away here too. @throws conflict when it was not, or otherwise */
export function tombstoneIsThere({ ehr }: Tombstone, ehrs: ReadonlyMap<string, EhrDoc>): boolean {
  const known = ehrs.get(ehr._id);
  if (known === undefined) return false;
  const isSame = known.merged_into === ehr.merged_into && known.merge_id === ehr.merge_id;
  if (!isSame)
    throw new CdrError(
      'conflict',
      `EHR ${ehr._id} was merged into ${ehr.merged_into ?? ''}, which it was not here`,
    );
  return true;
}

/** @throws conflict when a merge that was taken back is still what it was here */
export function requireUndone(
  { _id, source_ehr, target_ehr }: UndoneMerge,
  ehrs: ReadonlyMap<string, EhrDoc>,
): void {
  if (ehrs.get(source_ehr)?.merge_id !== _id) return;
  throw new CdrError(
    'conflict',
    `EHR ${source_ehr} was merged into ${target_ehr} here, and that was taken back where the file comes from`,
  );
}

/** Whether the CONTRIBUTION is there. @throws conflict when its uid is that of another one */
export function contributionIsThere(
  contribution: ContributionDoc,
  { contributions }: Pick<RestoreState, 'contributions'>,
): boolean {
  const known = contributions.get(contribution._id);
  if (known === undefined) return false;
  const { batch } = known;
  const asBrought = batch === undefined ? contribution : { ...contribution, batch };
  const isSame =
    known.ehr_id === contribution.ehr_id && contributionLeaf(known).equals(contributionLeaf(asBrought));
  if (!isSame) throw new CdrError('conflict', `another CONTRIBUTION with uid ${contribution._id} is here`);
  return true;
}

/**
 * The writes of ATTESTATIONs that a VERSION, which is here, got since; none when it is the same, or has fewer than here.
 * @throws conflict when it is another one
 */
export function laterAttestations(restored: VersionDoc, known: VersionDoc): Write[] {
  const [given, have] = [listOf(restored.attestations), listOf(known.attestations)];
  const shared = Math.min(given.length, have.length);
  const isSame =
    restored.ehr_id === known.ehr_id && versionLeaf(restored, shared).equals(versionLeaf(known, shared));
  if (!isSame) throw new CdrError('conflict', `another VERSION with uid ${known._id} is here`);
  const later = given.slice(have.length);
  return later.length === 0 ? [] : [attestVersion(known.ehr_id, known._id, later)];
}

/** Whether two stored documents say the same. */
export function isSameDocument(one: object, other: object): boolean {
  return canonicalText(one) === canonicalText(other);
}
