import cors from '@koa/cors';
import type { Context, Middleware } from 'koa';
import compress from 'koa-compress';
import helmet from 'koa-helmet';

/** Bodies below this are sent as they are: compressing them costs more than it saves. Bytes. */
const COMPRESS_FROM_BYTES = 16_384;

/**
 * Security headers. HSTS and `upgrade-insecure-requests` are left out: TLS ends at a proxy, and on plain HTTP
 * they keep the documentation page blank.
 */
export function securityHeaders(): Middleware {
  return helmet({
    strictTransportSecurity: false,
    contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
  });
}

/** How long browsers may keep the answer to a preflight. Seconds. */
const PREFLIGHT_KEPT_S = 600;
/** What scripts of other origins may read of an answer. */
const EXPOSED_HEADERS = [
  'ETag',
  'Location',
  'Last-Modified',
  'Link',
  'Preference-Applied',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
];

/** Cross-origin access for the configured origins only; their preflights are answered 204 and get no further. */
export function crossOrigin(origins: readonly string[]): Middleware {
  return cors({
    origin: (ctx: Context) => {
      const asked = ctx.get('Origin');
      return origins.includes(asked) ? asked : '';
    },
    exposeHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_KEPT_S,
    keepHeadersOnError: true,
  }) as Middleware;
}

/** Compresses large answers for clients that accept it. */
export function compression(): Middleware {
  return compress({ threshold: COMPRESS_FROM_BYTES, br: false }) as Middleware;
}
