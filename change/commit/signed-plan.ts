import { CdrError } from '../../openehr/base/errors.js';
import type { VersionDoc } from '../../models/version.js';
import type { ChangeSettings } from './context.js';
import { isOpenPgp, type KeyRing } from './key-ring.js';
import { planned, type CommitPlan } from './plan.js';
import { atEntry } from './refusal.js';
import type { CommitRequest, CommitState } from './request.js';
import { itemSignatureState, signedText } from './signature.js';

/** A commit that was worked out, with what it was worked out from. */
export interface PlannedCommit {
  readonly settings: ChangeSettings;
  readonly state: CommitState;
  readonly request: CommitRequest;
  readonly plan: CommitPlan;
}

/**
 * The commit with what takes keys: what no client has signed is signed where `SIGNING=pgp` says so, and the commit is worked out anew with
 * these signatures, for the same moment, since seals hold them too.
 * @throws unprocessable for a signature by a key of the ring that is not that of its VERSION; unavailable when the key may sign no more
 */
export async function signedPlan(
  ring: KeyRing,
  { settings, state, request, plan }: PlannedCommit,
): Promise<CommitPlan> {
  const signatures = new Map<string, string>();
  for (const [index, { doc }] of plan.commit.versions.entries()) {
    if (doc === null) continue;
    const { signature, item } = doc;
    if (signature !== undefined || item?.signature !== undefined)
      await requireOwn(ring, doc).catch((error: unknown) => {
        throw request.namesEntries === true ? atEntry(index, error) : error;
      });
    if (signature === undefined && settings.signing === 'pgp')
      signatures.set(doc._id, await ring.sign(signedText(doc)));
  }
  if (signatures.size === 0) return plan;
  return planned(settings, state, { ...request, signatures }, plan.commit.contribution.time_committed);
}

async function requireOwn(ring: KeyRing, version: VersionDoc): Promise<void> {
  const { signature, item } = version;
  const isOther =
    signature !== undefined &&
    isOpenPgp(signature) &&
    (await ring.judge(signedText(version), signature)) === 'mismatched';
  if (isOther)
    throw new CdrError('unprocessable', 'the signature is not that of the version that would be made');
  if (item !== undefined && (await itemSignatureState(version, item)) === 'mismatched')
    throw new CdrError('unprocessable', 'the signature of the item is not that of what it is');
}
