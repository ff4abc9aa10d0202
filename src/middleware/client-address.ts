import type { Context, Middleware, Next } from 'koa';
import { plainAddress, proxyTest, type ProxyTest } from '../trusted-proxies.js';

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

function addressOf(ctx: Context, isTrusted: ProxyTest): string {
  const hops = ctx.get('X-Forwarded-For').split(',');
  let address = plainAddress(ctx.req.socket.remoteAddress ?? '') ?? 'unknown';
  while (isTrusted(address)) {
    const before = plainAddress((hops.pop() ?? '').trim());
    if (before === null) break;
    address = before;
  }
  return address;
}
