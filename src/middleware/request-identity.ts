import type { Context, Middleware, Next } from 'koa';
import { withRequestIdentity } from '../../change/commit/request-identity.js';
import type { AuditKind } from '../../routes/http/operation/operation.js';

const COMMITTING: readonly AuditKind[] = ['write', 'admin'];

/**
 * Whatever a request commits is stored with its user, issuer, application and request id; hung after `authenticate`.
 * Reads and queries commit nothing, and are spared the cost of an asynchronous context.
 */
export function requestIdentity(): Middleware {
  return async (ctx: Context, next: Next) => {
    const { user, requestId, matched } = ctx.state;
    if (matched === null || !COMMITTING.includes(matched.operation.audit)) {
      await next();
      return;
    }
    const { subject, issuer = null, clientId = null } = user ?? {};
    const identity = {
      ...(subject !== undefined && { sub: subject }),
      ...(issuer !== null && { iss: issuer }),
      ...(clientId !== null && { client_id: clientId }),
      request_id: requestId,
    };
    await withRequestIdentity(identity, next);
  };
}
