import { randomBytes } from 'node:crypto';
import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../base/errors.js';
import { parseEhrId } from '../../base/object-version-id.js';
import { insertAudit, type AuditDoc } from '../../models/audit.js';
import { ERROR_STATUS } from './error-status.js';
import { requestState } from './request-state.js';

/** What the audit record of a request tells beside who, when and with what outcome. */
interface AuditSubject {
  ehrId?: string;
  target?: string;
}

const KEY = 'auditSubject';

/** Names the EHR and the target of the request under way; a handler calls it as soon as it knows them. */
export function auditAbout(ctx: Context, about: { readonly ehrId?: string; readonly target?: string }): void {
  const subject = (ctx.state as Record<string, AuditSubject | undefined>)[KEY];
  if (subject !== undefined) Object.assign(subject, about);
}

/** Which requests are recorded, and under what name. */
export interface AuditRule {
  readonly operation: (ctx: Context) => string;
  /** false: a request without a valid token leaves no record; anyone could fill the audit otherwise. */
  readonly recordsAnonymous: boolean;
}

/**
 * Writes one record for the request, whatever becomes of it. It is written before the answer goes out; when it
 * cannot be written the request fails, so that nothing is answered unseen.
 */
export function audited(rule: AuditRule): Middleware {
  return async (ctx: Context, next: Next) => {
    const subject: AuditSubject = {};
    (ctx.state as Record<string, AuditSubject>)[KEY] = subject;
    const write = async (status: number): Promise<void> => {
      if (rule.recordsAnonymous || requestState(ctx).user !== null)
        await insertAudit(record(ctx, { ...subject, operation: rule.operation(ctx) }, status));
    };
    try {
      await next();
    } catch (error) {
      await write(error instanceof CdrError ? ERROR_STATUS[error.code] : 500);
      throw error;
    }
    await write(ctx.status);
  };
}

function record(
  ctx: Context,
  subject: AuditSubject & { readonly operation: string },
  status: number,
): AuditDoc {
  const { requestId, user } = requestState(ctx);
  const time = new Date();
  const ehrId = subject.ehrId ?? ehrIdOfPath(ctx);
  return {
    _id: `${time.getTime().toString(36).padStart(9, '0')}-${randomBytes(8).toString('hex')}`,
    time,
    user: user?.name ?? 'anonymous',
    operation: subject.operation,
    ...(ehrId !== null && { ehr_id: ehrId }),
    ...(subject.target !== undefined && { target: subject.target }),
    status,
    request_id: requestId,
  };
}

/** The ehr_id that the path of the operation names, null when it names none or a malformed one. */
function ehrIdOfPath(ctx: Context): string | null {
  const text = requestState(ctx).matched?.params.ehr_id;
  return text === undefined ? null : parseEhrId(text);
}
