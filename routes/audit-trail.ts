import { randomBytes } from 'node:crypto';
import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../base/errors.js';
import { insertAudit, type AuditDoc } from '../models/audit.js';
import { ERROR_STATUS } from './error-status.js';
import { requestState } from './request-state.js';

/** What the audit record of a request tells beside who, when and with what outcome. */
export interface AuditSubject {
  readonly operation: string;
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
    const subject: AuditSubject = { operation: rule.operation(ctx) };
    (ctx.state as Record<string, AuditSubject>)[KEY] = subject;
    const write = async (status: number): Promise<void> => {
      if (rule.recordsAnonymous || requestState(ctx).user !== null)
        await insertAudit(record(ctx, subject, status));
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

function record(ctx: Context, subject: AuditSubject, status: number): AuditDoc {
  const { requestId, user } = requestState(ctx);
  const time = new Date();
  return {
    _id: `${time.getTime().toString(36).padStart(9, '0')}-${randomBytes(8).toString('hex')}`,
    time,
    user: user?.name ?? 'anonymous',
    operation: subject.operation,
    ...(subject.ehrId !== undefined && { ehr_id: subject.ehrId }),
    ...(subject.target !== undefined && { target: subject.target }),
    status,
    request_id: requestId,
  };
}
