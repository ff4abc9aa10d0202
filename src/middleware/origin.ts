import type { Context, Middleware, Next } from 'koa';
import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { RequestState } from '../../routes/http/request/request-state.js';
import { HOST_NAME } from '../settings/host-name.js';
import { plainAddress, proxyTest, type ProxyTest } from './trusted-proxies.js';
import { ownHosts, type IsOwnHost } from './hosts.js';

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
    const origin = settings.publicBaseUrl ?? requestOrigin(ctx, rules);
    const baseUrl = `${origin}${settings.basePath}`;
    const { defaultTimezone } = settings;
    Object.assign(ctx.state, { origin, baseUrl, defaultTimezone } satisfies Partial<RequestState>);
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
