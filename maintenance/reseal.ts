import type { JsonObject } from '../openehr/base/json.js';
import { textAt } from '../openehr/rm/access.js';
import type { ContributionDoc } from '../models/contribution.js';
import { inSteps } from '../models/access/in-steps.js';
import type { SealLeaf } from '../models/access/layout.js';
import {
  canonicalText,
  contributionLeaf,
  listOf,
  versionLeaf,
} from '../models/cross-collection/seal-hash.js';
import {
  attestedVersionUids,
  contributionsListing,
  idsInTail,
  leafOf,
  leavesNaming,
  recordsById,
} from '../models/cross-collection/seal-record.js';
import type { VersionDoc } from '../models/version.js';
import { sealLeaves } from './seal.js';

/** What came of VERSIONs with ATTESTATIONs that are in no block. */
export interface Resealing {
  /** Uids of those that are sealed with them now. */
  readonly resealed: readonly string[];
  /** Uids of those that nothing proves: `verify` goes on to name them. */
  readonly unproven: readonly string[];
}

/** VERSIONs looked at together. */
const AT_ONCE = 500;

/** What blocks say of a record. */
type Sealed = ReadonlyMap<string, readonly SealLeaf[]>;

/**
 * Up to 0.2.0 a VERSION that was attested in the sealing interval of its commit was sealed without its ATTESTATION. Seals those
 * anew whose record proves it: without the uncovered ATTESTATIONs the VERSION is what a block sealed, and of each of them there
 * is a CONTRIBUTION, itself sealed and unchanged, that lists the VERSION and has its time, its committer and its system. Others
 * stay as they are. What else an ATTESTATION says no CONTRIBUTION repeats: it is sealed as it was found.
 */
export async function resealAttested(): Promise<Resealing> {
  const resealed: string[] = [];
  const unproven: string[] = [];
  for (const part of inSteps(await attestedVersionUids(), AT_ONCE)) {
    const sealed = await leavesNaming('versions', new Set(part));
    const waiting = await idsInTail('versions', part);
    const suspects: VersionDoc[] = [];
    for await (const record of recordsById('versions', part))
      if (record.collection === 'versions' && isUncovered(record.doc, sealed) && !waiting.has(record.doc._id))
        suspects.push(record.doc);
    if (suspects.length === 0) continue;
    const proven = await provenOf(suspects, sealed);
    await sealLeaves(proven.map((doc) => leafOf({ collection: 'versions', doc })));
    const known = new Set(proven);
    for (const doc of suspects) (known.has(doc) ? resealed : unproven).push(doc._id);
  }
  return { resealed, unproven };
}

/** Whether no block covers all of its ATTESTATIONs although some block has it. */
function isUncovered({ _id, attestations }: VersionDoc, sealed: Sealed): boolean {
  const leaves = sealed.get(_id);
  return leaves !== undefined && coveredBy(leaves) < listOf(attestations).length;
}

function coveredBy(leaves: readonly SealLeaf[]): number {
  return Math.max(...leaves.map(({ attestations = 0 }) => attestations));
}

/** Those for which the record speaks; what still waits for the sealer is none of them. */
async function provenOf(suspects: readonly VersionDoc[], sealed: Sealed): Promise<VersionDoc[]> {
  const contributions = await contributionsListing(suspects.map(({ _id }) => _id));
  const ids = new Set(contributions.map(({ _id }) => _id));
  const ofContributions = await leavesNaming('contributions', ids);
  const sound = contributions.filter((doc) => isUnchanged(doc, ofContributions));
  return suspects.filter((doc) => isProven(doc, sealed.get(doc._id) ?? [], sound));
}

function isUnchanged(contribution: ContributionDoc, sealed: Sealed): boolean {
  const leaves = sealed.get(contribution._id) ?? [];
  const hash = contributionLeaf(contribution);
  return leaves.length > 0 && leaves.every((leaf) => leaf.hash.equals(hash));
}

function isProven(
  version: VersionDoc,
  leaves: readonly SealLeaf[],
  contributions: readonly ContributionDoc[],
): boolean {
  if (!leaves.every(({ attestations = 0, hash }) => versionLeaf(version, attestations).equals(hash)))
    return false;
  const left = contributions
    .filter(
      ({ _id, versions }) =>
        _id !== version.contribution_uid && versions.some(({ uid }) => uid === version._id),
    )
    .map(({ audit }) => whoAndWhen(audit));
  return listOf(version.attestations)
    .slice(coveredBy(leaves))
    .every((attestation) => {
      const at = left.indexOf(whoAndWhen(attestation));
      return at >= 0 && left.splice(at, 1)[0] !== undefined;
    });
}

/** What an ATTESTATION and the audit of its CONTRIBUTION have in common. */
function whoAndWhen(audit: JsonObject): string {
  const { committer, system_id: system } = audit;
  return canonicalText([textAt(audit, 'time_committed', 'value'), committer, system]);
}
