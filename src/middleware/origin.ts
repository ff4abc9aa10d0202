import { BlockList, isIP } from 'node:net';
import type { Context, Middleware, Next } from 'koa';
import type { Settings } from '../../base/settings.js';
import { CdrError } from '../../base/errors.js';

const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/;

/**
 * Decides the origin of generated links: `PUBLIC_BASE_URL`, else `X-Forwarded-*` of a trusted proxy,
 * else the `Host` header. @throws invalid on a malformed host.
 */
export function origin(settings: Settings): Middleware {
  const trusted = proxyList(settings.trustedProxies);
  return async (ctx: Context, next: Next) => {
    const origin = settings.publicBaseUrl ?? requestOrigin(ctx, trusted);
    const baseUrl = `${origin}${settings.basePath}`;
    const { defaultTimezone } = settings;
    const address = ctx.req.socket.remoteAddress ?? 'unknown';
    Object.assign(ctx.state, { origin, baseUrl, defaultTimezone, address });
    await next();
  };
}

function requestOrigin(ctx: Context, trusted: BlockList): string {
  const forwarded = isForwarded(ctx) && isTrusted(ctx.req.socket.remoteAddress ?? '', trusted);
  const protocol = forwarded ? firstWord(ctx.get('X-Forwarded-Proto')) : '';
  const host = (forwarded ? forwardedHost(ctx) : '') || ctx.get('Host') || 'localhost';
  if (!HOST.test(host)) throw new CdrError('invalid', 'the Host header is malformed');
  return `${protocol === 'https' || protocol === 'http' ? protocol : ownProtocol(ctx)}://${host}`;
}

function isForwarded(ctx: Context): boolean {
  return ['x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port'].some((name) => name in ctx.headers);
}

function isTrusted(remote: string, trusted: BlockList): boolean {
  const address = remote.startsWith('::ffff:') ? remote.slice(7) : remote;
  return isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
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

function proxyList(entries: readonly string[]): BlockList {
  const blocks = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const mostBits = family === 'ipv6' ? 128 : 32;
    if (isIP(address) === 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= mostBits)))
      throw new Error(`TRUSTED_PROXIES: ${entry} is neither an address nor a CIDR block`);
    if (bits === undefined) blocks.addAddress(address, family);
    else blocks.addSubnet(address, Number(bits), family);
  }
  return blocks;
}
