import type { Context, Middleware, Next } from 'koa';
import { audited } from '../../routes/http/audit-trail.js';
import { matchedRoute } from './request-log.js';

const STANDARD_PREFIX = /^(\/rest\/openehr)?\/v1/;

/**
 * Records each read of clinical data (`AUDIT_READS`): GET and HEAD below an EHR, by subject, and queries by any
 * method. Definitions, options and writes are no reads. Contract, section 13, access.
 */
export function readAudit(): Middleware {
  const audit = audited({
    operation: (ctx) => `${ctx.method} ${matchedRoute(ctx)}`,
    recordsAnonymous: true,
  });
  return async (ctx: Context, next: Next) => {
    await (isRead(ctx) ? audit(ctx, next) : next());
  };
}

/** By path: the pattern of the route is known only once its handler runs. */
function isRead(ctx: Context): boolean {
  const path = ctx.path.replace(STANDARD_PREFIX, '');
  if (path.startsWith('/query/')) return true;
  return (ctx.method === 'GET' || ctx.method === 'HEAD') && /^\/ehr(\/|$)/.test(path);
}
