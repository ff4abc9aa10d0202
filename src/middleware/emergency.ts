import type { Context, Middleware, Next } from 'koa';
import { publishEmergencyAccess } from '../../database/events.js';
import { insertAudit } from '../../models/audit.js';
import { CdrError } from '../../openehr/base/errors.js';
import { EMERGENCY_PURPOSES, RESEARCH_PURPOSES } from '../../policy/purposes.js';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import { auditDraft, draftOf } from '../../routes/http/audit-trail.js';
import type { Disclosure } from '../../routes/http/operation/operation.js';
import { currentOperation, type EmergencyAccess } from '../../routes/http/request/request-state.js';
import { namedEhr } from '../../routes/query/query-request.js';

/** Header that states it, and the one that says why. */
const PURPOSE_HEADER = 'Purpose-Of-Use';
const REASON_HEADER = 'Purpose-Of-Use-Reason';

/** Characters of a reason. */
const MAX_REASON = 500;

/** Of a record that is made before it is known what the request comes to. */
const SUCCESS = 200;

/** What the record of each use is called. */
const EMERGENCY_OPERATION = 'emergency_access';

/** Operations that find the one patient who is in front of somebody: which EHR that is, is known when they have found it. */
const SEARCHES: readonly string[] = ['ehr_find', 'ehr_get_by_subject'];

/** Tells that something is printed, and whose it is as a query does. */
const NOTE = 'print_note';

/** What is asked of no record, or of none by policies and marks: an emergency opens nothing there. */
const OF_NO_RECORD: ReadonlySet<Disclosure> = new Set<Disclosure>(['nothing', 'whole']);

/** Whether a request says why it is an emergency: then it is recorded, whatever is recorded else. */
export function statesEmergency(ctx: Context): boolean {
  return ctx.get(PURPOSE_HEADER) !== '' || ctx.get(REASON_HEADER) !== '';
}

/**
 * Reads whether a request is said to be an emergency: by header, or by the purpose of its token, with a reason in either case.
 * docs/access.md#emergency-access
 * @throws invalid for one header without the other, another purpose, or what is about more than one record; forbidden for who may not say so
 */
export function emergencyAccess(): Middleware {
  return async (ctx: Context, next: Next) => {
    const stated = statesEmergency(ctx) ? statedEmergency(ctx) : null;
    if (stated !== null) ctx.state.emergency = { ...stated, ehrId: await emergencyEhr(ctx) };
    await next();
  };
}

/** Whether somebody could state an emergency. */
export function mayStateEmergency(user: Context['state']['user']): boolean {
  return (
    user?.permissions.has('emergency') === true && !RESEARCH_PURPOSES.includes(user.claims?.purpose ?? '')
  );
}

type Stated = Omit<EmergencyAccess, 'ehrId'>;

/** The one EHR that an emergency is for; null: it is looked for or made, or the request is about none. @throws invalid */
async function emergencyEhr(ctx: Context): Promise<string | null> {
  const { operation, params } = currentOperation(ctx);
  if (params.ehr_id !== undefined) return parseEhrId(params.ehr_id);
  if (OF_NO_RECORD.has(operation.discloses)) return null;
  if (operation.discloses === 'create' || SEARCHES.includes(operation.id)) return null;
  const names = operation.discloses === 'query' || operation.id === NOTE;
  const ehrId = names ? await namedEhr(ctx) : null;
  if (ehrId !== null) return ehrId;
  const message =
    operation.discloses === 'query'
      ? 'name its EHR: ehr_id as a parameter or in the body, or the header openEHR-EHR-id'
      : 'ask for what is in its EHR, or look for that by the whole of an identifier (GET /rest/ehrs)';
  throw new CdrError('invalid', `emergency access is for one record: ${message}`);
}

function statedEmergency(ctx: Context): Stated {
  const { user } = ctx.state;
  const ofToken = user?.claims?.purpose ?? '';
  const header = ctx.get(PURPOSE_HEADER).trim();
  const purpose = header === '' && EMERGENCY_PURPOSES.includes(ofToken) ? ofToken : header;
  const stated = { purpose, reason: textOf(ctx.get(REASON_HEADER)) };
  requireWellStated(stated);
  if (user?.permissions.has('emergency') !== true)
    throw new CdrError('forbidden', 'emergency access needs the permission emergency');
  if (RESEARCH_PURPOSES.includes(ofToken))
    throw new CdrError('forbidden', 'a token for research gives no emergency access');
  return stated;
}

/** @throws invalid */
function requireWellStated({ purpose, reason }: Stated): void {
  if (purpose === '') throw new CdrError('invalid', `${REASON_HEADER} is sent with ${PURPOSE_HEADER} only`);
  if (!EMERGENCY_PURPOSES.includes(purpose))
    throw new CdrError('invalid', `${PURPOSE_HEADER} must be one of ${EMERGENCY_PURPOSES.join(', ')}`);
  if (reason === '') throw new CdrError('invalid', `${PURPOSE_HEADER} needs a ${REASON_HEADER}`);
  if (reason.length > MAX_REASON)
    throw new CdrError('invalid', `${REASON_HEADER} has at most ${MAX_REASON} characters`);
}

/** What a header says: HTTP hands on bytes, which clients send as UTF-8; what is none is Latin 1. */
function textOf(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1')).trim();
  } catch {
    return header.trim();
  }
}

/**
 * Runs the work of a request, and records a use of emergency access by itself: before anything is read, or, where the EHR is looked for, when
 * it is found, before it is answered. Without its record nothing is told. docs/access.md#emergency-access
 */
export async function withEmergencyRecord(ctx: Context, work: () => Promise<void>): Promise<void> {
  const { emergency } = ctx.state;
  if (emergency === undefined) return work();
  if (!SEARCHES.includes(currentOperation(ctx).operation.id)) {
    await recordEmergency(ctx, emergency.ehrId);
    return work();
  }
  try {
    await work();
  } catch (error) {
    await recordEmergency(ctx, null);
    throw error;
  }
  const found = draftOf(ctx)?.ehrIds ?? [];
  for (const ehrId of found.length === 0 ? [null] : found) await recordEmergency(ctx, ehrId);
}

async function recordEmergency(ctx: Context, ehrId: string | null): Promise<void> {
  const { operation } = currentOperation(ctx);
  const record = auditDraft(ctx, SUCCESS).record(SUCCESS);
  const about = ehrId === null ? {} : { ehr_id: ehrId };
  await insertAudit({ ...record, ...about, operation: EMERGENCY_OPERATION, target: operation.id });
  publishEmergencyAccess({ purpose: ctx.state.emergency?.purpose ?? '' });
}
