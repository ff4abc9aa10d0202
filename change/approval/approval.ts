import { randomUUID } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import type { FourEyesKind } from '../../config/settings.js';
import type { AuditSubject } from '../../models/audit.js';
import { duplicateIn, runWrites, type Session } from '../../models/access/write.js';
import {
  lapsedRequests,
  waitingRequest,
  waitingRequestInsert,
  waitingRequestOf,
  waitingRequestRemoval,
  type ActPlan,
  type Administrator,
  type WaitingAct,
  type WaitingRequestDoc,
} from '../../models/waiting-request.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';
import type { Gate } from './gate.js';
import { requireSecondPerson } from './person.js';

/** Of which kind each act is. */
export const KIND_OF: Readonly<Record<WaitingAct['operation'], FourEyesKind>> = {
  moveComposition: 'move',
  deleteEhr: 'erase',
  deleteComposition: 'erase',
  deleteDirectory: 'erase',
  finaliseMerge: 'finalise',
  giveQueryNameSpace: 'policy',
  putPolicy: 'policy',
  removePolicy: 'policy',
  putCategories: 'policy',
};

const DAY_MS = 24 * 60 * 60 * 1000;

/** When what is asked for now lapses. */
export function lapseOf(now: Date, days: number): Date {
  return new Date(now.getTime() + days * DAY_MS);
}

/** An act that is asked for. */
export interface Asked {
  readonly act: WaitingAct;
  readonly requester: Administrator;
  readonly now: Date;
  /** `FOUR_EYES_DAYS` */
  readonly days: number;
}

/**
 * Lets an act wait for a second person: `run` works it out and checks it, and nothing but the request is written. See
 * docs/spec/merge.md#approval.
 * @throws as `run`; conflict when the same waits already
 */
export async function letWait(
  { act, requester, now, days }: Asked,
  run: (gate: Gate, id: string) => Promise<unknown>,
): Promise<WaitingRequestDoc> {
  const id = randomUUID();
  // The transaction may run more than once; the last one counts.
  const made: WaitingRequestDoc[] = [];
  const subject = subjectOf(act);
  const gate: Gate = {
    opens: false,
    pass: async (session, plan) => {
      const earlier = await waitingRequestOf(subject);
      if (earlier !== null && earlier.expires_at > now) throw waitsAlready(earlier._id);
      const waiting = docOf({ id, act, requester, now, days }, plan);
      made.push(waiting);
      if (earlier !== null) await runWrites(session, [waitingRequestRemoval(earlier._id)]);
      await runWrites(session, [waitingRequestInsert(waiting)]);
    },
  };
  try {
    await run(gate, id);
  } catch (error) {
    if (duplicateIn(error) !== 'waiting_requests') throw error;
    throw waitsAlready((await waitingRequestOf(subject))?._id ?? 'unknown');
  }
  const waiting = made.at(-1);
  if (waiting === undefined) throw new TypeError('an act that waits was worked out');
  return waiting;
}

function waitsAlready(id: string): CdrError {
  return new CdrError('conflict', `the same waits for approval already: ${id}`);
}

function subjectOf(act: WaitingAct): string {
  if (act.operation === 'finaliseMerge') return `${act.operation} ${act.merge_id}`;
  if (act.operation === 'giveQueryNameSpace') return `${act.operation} ${act.name_space}`;
  if (act.operation === 'putCategories') return act.operation;
  // One change of a policy waits at a time, whichever it is.
  if ('policy_id' in act) return `policy ${act.policy_id}`;
  return `${act.operation} ${'object_id' in act ? act.object_id : act.ehr_id}`;
}

function docOf(
  { id, act, requester, now, days }: Asked & { readonly id: string },
  plan: ActPlan,
): WaitingRequestDoc {
  const [ehrId, other] = plan.ehr_ids;
  return {
    _id: id,
    act,
    subject: subjectOf(act),
    ...(ehrId !== undefined && { ehr_id: ehrId }),
    ...(other !== undefined && { other_ehr: other }),
    ...('object_id' in act && { object_id: act.object_id }),
    requested_at: now,
    expires_at: lapseOf(now, days),
    requester,
    plan,
  };
}

/** What a confirmation says. */
export interface ActConfirmation {
  /** Of the plan that is confirmed; null: that of the request. */
  readonly digest: string | null;
  readonly dryRun: boolean;
  readonly administrator: Administrator;
}

/**
 * The gate of an act that waits, for who confirms it.
 * @throws forbidden for the person who asked for it. Passing it: not-found when it waits no longer; conflict with the
 * new plan when that is another one than was confirmed
 */
export function confirming(
  waiting: WaitingRequestDoc,
  { digest, dryRun, administrator }: ActConfirmation,
): Gate {
  requireSecondPerson(waiting.requester, administrator);
  const agreed = digest ?? waiting.plan.digest;
  return {
    opens: !dryRun,
    pass: async (session, plan) => {
      // Read in the transaction that removes it: a withdrawal at the same time meets it.
      await requiredRequest(waiting._id);
      if (agreed !== plan.digest)
        throw new CdrError(
          'conflict',
          'the data have changed since it was asked for; confirm the digest of the new plan',
          { plan },
        );
      if (!dryRun) await runWrites(session, [waitingRequestRemoval(waiting._id)]);
    },
  };
}

/** What waits with this id. @throws not-found when nothing does, or it has lapsed */
export async function requiredRequest(id: string, now: Date = new Date()): Promise<WaitingRequestDoc> {
  const waiting = await waitingRequest(id);
  if (waiting === null || waiting.expires_at <= now) throw nothingWaits(id);
  return waiting;
}

function nothingWaits(id: string): CdrError {
  return new CdrError('not-found', `nothing with the id ${id} waits for approval`);
}

/** Ends what waits; whoever asked for it or is asked may do that. @throws as `requiredRequest` */
export function withdrawRequest(id: string): Promise<WaitingRequestDoc> {
  return inAuditedTransaction(
    async (session) => {
      const waiting = await requiredRequest(id);
      await runWrites(session, [waitingRequestRemoval(id)]);
      return waiting;
    },
    () => ({ outcome: 'withdrawn' }),
  );
}

/** Something that has lapsed. */
export interface Lapsed {
  readonly id: string;
  readonly ehrIds: readonly string[];
  /** Ends it. @throws CdrError when another server was faster */
  readonly end: (session: Session) => Promise<void>;
}

/** What has lapsed but merges. */
export async function lapsedActs(now: Date): Promise<Lapsed[]> {
  return (await lapsedRequests(now)).map(({ _id: id, plan }) => ({
    id,
    ehrIds: plan.ehr_ids,
    end: async (session) => {
      if ((await waitingRequest(id)) === null) throw nothingWaits(id);
      await runWrites(session, [waitingRequestRemoval(id)]);
    },
  }));
}

/** Ends what has lapsed. `recorded`: writes the audit record of each. Gives how many. */
export async function endLapsed(
  lapsed: readonly Lapsed[],
  recorded: (work: () => Promise<unknown>) => Promise<unknown>,
): Promise<number> {
  let ended = 0;
  for (const { id, ehrIds, end } of lapsed) {
    const about = { ...aboutEhrs(ehrIds), outcome: 'lapsed', options: { approval: id } };
    try {
      await recorded(() => inAuditedTransaction(end, () => about));
      ended += 1;
    } catch (error) {
      if (!(error instanceof CdrError)) throw error;
    }
  }
  return ended;
}

/** What audit records say of the EHRs of a plan, of which the first is the one that it is about. */
export function aboutEhrs(ehrIds: readonly string[]): Pick<AuditSubject, 'ehr_id' | 'ehr_ids'> {
  const [ehrId] = ehrIds;
  return { ...(ehrId !== undefined && { ehr_id: ehrId }), ...(ehrIds.length > 1 && { ehr_ids: ehrIds }) };
}
