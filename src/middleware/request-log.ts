import { randomUUID } from 'node:crypto';
import type { Context, Middleware, Next } from 'koa';
import type { Logger } from 'pino';
import type { RequestState } from '../../routes/http/request/request-state.js';
import { withRequestIdentity } from '../../change/commit/request-identity.js';
import type { AuditKind } from '../../routes/http/operation/operation.js';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Gives every request an id of its own, answers it in `X-Request-Id`, keeps a well-formed one of the client beside
 * it, which may repeat, and logs one line with the route pattern, the client's address and the user.
 */
export function requestLog(log: Logger): Middleware {
  return async (ctx: Context, next: Next) => {
    const start = performance.now();
    const requestId = randomUUID();
    const given = ctx.get('X-Request-Id');
    const clientRequestId = REQUEST_ID.test(given) ? given : null;
    const unknownYet = { user: null, isLenient: false, matched: null, allowed: [], baseUrl: '' };
    Object.assign(ctx.state, { requestId, clientRequestId, ...unknownYet } satisfies Partial<RequestState>);
    ctx.set('X-Request-Id', requestId);
    await next();
    const { address, user } = ctx.state;
    const line = {
      request_id: requestId,
      client_request_id: clientRequestId ?? undefined,
      address,
      method: ctx.method,
      route: matchedRoute(ctx),
      status: ctx.status,
      ms: Math.round((performance.now() - start) * 100) / 100,
      user: user?.name,
      sub: user?.subject,
      azp: user?.clientId ?? undefined,
    };
    // Not ready is an answer, not a failure: a probe asks every other second, and the server says once why.
    const isProbe = line.route === READINESS;
    if (ctx.status >= 500 && !isProbe) log.error(line);
    else log.info(line);
  };
}

const READINESS = '/management/health/readiness';

/** The pattern of the matched route, never the concrete path: that would hold ids. */
export function matchedRoute(ctx: Context): string {
  return ctx.state.matched?.operation.path ?? 'none';
}

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
