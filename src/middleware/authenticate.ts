import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../base/errors.js';
import type { AuthenticatedUser } from '../../routes/http/request-state.js';
import { requestState } from '../../routes/http/request-state.js';

/** Checks a bearer token and gives its user. @throws unauthenticated when it is not valid. */
export type TokenVerifier = (token: string) => Promise<AuthenticatedUser>;

/** Which roles a request needs; `null` as verifier means that no key is configured. */
export interface AccessRule {
  readonly verify: TokenVerifier | null;
  /** Upper-cased role names; one of them is needed. Empty: any valid token. */
  readonly roles: readonly string[];
  /** true: the request passes without a token (`AUTH=none`). */
  readonly open: boolean;
}

/**
 * Lets a request pass that fulfils the rule. Contract, section 12: 401 before 403, both before any lookup.
 * With an open rule any `Authorization` is ignored.
 */
export function authenticate(rule: AccessRule): Middleware {
  return async (ctx: Context, next: Next) => {
    if (!rule.open) {
      const state = requestState(ctx);
      state.user = await userOf(ctx, rule.verify);
      requireRole(state.user, rule.roles);
    }
    await next();
  };
}

async function userOf(ctx: Context, verify: TokenVerifier | null): Promise<AuthenticatedUser> {
  const token = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(ctx.get('Authorization'))?.[1];
  if (token === undefined || verify === null) {
    throw new CdrError('unauthenticated', 'a valid bearer token is required');
  }
  return verify(token);
}

function requireRole(user: AuthenticatedUser, roles: readonly string[]): void {
  if (roles.length > 0 && !roles.some((role) => user.roles.includes(role))) {
    throw new CdrError('forbidden', 'the token does not carry a role that may do this');
  }
}
