import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import { ownHosts, type IsOwnHost } from './hosts.js';
import { isProbe } from './limits.js';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses what a web page elsewhere can make a browser send, where the browser itself adds what lets it in: by
 * `AUTH=none` and passwords. A request must name a host of this server, else a page whose name was bound to our address
 * could read (DNS rebinding); a write must not come from another origin, unless `CORS_ORIGINS` has it. After
 * `origin` and `matchOperation`, before anything is looked up. Tokens alone are never sent by a browser itself.
 * @throws forbidden
 */
export function refuseForeignRequests(settings: Settings): Middleware {
  if (settings.auth === 'jwt') return (_ctx, next: Next) => next();
  const isOwn = ownHosts(settings);
  return async (ctx: Context, next: Next) => {
    if (!isProbe(ctx)) requireOwnHost(ctx, isOwn);
    if (!SAFE_METHODS.has(ctx.method)) requireOwnOrigin(ctx, settings.corsOrigins);
    await next();
  };
}

/** What names no host is no browser. */
function requireOwnHost(ctx: Context, isOwn: IsOwnHost): void {
  const host = ctx.get('Host');
  if (host === '' || isOwn(host)) return;
  throw new CdrError(
    'forbidden',
    'the Host of the request is not known: name it in ALLOWED_HOSTS or PUBLIC_BASE_URL',
  );
}

function requireOwnOrigin(ctx: Context, corsOrigins: readonly string[]): void {
  const from = ctx.get('Origin');
  if (corsOrigins.includes(from)) return;
  const site = ctx.get('Sec-Fetch-Site');
  const isElsewhere = site === 'cross-site' || site === 'same-site';
  if (!isElsewhere && (from === '' || isOwnOrigin(ctx, from))) return;
  throw new CdrError(
    'forbidden',
    'a page of another origin may not change anything: name its origin in CORS_ORIGINS',
  );
}

/** By host and port only: which protocol a proxy was asked by is not known here. */
function isOwnOrigin(ctx: Context, from: string): boolean {
  if (!URL.canParse(from)) return false;
  const { host } = new URL(from);
  return host === ctx.get('Host').toLowerCase() || host === new URL(ctx.state.origin).host;
}
