import { CdrError } from '../openehr/base/errors.js';
import { mergesOfSources } from '../models/merge/record.js';
import { publishErasureFailure } from '../database/events.js';
import { inTransaction } from '../database/transaction.js';
import { ehrById, ehrsBeingErased, holdActive, sourcesEndingIn, type EhrDoc } from '../models/ehr.js';
import {
  ehrHiding,
  eraseEhrContent,
  lastErasure,
  objectErasure,
  wholeErasure,
} from '../models/cross-collection/erase.js';
import { ERASED_IN_STEPS } from '../models/cross-collection/audited-removals.js';
import type { RootType } from '../openehr/rm/root-type.js';
import { tagsOn } from '../models/item-tag.js';
import { hasMoreVersions } from '../models/version.js';
import { containerOf, liveCompositionCount, type VersionedObjectDoc } from '../models/versioned-object.js';
import type { ActPlan } from '../models/waiting-request.js';
import { runWrites, type Session } from '../models/access/write.js';
import { digestOf, stateOf, type Gate } from '../change/approval/gate.js';
import { inAuditedTransaction } from '../change/commit/audit-draft.js';
import { mergedAway } from '../change/commit/ehr-access.js';
import { requireUnrestricted } from '../change/mark/restriction.js';
import { beingMerged, ehrNotFound, objectNotFound } from '../change/commit/refusal.js';

/** An object to be erased. */
export interface ErasedObject {
  readonly ehrId: string;
  readonly type: RootType;
  readonly versionedObjectUid: string;
}

/**
 * Removes a COMPOSITION or directory physically: every version, the container, what AQL reads, item tags. Its
 * CONTRIBUTIONs stay and name versions that are gone. See docs/spec/rest.md#administration. `gate`: where that takes two
 * persons.
 * @throws not-found when the EHR is not active or has no such object; a merged EHR's objects are in its target
 */
export function eraseVersionedObject(
  { ehrId, type, versionedObjectUid }: ErasedObject,
  gate?: Gate,
): Promise<void> {
  const isDone = gate?.opens !== false;
  return inAuditedTransaction(
    async (session) => {
      const ehr = isDone ? await holdActive(ehrId) : await ehrById(ehrId);
      if (ehr === null || ehr.state !== 'active' || ehr.merging !== undefined) throw await notHeld(ehrId);
      const container = await containerOf(ehrId, type, versionedObjectUid);
      if (container === null) throw objectNotFound(ehrId, type, versionedObjectUid);
      await requireUnrestricted(ehrId, [versionedObjectUid]);
      await gate?.pass(session, await objectPlan(session, container));
      if (isDone) await runWrites(session, await objectErasure(session, ehrId, versionedObjectUid));
    },
    () => ({ ehr_id: ehrId, objects: [versionedObjectUid] }),
  );
}

/** What a second person sees, and agrees on. */
async function objectPlan(session: Session, container: VersionedObjectDoc): Promise<ActPlan> {
  const { _id, ehr_id: ehrId, type, latest_version: versions } = container;
  const tags = (await tagsOn(session, ehrId, [_id])).map((tag) => tag._id).sort();
  return {
    digest: digestOf([await stateOf(container), tags]),
    summary: `${type} ${_id} of EHR ${ehrId} is removed with all its versions`,
    ehr_ids: [ehrId],
    versions,
    item_tags: tags.length,
  };
}

/** How an EHR is erased. */
export interface ErasureOptions {
  /** true: with EHRs that were merged into it and could still be taken out. */
  readonly cascade?: boolean;
  readonly versionsAtOnce?: number;
  /** Where it takes two persons. */
  readonly gate?: Gate;
  /** Of an EHR that is erased in steps: takes the steps after the first, by which the EHR is gone for everybody; absent: all are waited for. */
  readonly handOver?: (rest: () => Promise<void>) => void;
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
  { cascade = false, versionsAtOnce = VERSIONS_AT_ONCE, gate, handOver }: ErasureOptions = {},
): Promise<void> {
  const inSteps = await hasMoreVersions(ehrId, versionsAtOnce);
  const isDone = gate?.opens !== false;
  await inAuditedTransaction(
    async (session) => {
      if (!cascade) await requireNoReversibleMerge(ehrId);
      await requireUnrestricted(ehrId);
      await gate?.pass(session, await ehrPlan(ehrId, cascade));
      if (!isDone) return;
      const writes = inSteps ? ehrHiding(ehrId) : await wholeErasure(session, ehrId);
      if (!(await runWrites(session, writes))) throw await notHeld(ehrId);
    },
    () => ({ ehr_id: ehrId, ...(inSteps && isDone && { options: ERASED_IN_STEPS }) }),
  );
  if (!inSteps || !isDone) return;
  const rest = (): Promise<void> => finishErasure(ehrId);
  if (handOver === undefined) await rest();
  else handOver(rest);
}

/** @throws as `eraseEhr` for what could not be erased now */
export async function requireErasable(ehrId: string, cascade: boolean): Promise<void> {
  await requireHeld(ehrId);
  if (!cascade) await requireNoReversibleMerge(ehrId);
}

let last: Promise<void> = Promise.resolve();

/**
 * Takes steps of erasures that nobody waits for: they run one erasure after another. One that fails is published, and ended at the next
 * start (`resumeErasures`); until then `/rest/overview` shows it. Gives the end of these.
 */
export function finishInTurn(ehrId: string, rest: () => Promise<void>): Promise<void> {
  last = last.then(rest).catch((error: unknown) => publishErasureFailure({ ehrId, error }));
  return last;
}

/** What a second person sees, and agrees on. Each write of content or tags raises `write_seq`. @throws as `eraseEhr` */
async function ehrPlan(ehrId: string, cascade: boolean): Promise<ActPlan> {
  const ehr = await requireHeld(ehrId);
  const sources = (await sourcesEndingIn(ehrId)).toSorted();
  const compositions = await liveCompositionCount(ehrId);
  return {
    digest: digestOf([ehrId, ehr.write_seq, sources, cascade]),
    summary: `EHR ${ehrId} is removed with everything in it`,
    ehr_ids: [ehrId, ...sources],
    compositions,
    merged_ehrs: sources,
  };
}

async function requireHeld(ehrId: string): Promise<EhrDoc> {
  const ehr = await ehrById(ehrId);
  if (ehr === null || ehr.state !== 'active' || ehr.merging !== undefined) throw await notHeld(ehrId);
  return ehr;
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
    await runWrites(session, await lastErasure(session, ehrId));
  });
}
