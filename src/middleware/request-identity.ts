import type { Context, Middleware, Next } from 'koa';
import { withRequestIdentity } from '../../change/request-identity.js';
import { requestState } from '../../routes/http/request-state.js';

/** Whatever a request commits is stored with its user, issuer, application and request id; hung after `authenticate`. */
export function requestIdentity(): Middleware {
  return async (ctx: Context, next: Next) => {
    const { user, requestId } = requestState(ctx);
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
