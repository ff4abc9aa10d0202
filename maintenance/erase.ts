import { CdrError } from '../openehr/base/errors.js';
import { mergesOfSources } from '../models/merge/record.js';
import { inTransaction } from '../database/transaction.js';
import { ehrById, ehrsBeingErased, holdActive, sourcesEndingIn } from '../models/ehr.js';
import {
  ehrErasure,
  ehrHiding,
  eraseEhrContent,
  objectErasure,
  wholeErasure,
} from '../models/cross-collection/erase.js';
import type { RootType } from '../openehr/rm/root-type.js';
import { hasMoreVersions } from '../models/version.js';
import { containerOf } from '../models/versioned-object.js';
import { runWrites } from '../models/access/write.js';
import { inAuditedTransaction } from '../change/commit/audit-draft.js';
import { mergedAway } from '../change/commit/ehr-access.js';
import { beingMerged, ehrNotFound, objectNotFound } from '../change/commit/refusal.js';

/**
 * Removes a COMPOSITION or directory physically: every version, the container, what AQL reads, item tags. Its
 * CONTRIBUTIONs stay and name versions that are gone. See docs/spec/rest.md#administration.
 * @throws not-found when the EHR is not active or has no such object; a merged EHR's objects are in its target
 */
export function eraseVersionedObject(
  ehrId: string,
  type: RootType,
  versionedObjectUid: string,
): Promise<void> {
  return inAuditedTransaction(
    async (session) => {
      if ((await holdActive(ehrId)) === null) throw await notHeld(ehrId);
      if ((await containerOf(ehrId, type, versionedObjectUid)) === null)
        throw objectNotFound(ehrId, type, versionedObjectUid);
      await runWrites(session, await objectErasure(session, ehrId, versionedObjectUid));
    },
    () => ({ ehr_id: ehrId, objects: [versionedObjectUid] }),
  );
}

/** How an EHR is erased. */
export interface ErasureOptions {
  /** true: with EHRs that were merged into it and could still be taken out. */
  readonly cascade?: boolean;
  readonly versionsAtOnce?: number;
}

/** Versions that one transaction removes well within its limits of time and size. */
const VERSIONS_AT_ONCE = 10_000;

/**
 * Removes an EHR physically with everything it holds, the records of merges that ended in it, their archives,
 * tombstones and subject reservations. See docs/spec/rest.md#administration.
 *
 * In one transaction, unless the EHR is too large for one. Then a first transaction marks it and removes what AQL
 * reads, the rest goes in steps that can be repeated, and `resumeErasures` ends what a crash interrupted.
 * `versionsAtOnce`: how large "too large" is.
 * @throws not-found when the id is unknown or merged away; conflict without `cascade` while a merge that ended in it
 * can be taken back: the other patient's record would go too
 */
export async function eraseEhr(
  ehrId: string,
  { cascade = false, versionsAtOnce = VERSIONS_AT_ONCE }: ErasureOptions = {},
): Promise<void> {
  const inSteps = await hasMoreVersions(ehrId, versionsAtOnce);
  await inAuditedTransaction(
    async (session) => {
      if (!cascade) await requireNoReversibleMerge(ehrId);
      const writes = inSteps ? ehrHiding(ehrId) : await wholeErasure(session, ehrId);
      if (!(await runWrites(session, writes))) throw await notHeld(ehrId);
    },
    () => ({ ehr_id: ehrId }),
  );
  if (inSteps) await finishErasure(ehrId);
}

/** Why an EHR is not to be erased. */
async function notHeld(ehrId: string): Promise<CdrError> {
  const ehr = await ehrById(ehrId);
  if (ehr?.state === 'merged') return mergedAway(ehr);
  return ehr?.merging === undefined ? ehrNotFound(ehrId) : beingMerged(ehrId);
}

async function requireNoReversibleMerge(ehrId: string): Promise<void> {
  const reversible = (await mergesOfSources(await sourcesEndingIn(ehrId))).filter(
    (merge) => merge.reversible,
  );
  if (reversible.length === 0) return;
  const sources = reversible.map((merge) => merge.source_ehr).join(', ');
  throw new CdrError(
    'conflict',
    `EHR ${ehrId} holds EHRs that were merged into it and can still be taken out: ${sources}; cascade=true removes all`,
  );
}

/** Ends the physical deletions that were under way when the server stopped. Gives how many. */
export async function resumeErasures(): Promise<number> {
  const ehrIds = await ehrsBeingErased();
  for (const ehrId of ehrIds) await finishErasure(ehrId);
  return ehrIds.length;
}

/** Content first: the hidden EHR document is what shows a later start that there is something left to do. */
async function finishErasure(ehrId: string): Promise<void> {
  await eraseEhrContent(ehrId);
  await inTransaction(async (session) => {
    await runWrites(session, await ehrErasure(session, ehrId));
  });
}
