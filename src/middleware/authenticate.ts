import type { IncomingMessage } from 'node:http';
import type { Context, Middleware, Next } from 'koa';
import { publishSignInFailure } from '../../database/events.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { Access, Operation, Permission } from '../../routes/http/operation/operation.js';
import type { AuthenticatedUser, RequestState } from '../../routes/http/request/request-state.js';
import { LENIENT, LENIENT_IGNORED, parsePrefer } from '../../routes/http/request/prefer.js';
import { addWarnings } from '../../routes/http/answer/warning.js';
import type { Identify } from '../identity/identifier.js';
import type { Settings } from '../../config/settings.js';
import { withoutOuterSlashes } from './path.js';

/** Who may call what. */
interface AccessRule {
  /** null: neither a key nor a file of users is configured. */
  readonly identify: Identify | null;
  /** `AUTH=none`: the standard API asks nobody who he is. */
  readonly isOpen: boolean;
  readonly validation: Settings['validation'];
}

/** What needs an identity even with `AUTH=none`. */
const ALWAYS_IDENTIFIED: readonly Access[] = ['identified', 'audit', 'admin', 'restore'];

/**
 * Lets a request pass to an operation only as the table says: whatever is not `open` needs an identity, an address that
 * no operation has as well, and then the permission. 401 comes before 403, both before anything is looked up. Where
 * `AUTH=none` opens an operation any `Authorization` is ignored. A write that asks for lenient validation, and gets it,
 * needs an identity with the permission `write_lenient` as well, unless `VALIDATION=lenient-all` gives it to every write.
 */
export function authenticate({ identify, isOpen, validation }: AccessRule): Middleware {
  return async (ctx: Context, next: Next) => {
    const state = ctx.state;
    const { access: usual, adminWith } = state.matched?.operation ?? NO_OPERATION;
    const access = adminWith !== undefined && adminWith in ctx.query ? 'admin' : usual;
    const leniency = access === 'write' ? leniencyOf(ctx, validation) : 'none';
    state.isLenient = leniency === 'for all';
    const mayPass = isOpen && leniency !== 'asked' && !ALWAYS_IDENTIFIED.includes(access);
    const isFree = access === 'open' || mayPass;
    if (!isFree) {
      if (identify === null)
        throw new CdrError('unauthenticated', 'nobody can identify himself to this server');
      state.user = await identify(ctx.get('Authorization'), state.address).catch((error: unknown) => {
        noteFailure(ctx.get('Authorization'), error);
        throw error;
      });
      requirePermission(state.user, access);
      if (leniency === 'asked') requirePermission(state.user, 'write_lenient');
      state.isLenient = leniency !== 'none';
    }
    await next();
  };
}

/** An address without operation: what the standard API asks. */
const NO_OPERATION: Pick<Operation, 'access' | 'adminWith'> = { access: 'anyone' };

/** A request without `Authorization` names nobody: it is no failed sign-in. */
function noteFailure(authorization: string, error: unknown): void {
  if (authorization === '' || !(error instanceof CdrError) || error.code !== 'unauthenticated') return;
  const [, scheme = ''] = /^(basic|bearer) /i.exec(authorization) ?? [];
  const name = scheme.toLowerCase();
  publishSignInFailure({ scheme: name === 'basic' || name === 'bearer' ? name : 'other' });
}

/** Whether a write is lenient for everybody, or because it asks for it; that it may not be is said. */
function leniencyOf(ctx: Context, validation: Settings['validation']): 'for all' | 'asked' | 'none' {
  if (validation === 'lenient-all') return 'for all';
  if (!parsePrefer(ctx.get('Prefer')).isLenient) return 'none';
  if (validation === 'lenient') return 'asked';
  addWarnings(ctx, [{ kind: 'preference', name: LENIENT, text: LENIENT_IGNORED }]);
  return 'none';
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

/** Requests that came in by the port of management. */
const atManagement = new WeakSet<IncomingMessage>();

/** Notes that a request came in by `MANAGEMENT_PORT`; to be called before the application sees it. */
export function cameToManagement(request: IncomingMessage): void {
  atManagement.add(request);
}

/** By `MANAGEMENT_PORT` nothing but /management is there, by `PORT` everything else. @throws not-found otherwise */
export function managementDoor(): Middleware {
  return async (ctx: Context, next: Next) => {
    // However it is spelt: no router may find by PORT what this does not take for management.
    const isManagement = /^\/+management(\/|$)/i.test(decoded(ctx.path));
    if (isManagement !== atManagement.has(ctx.req)) {
      // No operation is there by this door.
      Object.assign(ctx.state, { matched: null } satisfies Partial<RequestState>);
      throw new CdrError('not-found', `No resource found at path: ${withoutOuterSlashes(ctx.path)}`);
    }
    await next();
  };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
