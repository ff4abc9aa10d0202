import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../base/errors.js';
import type { Access, Permission } from '../../routes/http/operation.js';
import type { AuthenticatedUser } from '../../routes/http/request-state.js';
import { requestState } from '../../routes/http/request-state.js';

/** Gives the identity behind an `Authorization` header. @throws unauthenticated when there is none */
export type Identify = (authorization: string, address: string) => Promise<AuthenticatedUser>;

/** Who may call what. */
export interface AccessRule {
  /** null: neither a key nor a file of users is configured. */
  readonly identify: Identify | null;
  /** `AUTH=none`: the standard API asks nobody who he is. */
  readonly isOpen: boolean;
}

/** What needs an identity even with `AUTH=none`. */
const ALWAYS_IDENTIFIED: readonly Access[] = ['identified', 'audit', 'admin'];

/**
 * Lets a request pass to an operation only as the table says: whatever is not `open` needs an identity, an address that
 * no operation has as well, and then the permission. 401 comes before 403, both before anything is looked up. Where
 * `AUTH=none` opens an operation any `Authorization` is ignored.
 */
export function authenticate({ identify, isOpen }: AccessRule): Middleware {
  return async (ctx: Context, next: Next) => {
    const state = requestState(ctx);
    // An address without operation: what the standard API asks.
    const access = state.matched?.operation.access ?? 'anyone';
    const isFree = access === 'open' || (isOpen && !ALWAYS_IDENTIFIED.includes(access));
    if (!isFree) {
      if (identify === null) throw new CdrError('unauthenticated', 'a valid bearer token is required');
      state.user = await identify(ctx.get('Authorization'), state.address);
      requirePermission(state.user, access);
    }
    await next();
  };
}

function requirePermission({ permissions }: AuthenticatedUser, access: Access): void {
  if (access === 'identified') return;
  const isAllowed = access === 'anyone' ? permissions.size > 0 : permissions.has(access as Permission);
  if (!isAllowed)
    throw new CdrError(
      'forbidden',
      access === 'anyone'
        ? 'no role of this identity has a permission'
        : `this needs the permission ${access}`,
    );
}
