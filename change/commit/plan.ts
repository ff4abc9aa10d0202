import { CdrError } from '../../openehr/base/errors.js';
import { groupBy } from '../../openehr/base/group-by.js';
import type { ContributionDoc } from '../../models/contribution.js';
import type { EhrDoc } from '../../models/ehr.js';
import { COLLECTIONS } from '../../models/layout.js';
import { leafOf } from '../../models/seal-record.js';
import type { Write } from '../../models/write-batch.js';
import { auditDetails } from './audit.js';
import type { ChangeSettings } from './context.js';
import { planEntry, type PlannedEntry } from './plan-entry.js';
import { CommitDraft } from './progress.js';
import { atEntry, ehrRefusal, mergedMessage } from './refusal.js';
import type { Commit, CommitRequest, CommitState } from './request.js';

/** A commit worked out against a state: what to write, provided that the state still holds. */
export interface CommitPlan {
  /** In order, collection by collection; the first one holds the EHR. */
  readonly writes: readonly Write[];
  /** `_id`s of `aql_shapes` that must exist before. */
  readonly shapes: readonly string[];
  readonly commit: Commit;
}

/**
 * Works out a CONTRIBUTION against the state of the database. Pure: neither clock nor database. Refuses in the
 * order of docs/spec/rest.md#order-of-checks: EHR, then each entry with its container, `is_modifiable` and version
 * precondition. All versions share one time, later than that of every version they follow; a container that the same
 * CONTRIBUTION changes twice gets 1 ms more each time, so that its times strictly increase.
 * @throws CdrError not-found, conflict, precondition-failed, invalid, too-large
 */
export function planCommit(
  settings: ChangeSettings,
  state: CommitState,
  request: CommitRequest,
  now: Date,
): CommitPlan {
  requireEhr(state, request);
  if (state.isContributionUsed)
    throw new CdrError('conflict', `CONTRIBUTION with uid ${request.contributionUid} exists already`);
  const time = commitTime(state, request, now);
  const progress = new CommitDraft(settings, state, request, time);
  const planned = request.entries.map((entry, index) => {
    try {
      return planEntry(progress, entry);
    } catch (error) {
      throw request.namesEntries === true ? atEntry(index, error) : error;
    }
  });
  return assemble(progress, planned);
}

function requireEhr(state: CommitState, request: CommitRequest): void {
  const { ehrId } = request;
  if (request.isNewEhr === true) {
    if (state.ehr === null || state.ehr === 'expected') return;
    if (state.ehr.state === 'merged' && state.finalEhrId !== null)
      throw new CdrError('conflict', mergedMessage(ehrId, state.finalEhrId));
    throw new CdrError('conflict', `EHR with id ${ehrId} already exists`);
  }
  if (state.ehr === 'expected') return;
  const refusal = ehrRefusal(ehrId, state.ehr, state.finalEhrId ?? ehrId);
  if (refusal !== null) throw refusal;
}

/** The clock's time, or 1 ms after the latest version that one of the entries follows. */
function commitTime(state: CommitState, request: CommitRequest, now: Date): Date {
  const following = request.entries
    .filter((entry) => entry.kind === 'update' || entry.kind === 'delete')
    .map(
      (entry) => (state.containers.get(entry.versionedObjectUid)?.latest_time_committed.getTime() ?? 0) + 1,
    );
  return new Date(Math.max(now.getTime(), ...following));
}

function assemble(progress: CommitDraft, planned: readonly PlannedEntry[]): CommitPlan {
  const { request, settings, time } = progress;
  const contribution = {
    _id: request.contributionUid,
    ehr_id: request.ehrId,
    time_committed: time,
    audit: auditDetails(request.audit, settings.systemId, time),
    ...(request.authenticated !== undefined && { authenticated: request.authenticated }),
    versions: planned.map(({ version }) => ({ uid: version.versionUid, type: version.type })),
  };
  const writes: Write[] = [
    ...takeoverWrites(progress),
    request.isNewEhr === true ? newEhr(progress) : holdEhr(progress),
    { collection: COLLECTIONS.contributions, insert: { ...contribution, ...sealing(contribution, planned) } },
    ...planned.flatMap((entry) => entry.writes),
    ...flagWrites(progress),
  ];
  return {
    writes: byCollection(writes),
    shapes: planned.flatMap((entry) => entry.shapes),
    commit: { contribution, versions: planned.map((entry) => entry.version) },
  };
}

/** What the sealer needs of a CONTRIBUTION: it is new, and the hashes of it and of its versions. */
function sealing(
  contribution: ContributionDoc,
  planned: readonly PlannedEntry[],
): Pick<ContributionDoc, 'unsealed' | 'leaves'> {
  const versions = planned.flatMap(({ version: { doc } }) => (doc === null ? [] : [doc]));
  const leaves = [
    leafOf({ collection: COLLECTIONS.contributions, doc: contribution }),
    ...versions.map((doc) => leafOf({ collection: COLLECTIONS.versions, doc })),
  ];
  return { unsealed: true, leaves };
}

/** The same writes, those to one collection together and in their order: neighbouring inserts cost the database less. */
export function byCollection(writes: readonly Write[]): Write[] {
  return [...groupBy(writes, ({ collection }) => collection).values()].flat();
}

/** A merged EHR reserves its subject until the EHR it ended in takes it. */
function takeoverWrites({ state, request }: CommitDraft): Write[] {
  const holder = state.subjectHolder;
  if (holder === null || holder.ehrId === request.ehrId) return [];
  return [
    {
      collection: COLLECTIONS.ehrs,
      filter: { _id: holder.ehrId, state: 'merged' },
      update: { $unset: { subject: 1 } },
      matching: 'one',
    },
  ];
}

function newEhr(progress: CommitDraft): Write {
  const { request, settings, time, status, directoryId } = progress;
  if (status === null) throw new TypeError('a new EHR needs its EHR_STATUS');
  const doc: EhrDoc = {
    _id: request.ehrId,
    system_id: settings.systemId,
    time_created: time,
    state: 'active',
    write_seq: 1,
    is_queryable: status.isQueryable,
    is_modifiable: status.isModifiable,
    ...(status.subject !== null && { subject: status.subject }),
    ehr_status_id: status.versionedObjectUid,
    ...(directoryId !== null && { directory_id: directoryId }),
  };
  return { collection: COLLECTIONS.ehrs, insert: doc };
}

/**
 * The write that every other one depends on: it raises `write_seq`, so that parallel writes to one EHR meet
 * here, and matches only while the EHR is what the plan believes.
 */
function holdEhr(progress: CommitDraft): Write {
  const { request, expected, status, needsModifiable, directoryId, state } = progress;
  const set: Record<string, unknown> = {};
  const unset: Record<string, 1> = {};
  if (status !== null) {
    set.is_queryable = status.isQueryable;
    set.is_modifiable = status.isModifiable;
    if (status.subject === null) unset.subject = 1;
    else set.subject = status.subject;
  }
  if (directoryId !== state.directoryId) {
    if (directoryId === null) unset.directory_id = 1;
    else set.directory_id = directoryId;
  }
  return {
    collection: COLLECTIONS.ehrs,
    filter: {
      _id: request.ehrId,
      state: 'active',
      is_queryable: expected.isQueryable,
      ...(needsModifiable && { is_modifiable: true }),
    },
    update: {
      $inc: { write_seq: 1 },
      ...(Object.keys(set).length > 0 && { $set: set }),
      ...(Object.keys(unset).length > 0 && { $unset: unset }),
    },
    matching: 'one',
  };
}

/** `is_queryable` is repeated in every derived document of the EHR. */
function flagWrites({ request, expected, status }: CommitDraft): Write[] {
  if (status === null || request.isNewEhr === true || status.isQueryable === expected.isQueryable) return [];
  const change = { filter: { ehr: request.ehrId }, update: { $set: { q: status.isQueryable } } };
  return [{ collection: COLLECTIONS.aql, ...change, matching: 'any' }];
}
