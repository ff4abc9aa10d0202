import type { Context, Middleware, Next } from 'koa';
import type { Settings } from '../../base/settings.js';
import { audited } from '../../routes/http/audit-trail.js';
import type { AuditKind } from '../../routes/http/operation.js';
import { requestState } from '../../routes/http/request-state.js';

/** Records each request whose operation says so: administration always, reads and queries with `AUDIT_READS`. */
export function audit({ auditReads }: Pick<Settings, 'auditReads'>): Middleware {
  const recorded: readonly AuditKind[] = ['admin', ...(auditReads ? (['read', 'query'] as const) : [])];
  return async (ctx: Context, next: Next) => {
    const operation = requestState(ctx).matched?.operation;
    if (operation === undefined || !recorded.includes(operation.audit)) {
      await next();
      return;
    }
    await audited({ operation: () => operation.id, recordsAnonymous: operation.audit !== 'admin' })(
      ctx,
      next,
    );
  };
}
