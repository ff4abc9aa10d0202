import { finished, Readable, type Duplex } from 'node:stream';
import cors from '@koa/cors';
import type { Context, Middleware, Next } from 'koa';
import compress from 'koa-compress';
import type { Settings } from '../../config/settings.js';
import { withoutOuterSlashes } from './path.js';

/** Bodies below this are sent as they are: compressing them costs more than it saves. Bytes. */
const COMPRESS_FROM_BYTES = 16_384;

/**
 * What browsers are told of every answer. HSTS and `upgrade-insecure-requests` are left out: TLS ends at a proxy, and on
 * plain HTTP they keep the documentation page blank.
 */
const SECURITY_HEADERS = Object.entries({
  'Content-Security-Policy': [
    "default-src 'self'",
    "base-uri 'self'",
    "font-src 'self' https: data:",
    "form-action 'self'",
    "frame-ancestors 'self'",
    "img-src 'self' data:",
    "object-src 'none'",
    "script-src 'self'",
    "script-src-attr 'none'",
    "style-src 'self' https: 'unsafe-inline'",
  ].join(';'),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-DNS-Prefetch-Control': 'off',
  'X-Download-Options': 'noopen',
  'X-Frame-Options': 'SAMEORIGIN',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-XSS-Protection': '0',
});

/** Puts the security headers into every answer. */
export function securityHeaders(): Middleware {
  return async (ctx: Context, next: Next) => {
    for (const [name, value] of SECURITY_HEADERS) ctx.res.setHeader(name, value);
    await next();
  };
}

/** How long browsers may keep the answer to a preflight. Seconds. */
const PREFLIGHT_KEPT_S = 600;
/** What scripts of other origins may read of an answer. */
const EXPOSED_HEADERS = [
  'ETag',
  'Everchart-Signature',
  'Everchart-Template-Revision',
  'Everchart-Withheld',
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

/** Compresses large answers for clients that accept it; one that fails on the way is cut, as it is uncompressed. */
export function compression(): Middleware {
  const compressed = compress({ threshold: COMPRESS_FROM_BYTES, br: false }) as Middleware;
  return async (ctx: Context, next: Next) => {
    let body: unknown;
    await compressed(ctx, async () => {
      await next();
      ({ body } = ctx);
    });
    if (!(body instanceof Readable) || body === ctx.body) return;
    const sent = ctx.body as Duplex;
    // It would wait for ever for what never comes: `pipe` does not pass on errors.
    finished(body, (error) => {
      if (error) sent.destroy(error);
    });
  };
}

/**
 * Says who may keep an answer: nobody, unless the operation says otherwise, or `versionCacheSeconds` are above 0 and the
 * content of a version was read by the version's id, which never changes; who may see it does, where policies are enforced or tokens have scopes. Where the content of a version is answered,
 * `If-None-Match` with its id gives 304: RFC 9110, section 13.1.2. Around everything that can answer.
 */
export function answerCaching({
  versionCacheSeconds,
  accessMode,
  smartScopes,
}: Pick<Settings, 'versionCacheSeconds' | 'accessMode' | 'smartScopes'>): Middleware {
  const isRestricted = accessMode === 'enforce' || smartScopes !== 'off';
  const versionSeconds = isRestricted ? 0 : versionCacheSeconds;
  return async (ctx: Context, next: Next) => {
    await next();
    // Static files have been given their own rule, and one form each.
    if (ctx.res.hasHeader('Cache-Control')) return;
    ctx.vary('Accept');
    const uid = answeredVersion(ctx);
    const isKept = uid !== null && versionSeconds > 0 && lastSegment(ctx.path) === uid.toLowerCase();
    ctx.set('Cache-Control', isKept ? `private, max-age=${versionSeconds}, immutable` : 'no-store');
    // The ETag is the version's id here; Last-Modified alone, in whole seconds, does not distinguish two versions.
    if (uid === null || ctx.get('If-None-Match') === '' || !ctx.fresh) return;
    ctx.status = 304;
    ctx.body = null;
  };
}

/** The version whose content a read answers. */
function answeredVersion(ctx: Context): string | null {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  return isRead && ctx.status === 200 ? (ctx.state.contentVersion ?? null) : null;
}

function lastSegment(path: string): string {
  const segment = withoutOuterSlashes(path).split('/').at(-1) ?? '';
  return segment.replaceAll(/%3a/gi, ':').toLowerCase();
}
