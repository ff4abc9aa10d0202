import type { Socket } from 'node:net';
import type { Context, Middleware, Next } from 'koa';
import { plainAddress, proxyTest, type ProxyTest } from './trusted-proxies.js';

/**
 * Puts the address of the client into `ctx.state.address`: that of the connection, or, while it is one of
 * `TRUSTED_PROXIES`, the one before it in `X-Forwarded-For`. What a client writes there itself stands left of
 * the first address that is not trusted, and is never read. @throws Error on a malformed entry of the setting
 */
export function clientAddress(trustedProxies: readonly string[]): Middleware {
  const isTrusted = proxyTest(trustedProxies);
  return async (ctx: Context, next: Next) => {
    ctx.state.address = addressOf(ctx, isTrusted);
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

function addressOf(ctx: Context, isTrusted: ProxyTest): string {
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
