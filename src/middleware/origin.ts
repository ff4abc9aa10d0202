import type { Context, Middleware, Next } from 'koa';
import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { RequestState } from '../../routes/http/request/request-state.js';
import { plainAddress, proxyTest, type ProxyTest } from '../admission/client-address.js';
import { isProbe } from './limits.js';

/** What decides the origin of a request. */
interface Rules {
  readonly isTrusted: ProxyTest;
  readonly isOwn: IsOwnHost;
}

/**
 * Decides the origin of generated links: `PUBLIC_BASE_URL`, else what a trusted proxy says by `X-Forwarded-*`,
 * else the `Host` header if it is one of this server, else the address that the request came to.
 * @throws invalid on a malformed host
 */
export function origin(settings: Settings): Middleware {
  const rules = { isTrusted: proxyTest(settings.trustedProxies), isOwn: ownHosts(settings) };
  return async (ctx: Context, next: Next) => {
    if (hasTwoHosts(ctx)) throw new CdrError('invalid', 'a request names one Host: RFC 9112, section 3.2');
    const asked = requestOrigin(ctx, rules);
    const origin = settings.publicBaseUrl ?? asked;
    const baseUrl = `${origin}${settings.basePath}`;
    const { defaultTimezone, systemId, preferDefault } = settings;
    const said = { origin, baseUrl, defaultTimezone, systemId, preferDefault };
    Object.assign(ctx.state, said satisfies Partial<RequestState>);
    await next();
  };
}

function requestOrigin(ctx: Context, { isTrusted, isOwn }: Rules): string {
  const forwarded = isForwarded(ctx) && isTrusted(ctx.req.socket.remoteAddress ?? '');
  const host = (forwarded ? forwardedHost(ctx) : '') || ctx.get('Host');
  if (host !== '' && !HOST_NAME.test(host)) throw new CdrError('invalid', 'the Host header is malformed');
  const scheme = (forwarded ? forwardedProtocol(ctx) : null) ?? ownProtocol(ctx);
  const isNamedByProxy = forwarded && ctx.get('X-Forwarded-Host') !== '';
  return `${scheme}://${isNamedByProxy || isOwn(host) ? host : ownAddress(ctx)}`;
}

/** Node keeps the first and tells of no other. */
function hasTwoHosts({ req }: Context): boolean {
  let hosts = 0;
  for (let index = 0; index < req.rawHeaders.length; index += 2)
    if (req.rawHeaders[index]?.length === 4 && req.rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  return hosts > 1;
}

function isForwarded(ctx: Context): boolean {
  return ['x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port'].some((name) => name in ctx.headers);
}

function forwardedProtocol(ctx: Context): string | null {
  const protocol = firstWord(ctx.get('X-Forwarded-Proto'));
  return protocol === 'https' || protocol === 'http' ? protocol : null;
}

function ownProtocol(ctx: Context): string {
  return 'encrypted' in ctx.req.socket ? 'https' : 'http';
}

function ownAddress(ctx: Context): string {
  const { localAddress = '', localPort } = ctx.req.socket;
  const address = plainAddress(localAddress) ?? 'localhost';
  return `${address.includes(':') ? `[${address}]` : address}:${localPort ?? 0}`;
}

function forwardedHost(ctx: Context): string {
  const host = firstWord(ctx.get('X-Forwarded-Host'));
  const port = firstWord(ctx.get('X-Forwarded-Port'));
  const base = host === '' ? ctx.get('Host') : host;
  if (!/^\d{1,5}$/.test(port) || (host !== '' && /:\d+$/.test(host)))
    return host === '' && port === '' ? '' : base;
  const bare = base.replace(/:\d{1,5}$/, '');
  const standard = firstWord(ctx.get('X-Forwarded-Proto')) === 'https' ? '443' : '80';
  return port === standard ? bare : `${bare}:${port}`;
}

function firstWord(header: string): string {
  return (header.split(',')[0] ?? '').trim().toLowerCase();
}

/** Returns whether a request may name this host, with or without port, as that of the server. */
type IsOwnHost = (host: string) => boolean;

/**
 * The hosts of a server: names of the machine itself, the host of `PUBLIC_BASE_URL`, those of `ALLOWED_HOSTS`, and the
 * one it listens on where that is a particular one.
 */
function ownHosts({ allowedHosts, publicBaseUrl, host }: Settings): IsOwnHost {
  const known = new Set(allowedHosts.map(named));
  if (publicBaseUrl !== null) known.add(named(new URL(publicBaseUrl).host));
  known.add(named(host.includes(':') ? `[${host}]` : host));
  for (const anywhere of ['0.0.0.0', '[::]']) known.delete(anywhere);
  return (asked) => {
    const full = named(asked);
    const name = full.replace(/:\d{1,5}$/, '');
    return isLoopbackName(name) || known.has(full) || known.has(name);
  };
}

function named(host: string): string {
  return host.toLowerCase().replace(/\.(?=:\d+$|$)/, '');
}

/** Names that no other machine can have: RFC 6761, section 6.3. */
function isLoopbackName(name: string): boolean {
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(name)
  );
}

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

/** A host as `Host` and URLs write it, with or without port: RFC 3986, section 3.2, without what names cannot hold. */
export const HOST_NAME = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/;
