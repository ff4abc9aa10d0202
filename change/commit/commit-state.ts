import { ehrById, ehrBySubject, finalEhrId, type EhrDoc } from '../../models/ehr.js';
import { contributionExists } from '../../models/contribution.js';
import { containersById, liveDirectory, type VersionedObjectDoc } from '../../models/versioned-object.js';
import { versionsById } from '../../models/version.js';
import { viewing } from '../access/viewer.js';
import { subjectOf } from './ehr-flags.js';
import type { CommitRequest, CommitState, VersionEntry } from './request.js';

/** Optimistic: nothing is read; the EHR is active, queryable and modifiable, what is new does not exist. */
export const OPTIMISTIC_STATE: CommitState = {
  ehr: 'expected',
  finalEhrId: null,
  containers: new Map(),
  directoryId: null,
  subjectHolder: null,
  isContributionUsed: false,
  mayLackIndex: false,
};

/**
 * The state for a first, optimistic attempt: only what cannot be expected is read, which for a new COMPOSITION is
 * nothing. What is expected is a condition of the writes. `known`: containers read already.
 */
export async function optimisticState(
  request: CommitRequest,
  known: readonly VersionedObjectDoc[] = [],
): Promise<CommitState> {
  const containers = await containersOf(request, known);
  return {
    ...OPTIMISTIC_STATE,
    containers,
    directoryId: await directoryOf(request, containers),
    isContributionUsed: request.isChosenUid === true && (await contributionExists(request.contributionUid)),
  };
}

/** The state with everything read, for when an expectation was wrong or the reason of a refusal is wanted. */
export async function fullState(request: CommitRequest): Promise<CommitState> {
  const ehr = await ehrById(request.ehrId);
  const containers = await containersOf(request, []);
  return {
    ehr,
    finalEhrId: ehr?.state === 'merged' ? await seenFinalEhrId(ehr) : null,
    containers,
    directoryId: await directoryOf(request, containers),
    subjectHolder: await subjectHolderOf(request),
    isContributionUsed: await contributionExists(request.contributionUid),
    mayLackIndex: true,
  };
}

/** The same for a commit that found something else than it had expected: with the versions that it attests. */
export async function stateAfterAll(request: CommitRequest): Promise<CommitState> {
  const uids = request.entries.flatMap((entry) => (entry.kind === 'attest' ? [entry.versionUid] : []));
  const found = uids.length === 0 ? [] : await versionsById(request.ehrId, uids);
  return { ...(await fullState(request)), attested: new Set(found.map(({ _id }) => _id)) };
}

/** A new id of our own cannot be in use. */
function needsContainer(entry: VersionEntry): boolean {
  return entry.kind !== 'create' || entry.isChosenId;
}

async function containersOf(
  request: CommitRequest,
  known: readonly VersionedObjectDoc[],
): Promise<Map<string, VersionedObjectDoc>> {
  const containers = new Map(known.map((container) => [container._id, container]));
  const missing = request.entries
    .filter(needsContainer)
    .map((entry) => entry.versionedObjectUid)
    .filter((versionedObjectUid) => !containers.has(versionedObjectUid));
  if (missing.length > 0)
    for (const container of await containersById([...new Set(missing)]))
      containers.set(container._id, container);
  if (request.unseen !== undefined)
    for (const versionedObjectUid of request.unseen) containers.delete(versionedObjectUid);
  return containers;
}

async function directoryOf(
  request: CommitRequest,
  containers: ReadonlyMap<string, VersionedObjectDoc>,
): Promise<string | null> {
  const live = [...containers.values()].find(
    ({ type, deleted, ehr_id: ehrId }) => type === 'FOLDER' && !deleted && ehrId === request.ehrId,
  );
  if (live !== undefined) return live._id;
  const makesDirectory = request.entries.some((entry) => entry.kind === 'create' && entry.type === 'FOLDER');
  return makesDirectory ? ((await liveDirectory(request.ehrId))?._id ?? null) : null;
}

/** Who holds the subject that the last EHR_STATUS entry wants. */
async function subjectHolderOf(request: CommitRequest): Promise<CommitState['subjectHolder']> {
  const entry = request.entries.findLast((last) => 'object' in last && last.type === 'EHR_STATUS');
  const subject = entry !== undefined && 'object' in entry ? subjectOf(entry.object) : null;
  const holder: EhrDoc | null = subject === null ? null : await ehrBySubject(subject);
  if (holder === null) return null;
  return { ehrId: holder._id, finalEhrId: (await seenFinalEhrId(holder)) ?? holder._id };
}

/** Where the merges that began with an EHR ended; null: that is not for who asks to know. */
async function seenFinalEhrId(ehr: EhrDoc): Promise<string | null> {
  const ended = await finalEhrId(ehr);
  return (await viewing.getStore()?.viewer?.seesEhrId(ended)) === false ? null : ended;
}
