import type { Context } from 'koa';

/** Who asks: the name for audits, the upper-cased roles of the token. */
export interface AuthenticatedUser {
  readonly name: string;
  readonly roles: readonly string[];
}

/** What the middleware in `src/` puts into `ctx.state` before a route runs. */
export interface RequestState {
  /** `X-Request-Id` of the client when it is well-formed, else a new UUID. */
  readonly requestId: string;
  /** Scheme, host and port of generated links, no trailing slash; `X-Forwarded-*` only from a trusted proxy. */
  readonly origin: string;
  /** Most nodes of the body. */
  readonly maxBodyNodes: number;
  /** null without a token (only possible with `AUTH=none`). */
  user: AuthenticatedUser | null;
}

/** The typed `ctx.state` of a request. */
export function requestState(ctx: Context): RequestState {
  return ctx.state;
}

/** Prefix of every generated link of the standard API, after the origin. */
export const STANDARD_API = '/rest/openehr/v1';
