import type { Context, Middleware, Next } from 'koa';
import { insertAudit } from '../../models/audit.js';
import { CdrError } from '../../openehr/base/errors.js';
import { EMERGENCY_PURPOSES, RESEARCH_PURPOSES } from '../../policy/marks.js';
import { auditDraft } from '../../routes/http/audit-trail.js';
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

/** Whether a request says why it is an emergency: then it is recorded, whatever is recorded else. */
export function statesEmergency(ctx: Context): boolean {
  return ctx.get(PURPOSE_HEADER) !== '' || ctx.get(REASON_HEADER) !== '';
}

/**
 * Reads whether a request is said to be an emergency: by header, or by the purpose of its token, with a reason in either case.
 * docs/access.md#emergency-access
 * @throws invalid for one header without the other, or another purpose; forbidden for who may not say so
 */
export function emergencyAccess(): Middleware {
  return async (ctx: Context, next: Next) => {
    const stated = statesEmergency(ctx) ? statedEmergency(ctx) : null;
    if (stated !== null) ctx.state.emergency = stated;
    await next();
  };
}

/** Whether somebody could state an emergency. */
export function mayStateEmergency(user: Context['state']['user']): boolean {
  return (
    user?.permissions.has('emergency') === true && !RESEARCH_PURPOSES.includes(user.claims?.purpose ?? '')
  );
}

function statedEmergency(ctx: Context): EmergencyAccess {
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
function requireWellStated({ purpose, reason }: EmergencyAccess): void {
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

/** Records a use of emergency access by itself, before anything is read: without its record nothing is. */
export async function recordEmergency(ctx: Context): Promise<void> {
  const { operation } = currentOperation(ctx);
  const record = auditDraft(ctx, SUCCESS).record(SUCCESS);
  const ehrId = operation.discloses === 'query' ? await namedEhr(ctx) : null;
  const about = ehrId === null ? {} : { ehr_id: ehrId };
  await insertAudit({ ...record, ...about, operation: EMERGENCY_OPERATION, target: operation.id });
}
