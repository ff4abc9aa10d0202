import { randomUUID } from 'node:crypto';
import { CdrError } from '../openehr/base/errors.js';
import { formatUtc } from '../openehr/base/iso8601.js';
import type { JsonObject } from '../openehr/base/json.js';
import { lapseOf, type Lapsed } from '../change/approval/approval.js';
import { requireSecondPerson } from '../change/approval/person.js';
import { auditCommitted, inAuditedTransaction, writeAudit } from '../change/commit/audit-draft.js';
import { recordIdempotentResult } from '../change/commit/idempotency.js';
import { duplicateIn, runWrites } from '../models/access/write.js';
import { mergeById } from '../models/merge/record.js';
import {
  lapsedMerges,
  mergeRequestInsert,
  mergeRequestRemoval,
  waitingMerge,
  waitingMergeOf,
  type MergeRequestDoc,
} from '../models/merge/request.js';
import type { Administrator } from '../models/waiting-request.js';
import { idempotentResultOf, mergeDetails, motiveOf, type MergeResult } from './details.js';
import { mergeEhrs, rehearseMerge } from './merge.js';
import {
  STATUS_FIELDS,
  type MergeContext,
  type MergeRequest,
  type PairChoice,
  type Side,
} from './request.js';
import { wayOf } from './steps.js';
import { inMergeTransaction } from './transaction.js';

/** What the summary of a merge that waits begins with. */
const PENDING = 'PENDING: ';

/**
 * Lets a merge wait for another administrator: all is checked and planned, nothing else is written.
 * See docs/spec/merge.md#approval.
 * @throws as a dry run of `mergeEhrs`; conflict when a merge of the source waits already
 */
export async function requestMerge(
  context: MergeContext,
  request: MergeRequest,
  { requester, days }: { readonly requester: Administrator; readonly days: number },
): Promise<MergeResult> {
  const mergeId = randomUUID();
  const way = await wayOf(context, request.sourceEhr);
  try {
    const waiting = await inMergeTransaction(context.retries, async (session) => {
      const earlier = await waitingMergeOf(request.sourceEhr);
      const requestedAt = context.change.now();
      if (earlier !== null && !hasLapsed(earlier, requestedAt))
        throw waitsAlready(request.sourceEhr, earlier._id);
      const planned = await rehearseMerge(context, request, { way, session });
      const expiresAt = lapseOf(requestedAt, days);
      const doc = docOf(request, planned, { mergeId, requester, requestedAt, expiresAt });
      if (earlier !== null) await runWrites(session, [mergeRequestRemoval(request.sourceEhr)]);
      await runWrites(session, [mergeRequestInsert(doc)]);
      const result = { ...planned, outcome: pendingOutcome(doc), _id: mergeId, state: 'pending' as const };
      await recordIdempotentResult(session, idempotentResultOf(result));
      await writeAudit({ objects: [mergeId], outcome: 'pending' });
      return result;
    });
    auditCommitted();
    return waiting;
  } catch (error) {
    if (duplicateIn(error) !== 'merge_requests') throw error;
    throw waitsAlready(request.sourceEhr, (await waitingMergeOf(request.sourceEhr))?._id ?? 'unknown');
  }
}

function waitsAlready(sourceEhr: string, mergeId: string): CdrError {
  return new CdrError('conflict', `a merge of EHR ${sourceEhr} waits for approval already: ${mergeId}`);
}

interface Asked {
  readonly mergeId: string;
  readonly requester: Administrator;
  readonly requestedAt: Date;
  readonly expiresAt: Date;
}

function docOf(request: MergeRequest, { outcome, plan }: MergeResult, asked: Asked): MergeRequestDoc {
  const { compositions, ehrStatus } = request.resolutions;
  const listed = (choices: ReadonlyMap<string, string>) =>
    [...choices].map(([name, word]) => ({ name, word }));
  return {
    _id: asked.mergeId,
    source_ehr: request.sourceEhr,
    target_ehr: request.targetEhr,
    reversible: request.reversible,
    folder_merge: request.folderMerge,
    composition_merge: request.compositionMerge,
    compositions: listed(compositions),
    ehr_status: listed(ehrStatus),
    requested_at: asked.requestedAt,
    requester: asked.requester,
    outcome,
    plan_digest: typeof plan?.digest === 'string' ? plan.digest : '',
    expires_at: asked.expiresAt,
    ...request.motive,
  };
}

/** What a confirmation says. */
export interface Confirmation {
  readonly mergeId: string;
  /** Of the plan that is confirmed; null: that of the request. */
  readonly digest: string | null;
  readonly dryRun: boolean;
  readonly administrator: Administrator;
}

/**
 * Carries out a merge that waits, for another administrator than the one who asked for it. It is planned anew.
 * @throws not-found when none waits; forbidden for the administrator who asked for it; conflict when it was carried out
 * already, or with the new plan when that is another one than was confirmed; as `mergeEhrs`
 */
export async function confirmMerge(
  context: MergeContext,
  { mergeId, digest, dryRun, administrator }: Confirmation,
): Promise<MergeResult> {
  const waiting = await requiredWaiting(mergeId);
  requireSecondPerson(waiting.requester, administrator);
  return mergeEhrs(context, {
    ...requestOf(waiting),
    dryRun,
    committer: administrator.name,
    approval: {
      mergeId,
      digest: digest ?? waiting.plan_digest,
      requester: waiting.requester.name,
      requested_at: waiting.requested_at,
    },
  });
}

/** Whether nobody confirmed it in time (`FOUR_EYES_DAYS`): then it counts as not there. */
export function hasLapsed({ expires_at: expires }: MergeRequestDoc, now: Date = new Date()): boolean {
  return expires !== undefined && expires <= now;
}

/** The merge that waits with this id, for the audit. @throws as `confirmMerge` */
export async function requiredWaiting(mergeId: string): Promise<MergeRequestDoc> {
  const waiting = await waitingMerge(mergeId);
  if (waiting !== null && !hasLapsed(waiting)) return waiting;
  if ((await mergeById(mergeId)) !== null)
    throw new CdrError('conflict', `the merge ${mergeId} was carried out already`);
  throw nothingWaits(mergeId);
}

/** Ends a merge that waits; whoever asked for it or is asked may do that. @throws as `requiredWaiting` */
export async function withdrawMerge(mergeId: string): Promise<MergeRequestDoc> {
  return inAuditedTransaction(
    async (session) => {
      const waiting = await requiredWaiting(mergeId);
      await runWrites(session, [mergeRequestRemoval(waiting.source_ehr)]);
      return waiting;
    },
    () => ({ objects: [mergeId], outcome: 'withdrawn' }),
  );
}

/** Merges that nobody confirmed in time. */
export async function lapsedMergeRequests(now: Date): Promise<Lapsed[]> {
  return (await lapsedMerges(now)).map(({ _id: id, source_ehr: source, target_ehr: target }) => ({
    id,
    ehrIds: [source, target],
    end: async (session) => {
      if ((await waitingMerge(id)) === null) throw nothingWaits(id);
      await runWrites(session, [mergeRequestRemoval(source)]);
    },
  }));
}

function nothingWaits(mergeId: string): CdrError {
  return new CdrError('not-found', `no merge ${mergeId} waits for approval`);
}

function requestOf(doc: MergeRequestDoc): Omit<MergeRequest, 'dryRun' | 'committer'> {
  return {
    sourceEhr: doc.source_ehr,
    targetEhr: doc.target_ehr,
    reversible: doc.reversible,
    folderMerge: doc.folder_merge,
    compositionMerge: doc.composition_merge,
    resolutions: {
      compositions: new Map(doc.compositions.map(({ name, word }) => [name, word as PairChoice])),
      ehrStatus: new Map<(typeof STATUS_FIELDS)[number], Side>(
        STATUS_FIELDS.flatMap((field) => {
          const side = doc.ehr_status.find(({ name }) => name === field)?.word;
          return side === 'source' || side === 'target' ? [[field, side]] : [];
        }),
      ),
    },
    motive: motiveOf(doc),
  };
}

function pendingOutcome({ outcome }: MergeRequestDoc): MergeRequestDoc['outcome'] {
  return { ...outcome, summary: PENDING + outcome.summary };
}

/** MergeDetailsDto of a merge that waits. docs/spec/merge.md#approval */
export function pendingDetails(doc: MergeRequestDoc): JsonObject {
  const choices = (list: MergeRequestDoc['compositions']) =>
    Object.fromEntries(list.map(({ name, word }) => [name, word]));
  return {
    ...mergeDetails({ ...doc, outcome: pendingOutcome(doc), state: 'pending' }),
    requested: { date: formatUtc(doc.requested_at), administrator: doc.requester.name },
    ...(doc.expires_at !== undefined && { expires: formatUtc(doc.expires_at) }),
    request: {
      reversible: doc.reversible,
      folder_merge: doc.folder_merge,
      composition_merge: doc.composition_merge,
      resolutions: { compositions: choices(doc.compositions), ehr_status: choices(doc.ehr_status) },
    },
    plan_digest: doc.plan_digest,
  };
}
