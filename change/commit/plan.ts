import { setImmediate } from 'node:timers/promises';
import { CdrError } from '../../openehr/base/errors.js';
import { groupBy } from '../../openehr/base/maps.js';
import { setQueryable } from '../../models/aql-document.js';
import { contributionInsert } from '../../models/contribution.js';
import { ehrInsert, holdEhr, releaseSubject } from '../../models/ehr.js';
import type { EhrDoc } from '../../models/ehr.js';
import { leafOf, sealMarks } from '../../models/cross-collection/seal-record.js';
import type { SealLeaf } from '../../models/access/layout.js';
import type { Write } from '../../models/access/write.js';
import { auditDetails } from './audit.js';
import type { ChangeSettings } from './context.js';
import { planEntry, type PlannedEntry } from './plan-entry.js';
import { CommitDraft } from './draft.js';
import { atEntry, ehrRefusal, mergedConflict } from './refusal.js';
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
  const steps = planning(settings, state, request, now);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** As `planCommit`, at once for a few entries; after so many others get their turn. @throws as `planCommit` */
export function planned(
  settings: ChangeSettings,
  state: CommitState,
  request: CommitRequest,
  now: Date,
): CommitPlan | Promise<CommitPlan> {
  const steps = planning(settings, state, request, now);
  const { done, value } = steps.next();
  return done === true ? value : inTurns(steps);
}

async function inTurns<T>(steps: Generator<undefined, T>): Promise<T> {
  for (;;) {
    await setImmediate();
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Entries that are worked out, and VERSIONs that are sealed, in one go. */
const TURN = 50;

function* planning(
  settings: ChangeSettings,
  state: CommitState,
  request: CommitRequest,
  now: Date,
): Generator<undefined, CommitPlan> {
  requireEhr(state, request);
  if (state.isContributionUsed)
    throw new CdrError('conflict', `CONTRIBUTION with uid ${request.contributionUid} exists already`);
  const time = commitTime(state, request, now);
  const draft = new CommitDraft(settings, state, request, time);
  const entries: PlannedEntry[] = [];
  for (const [index, entry] of request.entries.entries())
    try {
      if (index > 0 && index % TURN === 0) yield;
      entries.push(planEntry(draft, entry));
    } catch (error) {
      throw request.namesEntries === true ? atEntry(index, error) : error;
    }
  return yield* assembled(draft, entries);
}

function requireEhr(state: CommitState, request: CommitRequest): void {
  const { ehrId } = request;
  if (request.isNewEhr === true) {
    if (state.ehr === null || state.ehr === 'expected') return;
    if (state.ehr.state === 'merged' && state.finalEhrId !== null)
      throw mergedConflict(ehrId, state.finalEhrId);
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

function* assembled(draft: CommitDraft, planned: readonly PlannedEntry[]): Generator<undefined, CommitPlan> {
  const { request, settings, time } = draft;
  const contribution = {
    _id: request.contributionUid,
    ehr_id: request.ehrId,
    time_committed: time,
    audit: auditDetails(request.audit, settings.systemId, time),
    ...(request.authenticated !== undefined && { authenticated: request.authenticated }),
    versions: planned.map(({ version }) => ({ uid: version.versionUid, type: version.type })),
  };
  const ehr = request.isNewEhr === true ? newEhr(draft) : null;
  const leaves: SealLeaf[] = [];
  const shapes = new Set<string>();
  for (const [index, { version, shapes: own }] of planned.entries()) {
    if (index > 0 && index % TURN === 0) yield;
    const { doc } = version;
    if (doc !== null) leaves.push(leafOf({ collection: 'versions', doc }));
    for (const shape of own) shapes.add(shape);
  }
  const writes: Write[] = [
    ...takeoverWrites(draft),
    ehr === null ? changedEhr(draft) : ehrInsert(ehr),
    contributionInsert({ ...contribution, ...sealMarks(contribution, leaves, ehr) }),
    ...planned.flatMap((entry) => entry.writes),
    ...queryableWrites(draft),
  ];
  return {
    writes: byCollection(writes),
    shapes: [...shapes],
    commit: { contribution, versions: planned.map((entry) => entry.version) },
  };
}

/** The same writes, those to one collection together and in their order: neighbouring inserts cost the database less. */
export function byCollection(writes: readonly Write[]): Write[] {
  return [...groupBy(writes, ({ collection }) => collection).values()].flat();
}

/** The subject that the commit wants may be reserved by an EHR that was merged into this one. */
function takeoverWrites({ state, request, status }: CommitDraft): Write[] {
  const holder = state.subjectHolder;
  const subject = status?.subject ?? null;
  if (holder === null || holder.ehrId === request.ehrId || subject === null) return [];
  return [releaseSubject(holder.ehrId, subject)];
}

function newEhr(draft: CommitDraft): EhrDoc {
  const { request, settings, time, status, directoryId } = draft;
  if (status === null) throw new TypeError('a new EHR needs its EHR_STATUS');
  return {
    _id: request.ehrId,
    system_id: settings.systemId,
    time_created: time,
    state: 'active',
    write_seq: 1,
    is_queryable: status.isQueryable,
    is_modifiable: status.isModifiable,
    ...(status.subject !== null && { subject: status.subject }),
    identities: status.identities,
    ehr_status_id: status.versionedObjectUid,
    ...(directoryId !== null && { directory_id: directoryId }),
  };
}

/** The lock of the EHR, which carries what the commit makes of it. */
function changedEhr({ request, expected, status, needsModifiable, directoryId, state }: CommitDraft): Write {
  return holdEhr(
    {
      ehrId: request.ehrId,
      isQueryable: expected.isQueryable,
      needsModifiable,
      judged: request.judged,
    },
    {
      status: status ?? undefined,
      directoryId: directoryId === state.directoryId ? undefined : directoryId,
    },
  );
}

/** `is_queryable` is repeated in every derived document of the EHR. */
function queryableWrites({ request, expected, status }: CommitDraft): Write[] {
  if (status === null || request.isNewEhr === true || status.isQueryable === expected.isQueryable) return [];
  return [setQueryable(request.ehrId, status.isQueryable)];
}
