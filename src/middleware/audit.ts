import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Middleware, Next } from 'koa';
import type { Logger } from 'pino';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import { withAuditDraft, type AuditDraft } from '../../change/commit/audit-draft.js';
import { isDuplicateKey, isUnavailable } from '../../database/mongo-error.js';
import { outcomeUnknown } from '../../database/transaction.js';
import { insertAudit, type AuditDoc } from '../../models/audit.js';
import { auditDraft, beginAudit, isAudited } from '../../routes/http/audit-trail.js';
import { ERROR_STATUS } from '../../routes/http/failure/error-status.js';
import { successStatus, type AuditKind } from '../../routes/http/operation/operation.js';
import { parsePrefer } from '../../routes/http/request/prefer.js';
import { statesEmergency } from './emergency.js';
import { requesterOf, STANDARD_API, type MatchedOperation } from '../../routes/http/request/request-state.js';

/** What decides which requests are recorded, and how a success is answered. */
type AuditSettings = Pick<Settings, 'auditReads' | 'accessMode' | 'preferMinimalUpdateStatus'>;

/** What reads leave records of only with `AUDIT_READS`, or once something restricts who may see what. */
const READS: readonly AuditKind[] = ['read', 'query'];

const REFUSED: readonly number[] = [401, 403];

/** How long a refusal waits for its record. */
const REFUSAL_WAIT_MS = 500;

/**
 * Records each request whose operation says so: writes and administration always, reads and queries with
 * `AUDIT_READS`, or where policies of access hold; and each refusal (401, 403) of whatever address. A write is recorded in its transaction, everything
 * else before the answer goes out: when that fails the request fails, so that nothing is answered unseen.
 */
export function audit(settings: AuditSettings, log: Logger): Middleware {
  const { auditReads, accessMode } = settings;
  const recorded: readonly AuditKind[] = [...(['write', 'admin'] as const), ...(auditReads ? READS : [])];
  const mayHold = accessMode === 'enforce';
  const trail = new AuditTrail(log);
  return async (ctx: Context, next: Next) => {
    const { matched } = ctx.state;
    const kind = matched?.operation.audit ?? 'none';
    const isEmergency = accessMode !== 'off' && kind !== 'none' && statesEmergency(ctx);
    const isRecorded = recorded.includes(kind) || isEmergency;
    if (matched === null || !(isRecorded || (mayHold && READS.includes(kind))))
      await trail.refusals(ctx, next);
    else {
      const wishes = { tellsKinds: auditReads, isOptional: !isRecorded };
      await trail.request(ctx, beginAudit(ctx, committedStatus(ctx, matched, settings), wishes), next);
    }
  };
}

class AuditTrail {
  readonly #refusals: Refusals;

  constructor(private readonly log: Logger) {
    this.#refusals = new Refusals(log);
  }

  /** Runs a request that is recorded only when it is refused. */
  async refusals(ctx: Context, next: Next): Promise<void> {
    try {
      await next();
    } catch (error) {
      if (REFUSED.includes(errorStatus(error))) await this.#refuse(ctx, auditDraft(ctx, 0), error);
      throw error;
    }
  }

  /** Runs a request that leaves one record. */
  async request(ctx: Context, draft: AuditDraft, next: Next): Promise<void> {
    try {
      await this.#recorded(ctx, draft, next);
    } catch (error) {
      if (!draft.isCarriedOut || !isAway(error)) throw error;
      throw outcomeUnknown(
        error,
        'The change was carried out, but the database went away before it could be answered',
      );
    }
  }

  async #recorded(ctx: Context, draft: AuditDraft, next: Next): Promise<void> {
    try {
      await withAuditDraft(draft, next);
    } catch (error) {
      if (REFUSED.includes(errorStatus(error))) await this.#refuse(ctx, draft, error);
      else if (isAudited(ctx) && !isUnavailable(error) && !isOutcomeUnknown(error))
        await this.#recordFailure(draft, errorStatus(error));
      throw error;
    }
    if (draft.further.length > 0 && isAudited(ctx)) await draft.writeFurther();
    if (!draft.isCommitted && isAudited(ctx)) await insertOnce(draft.record(ctx.status));
    if (draft.parts > 0) await draft.completeParts(ctx.status);
  }

  /** While the database is away a refusal is answered all the same, and noted when it is back. */
  async #refuse(ctx: Context, draft: AuditDraft, error: unknown): Promise<void> {
    const noted = this.#refusals.note(requesterOf(ctx), () => draft.record(errorStatus(error)));
    await Promise.race([noted, sleep(REFUSAL_WAIT_MS, undefined, { ref: false })]);
  }

  /** The answer says why the request failed, even when that cannot be recorded. */
  async #recordFailure(draft: AuditDraft, status: number): Promise<void> {
    const record = draft.record(status);
    try {
      // One that was recorded before it was tried says what came of it already.
      await insertOnce(record);
      if (draft.parts > 0) await draft.completeParts(status);
    } catch (error) {
      this.log.error({ request_id: record.request_id, err: error }, 'a failure could not be recorded');
    }
  }
}

/** A commit of which the answer was lost may have written the record already. */
async function insertOnce(record: AuditDoc): Promise<void> {
  try {
    await insertAudit(record);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}

function isAway(error: unknown): boolean {
  return isUnavailable(error) || (error instanceof CdrError && error.code === 'unavailable');
}

/** If it was committed, its record was committed with it. */
function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof CdrError && error.code === 'outcome-unknown';
}

function errorStatus(error: unknown): number {
  return error instanceof CdrError ? ERROR_STATUS[error.code] : 500;
}

/** What an operation is going to answer when its transaction is committed: it must be known before. */
function committedStatus(ctx: Context, { operation }: MatchedOperation, settings: AuditSettings): number {
  const first = successStatus(operation);
  const isVersioned =
    operation.method === 'PUT' && operation.path.startsWith(`${STANDARD_API}/ehr/{ehr_id}/`);
  if (first !== 200 || !isVersioned) return first;
  const { returns } = parsePrefer(ctx.get('Prefer'), ctx.state.preferDefault);
  // Tags have no id that could be answered.
  const isEmpty = returns === 'minimal' || (returns === 'identifier' && operation.path.endsWith('/tags'));
  return isEmpty ? settings.preferMinimalUpdateStatus : first;
}

/** Refusals of one user, or of one address without a user, that are recorded one by one in a minute. */
export const REFUSALS_PER_MINUTE = 20;

/** Users and addresses that are counted apart; all others together are one. */
export const MAX_REFUSED_ADDRESSES = 1_000;

const MINUTE_MS = 60_000;
const OTHERS = 'others';

interface Minute {
  recorded: number;
  suppressed: number;
}

/**
 * Records requests that were refused. Anybody can send those, so each user, and each address (of version 6 each /64
 * network) without one, gets a few records in a minute, and at the end of the minute one with the number of the others. A
 * refusal is answered even when it cannot be recorded, for it discloses nothing; then there is a line in the log.
 */
export class Refusals {
  readonly #minutes = new Map<string, Minute>();

  constructor(
    private readonly log: Logger,
    private readonly insert: (record: AuditDoc) => Promise<void> = insertAudit,
  ) {}

  /** Notes a refusal of whoever this is. */
  async note(requester: string, record: () => AuditDoc): Promise<void> {
    const made = record();
    const minute = this.#minuteOf(requester, made);
    if (minute.recorded < REFUSALS_PER_MINUTE) {
      minute.recorded += 1;
      await this.#write(made);
    } else minute.suppressed += 1;
  }

  #minuteOf(requester: string, made: AuditDoc): Minute {
    const isCounted = this.#minutes.has(requester) || this.#minutes.size < MAX_REFUSED_ADDRESSES;
    const key = isCounted ? requester : OTHERS;
    const known = this.#minutes.get(key);
    if (known !== undefined) return known;
    const minute: Minute = { recorded: 0, suppressed: 0 };
    this.#minutes.set(key, minute);
    setTimeout(() => {
      this.#minutes.delete(key);
      if (minute.suppressed > 0) void this.#writeCount(made, minute.suppressed);
    }, MINUTE_MS).unref();
    return minute;
  }

  /** The count stands in a record like the first of its minute. */
  #writeCount(first: AuditDoc, suppressed: number): Promise<void> {
    return this.#write({ ...first, _id: `${first._id}-more`, time: new Date(), options: { suppressed } });
  }

  async #write(record: AuditDoc): Promise<void> {
    try {
      await this.insert(record);
    } catch (error) {
      this.log.error({ request_id: record.request_id, err: error }, 'a refusal could not be recorded');
    }
  }
}
