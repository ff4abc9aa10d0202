import type { Context, Middleware, Next } from 'koa';
import type { Settings } from '../../base/settings.js';
import { CdrError } from '../../base/errors.js';
import { proxyTest, type ProxyTest } from '../trusted-proxies.js';

const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/;

/**
 * Decides the origin of generated links: `PUBLIC_BASE_URL`, else `X-Forwarded-*` of a trusted proxy,
 * else the `Host` header. @throws invalid on a malformed host.
 */
export function origin(settings: Settings): Middleware {
  const isTrusted = proxyTest(settings.trustedProxies);
  return async (ctx: Context, next: Next) => {
    const origin = settings.publicBaseUrl ?? requestOrigin(ctx, isTrusted);
    const baseUrl = `${origin}${settings.basePath}`;
    Object.assign(ctx.state, { origin, baseUrl, defaultTimezone: settings.defaultTimezone });
    await next();
  };
}

function requestOrigin(ctx: Context, isTrusted: ProxyTest): string {
  const forwarded = isForwarded(ctx) && isTrusted(ctx.req.socket.remoteAddress ?? '');
  const protocol = forwarded ? firstWord(ctx.get('X-Forwarded-Proto')) : '';
  const host = (forwarded ? forwardedHost(ctx) : '') || ctx.get('Host') || 'localhost';
  if (!HOST.test(host)) throw new CdrError('invalid', 'the Host header is malformed');
  return `${protocol === 'https' || protocol === 'http' ? protocol : ownProtocol(ctx)}://${host}`;
}

function isForwarded(ctx: Context): boolean {
  return ['x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port'].some((name) => name in ctx.headers);
}

function ownProtocol(ctx: Context): string {
  return 'encrypted' in ctx.req.socket ? 'https' : 'http';
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
