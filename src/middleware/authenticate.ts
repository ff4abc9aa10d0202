import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Access, Permission } from '../../routes/http/operation/operation.js';
import type { AuthenticatedUser } from '../../routes/http/request/request-state.js';
import type { Identify } from '../identity/identifier.js';

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
    const state = ctx.state;
    // An address without operation: what the standard API asks.
    const access = state.matched?.operation.access ?? 'anyone';
    const isFree = access === 'open' || (isOpen && !ALWAYS_IDENTIFIED.includes(access));
    if (!isFree) {
      if (identify === null)
        throw new CdrError('unauthenticated', 'nobody can identify himself to this server');
      state.user = await identify(ctx.get('Authorization'), state.address);
      requirePermission(state.user, access);
    }
    await next();
  };
}

function requirePermission({ permissions }: AuthenticatedUser, access: Access): void {
  const isAnyEnough = access === 'anyone' || access === 'identified';
  const isAllowed = isAnyEnough ? permissions.size > 0 : permissions.has(access as Permission);
  if (!isAllowed)
    throw new CdrError(
      'forbidden',
      isAnyEnough ? 'no role of this identity has a permission' : `this needs the permission ${access}`,
    );
}
