import { type Socket, BlockList, isIP } from 'node:net';
import type { Context, Middleware, Next } from 'koa';

/**
 * Puts the address of the client into `ctx.state.address`: that of the connection, or, while it is one of
 * `TRUSTED_PROXIES`, the one before it in `X-Forwarded-For`. What a client writes there itself stands left of
 * the first address that is not trusted, and is never read. `distrusted`: called with the address of each peer that speaks
 * for others without being trusted. @throws Error on a malformed entry of the setting
 */
export function clientAddress(
  trustedProxies: readonly string[],
  distrusted: (peer: string) => void,
): Middleware {
  const isTrusted = proxyTest(trustedProxies);
  return async (ctx: Context, next: Next) => {
    ctx.state.address = nearestUntrusted(ctx, isTrusted);
    if ('x-forwarded-for' in ctx.headers && !isTrusted(peerAddress(ctx.req.socket)))
      distrusted(peerAddress(ctx.req.socket));
    await next();
  };
}

/** Of each open connection, which many requests share. */
const PEERS = new WeakMap<Socket, string>();

function peerAddress(socket: Socket): string {
  const known = PEERS.get(socket);
  if (known !== undefined) return known;
  const address = plainAddress(socket.remoteAddress ?? '') ?? 'unknown';
  PEERS.set(socket, address);
  return address;
}

function nearestUntrusted(ctx: Context, isTrusted: ProxyTest): string {
  let address = peerAddress(ctx.req.socket);
  if (!isTrusted(address)) return address;
  const hops = ctx.get('X-Forwarded-For').split(',');
  while (isTrusted(address)) {
    const before = plainAddress((hops.pop() ?? '').trim());
    if (before === null) break;
    address = before;
  }
  return address;
}

/** Whether an address is one of the given proxies. */
export type ProxyTest = (address: string) => boolean;

/** The entries of `TRUSTED_PROXIES` that are neither an address nor a CIDR block. */
export function malformedProxies(entries: readonly string[]): string[] {
  return entries.filter((entry) => blockOf(entry) === null);
}

/** Tests addresses against `TRUSTED_PROXIES`; IPv4 addresses written as IPv6 count as IPv4. @throws Error on a malformed entry */
export function proxyTest(entries: readonly string[]): ProxyTest {
  const blocks = new BlockList();
  for (const entry of entries) {
    const block = blockOf(entry);
    if (block === null) throw new Error(`TRUSTED_PROXIES: ${entry} is neither an address nor a CIDR block`);
    blocks.addSubnet(block.address, block.bits, block.family);
  }
  if (entries.length === 0) return () => false;
  return (address) => {
    const plain = plainAddress(address);
    return plain !== null && blocks.check(plain, familyOf(plain));
  };
}

/** The address without `[…]`, port, zone and IPv4-in-IPv6 prefix, letters small; null when it is none. */
export function plainAddress(text: string): string | null {
  const bare = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d{1,5}$/, '$1');
  const address = bare
    .replace(/%.*$/, '')
    .toLowerCase()
    .replace(/^::ffff:(?=[\d.]+$)/, '');
  return isIP(address) === 0 ? null : address;
}

function blockOf(
  entry: string,
): { readonly address: string; readonly bits: number; readonly family: 'ipv4' | 'ipv6' } | null {
  const [address = '', bits, ...others] = entry.split('/');
  if (isIP(address) === 0 || others.length > 0) return null;
  const family = familyOf(address);
  const mostBits = family === 'ipv6' ? 128 : 32;
  if (bits === undefined) return { address, bits: mostBits, family };
  return /^\d{1,3}$/.test(bits) && Number(bits) <= mostBits ? { address, bits: Number(bits), family } : null;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** Whether a host name or address is only reachable from this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
