import { CdrError } from '../../openehr/base/errors.js';
import { publishCommit } from '../../database/events.js';
import { ambient } from '../../database/transaction.js';
import { saveShapes, saveShapesWith } from '../../models/aql-shape.js';
import type { AuditSubject } from '../../models/audit.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import { runWrites, type Session } from '../../models/access/write.js';
import { auditCommitted, auditWrites } from './audit-draft.js';
import { OPTIMISTIC_STATE, fullState, optimisticState, stateAfterAll } from './commit-state.js';
import { writeAlone, writeGrouped } from './commit-group.js';
import { commitClock } from './commit-clock.js';
import type { ChangeContext } from './context.js';
import { observedCommit, permittedCommit } from './permitted-commit.js';
import { contentKinds } from '../access/content-kinds.js';
import { viewing } from '../access/viewer.js';
import { idempotencyWrites } from './idempotency.js';
import { keys } from './key-ring.js';
import { byCollection, planned, type CommitPlan } from './plan.js';
import { requestIdentity } from './request-identity.js';
import type { Commit, CommitRequest, CommitState } from './request.js';
import { signedPlan, type PlannedCommit } from './signed-plan.js';

/** How often a commit is planned anew when others were faster, before it gives up. */
const MAX_ATTEMPTS = 8;

/** Text once as it is and once taken apart for queries, in about that many bytes. */
const BYTES_PER_CHARACTER = 3;
/** Of everything in a commit that is no content. */
const BYTES_PER_VERSION = 4_096;

/**
 * Commits one CONTRIBUTION with all its VERSIONs in one transaction, all or nothing; others may be in that transaction.
 *
 * Optimistic: the first attempt reads only what it cannot expect, plans, and lets every write match what was expected: one
 * command holds the EHR and writes everything, one commits. When an expectation was wrong nothing is written; then
 * everything is read, the plan is made again, and it either refuses in order (docs/spec/rest.md#order-of-checks) or
 * succeeds.
 *
 * `known`: containers that the caller has read already.
 * @throws CdrError of the plan; conflict when others are faster again and again
 */
export async function commit(
  context: ChangeContext,
  given: CommitRequest,
  known: readonly VersionedObjectDoc[] = [],
): Promise<Commit> {
  const start = performance.now();
  const { settings } = context;
  const { viewer, observer } = viewing.getStore() ?? {};
  const asked = authenticated(given);
  if (observer !== undefined) await observedCommit(observer, asked, settings.systemId);
  let request = viewer === undefined ? asked : await permittedCommit(viewer, asked, settings.systemId);
  let state = await optimisticState(request, known);
  for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts += 1) {
    await commitClock.ready();
    const { plan, done } = await attempt(context, { state, request, isFirst: attempts === 1 });
    if (done !== null) {
      publishCommit({ seconds: (performance.now() - start) / 1000, versions: done.versions.length });
      return done;
    }
    state = await stateAfterAll(request);
    // A commit whose answer was lost may be found done already when it is repeated.
    if (plan !== null && state.isContributionUsed && request.isChosenUid !== true) {
      auditCommitted();
      return plan.commit;
    }
    request = await judgedAgain(asked, request, settings.systemId);
  }
  throw new CdrError('conflict', 'other changes of the same EHR were faster again and again');
}

/** Where policies judge, what met others is judged anew by what is there now; else it stays as it was. */
async function judgedAgain(
  asked: CommitRequest,
  before: CommitRequest,
  systemId: string,
): Promise<CommitRequest> {
  const viewer = viewing.getStore()?.viewer;
  return viewer === undefined ? before : permittedCommit(viewer, asked, systemId);
}

/**
 * Commits a CONTRIBUTION inside a transaction that the caller has opened and in which it holds the EHR.
 * @throws CdrError of the plan; conflict when a write does not match, the caller's transaction must end then
 */
export async function writeContribution(
  session: Session,
  { settings, now }: ChangeContext,
  given: CommitRequest,
): Promise<Commit> {
  const [state, request] = [await fullState(given), authenticated(given)];
  const plan = await planned(settings, state, request, now());
  const whole = await signed({ settings, state, request, plan });
  await saveShapesWith(session, whole.shapes);
  if (!(await runWrites(session, whole.writes)))
    throw new CdrError('conflict', 'the EHR changed while the CONTRIBUTION was written');
  return whole.commit;
}

/** What several CONTRIBUTIONs have in common. */
interface Together {
  /** Containers that they change, as the caller has read them. */
  readonly known?: readonly VersionedObjectDoc[];
  /** Further writes of the same transaction. May run more than once. */
  readonly inSameTransaction?: () => Promise<void>;
}

/**
 * Commits several CONTRIBUTIONs, in their order, in one transaction. Optimistic: nothing is read; every plan expects
 * that its EHR is active, queryable and modifiable and that ids which clients chose are free. False: one of them cannot
 * be committed, or an expectation was wrong; then nothing is written.
 */
export async function commitTogether(
  context: ChangeContext,
  requests: readonly CommitRequest[],
  { known = [], inSameTransaction }: Together = {},
): Promise<boolean> {
  const start = performance.now();
  await commitClock.ready();
  const { settings } = context;
  const time = context.now();
  const containers = new Map(known.map((container) => [container._id, container]));
  const state = { ...OPTIMISTIC_STATE, containers };
  const plans: CommitPlan[] = [];
  const isWritten = await commitClock.write(time, async () => {
    for (const given of requests) {
      const request = authenticated(given);
      const plan = await planOrNull(settings, state, request, time);
      if (plan === null) return false;
      plans.push(await signed({ settings, state, request, plan }));
    }
    await saveShapes(plans.flatMap((plan) => plan.shapes));
    return writeAlone(byCollection(plans.flatMap((plan) => plan.writes)), inSameTransaction);
  });
  if (!isWritten) return false;
  const seconds = (performance.now() - start) / 1000;
  for (const plan of plans) publishCommit({ seconds, versions: plan.commit.versions.length });
  return true;
}

/** The plan as it is written: with what takes keys where this process has any, else at once as it is. */
function signed(commit: PlannedCommit): CommitPlan | Promise<CommitPlan> {
  return keys.ring === null ? commit.plan : signedPlan(keys.ring, commit);
}

/** The same with who sent the request under way. */
function authenticated(request: CommitRequest): CommitRequest {
  const identity = requestIdentity();
  return identity === null ? request : { ...request, authenticated: identity };
}

/** The plan on an optimistic state; null when it refuses. */
async function planOrNull(...given: Parameters<typeof planned>): Promise<CommitPlan | null> {
  try {
    return await planned(...given);
  } catch (error) {
    if (error instanceof CdrError) return null;
    throw error;
  }
}

/** One try of a commit on a state; the first one is on an optimistic state. */
interface Attempt {
  readonly state: CommitState;
  readonly request: CommitRequest;
  readonly isFirst: boolean;
}

/** What came of it. */
interface Attempted {
  /** Null: the first one refuses, and is to be planned on the state as it is. */
  readonly plan: CommitPlan | null;
  /** Null: nothing is written, since what the plan expected is not so. */
  readonly done: Commit | null;
}

/** Plans a commit and writes it. The first try may be written with others. @throws CdrError of a plan that is not the first */
function attempt(context: ChangeContext, { state, request, isFirst }: Attempt): Promise<Attempted> {
  const { settings } = context;
  const time = context.now();
  return commitClock.write(time, async () => {
    let plan: CommitPlan;
    try {
      plan = await planned(settings, state, request, time);
    } catch (error) {
      // An earlier check of the contract may refuse otherwise.
      if (isFirst && error instanceof CdrError) return { plan: null, done: null };
      throw error;
    }
    plan = await signed({ settings, state, request, plan });
    const isWritten = await write(request, plan, isFirst ? settings.commitGroups : 0);
    return { plan, done: isWritten ? plan.commit : null };
  });
}

async function write(
  { ehrId, idempotentResult, inSameTransaction }: CommitRequest,
  { shapes, writes: planned, commit: done }: CommitPlan,
  groups: number,
): Promise<boolean> {
  const once = idempotentResult === undefined ? [] : idempotencyWrites(idempotentResult(done));
  const writes = [...planned, ...once, ...auditWrites(auditSubject(done))];
  await saveShapes(shapes);
  const isWritten =
    groups === 0 || inSameTransaction !== undefined
      ? await writeAlone(writes, () => inSameTransaction?.(done))
      : await writeGrouped({ ehrId, writes, bytes: bytesOf(done) }, groups);
  if (isWritten) auditCommitted();
  return isWritten;
}

function bytesOf({ versions }: Commit): number {
  const characters = versions.reduce((sum, { doc }) => sum + (doc?.data?.length ?? 0), 0);
  return characters * BYTES_PER_CHARACTER + versions.length * BYTES_PER_VERSION;
}

/** What the audit record of a commit is about. */
function auditSubject({ contribution, versions }: Commit): AuditSubject {
  const objects = [contribution._id, ...versions.map(({ versionUid }) => versionUid)];
  const about = { ehr_id: contribution.ehr_id, objects };
  const { draft, viewer } = ambient.getStore() ?? {};
  if (draft?.wishes.tellsKinds !== true && viewer === undefined) return about;
  return { ...about, ...contentKinds(versions.flatMap(({ doc }) => doc ?? [])) };
}
