import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import cors from '@koa/cors';
import type { Context, Middleware, Next } from 'koa';
import compress from 'koa-compress';
import conditionalGet from 'koa-conditional-get';
import helmet from 'helmet';
import { withoutOuterSlashes } from './path.js';

/** Bodies below this are sent as they are: compressing them costs more than it saves. Bytes. */
const COMPRESS_FROM_BYTES = 16_384;

/**
 * Security headers. HSTS and `upgrade-insecure-requests` are left out: TLS ends at a proxy, and on plain HTTP
 * they keep the documentation page blank. They are the same for every answer, so they are made once.
 */
export function securityHeaders(): Middleware {
  const headers = fixedHeaders();
  return async (ctx: Context, next: Next) => {
    for (const [name, value] of headers) ctx.res.setHeader(name, value);
    await next();
  };
}

/** What helmet puts into an answer. */
function fixedHeaders(): readonly (readonly [name: string, value: string])[] {
  const answer = new ServerResponse(new IncomingMessage(new Socket()));
  helmet({
    strictTransportSecurity: false,
    contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
  })(answer.req, answer, () => undefined);
  return Object.entries(answer.getHeaders()).map(([name, value]) => [name, String(value)]);
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

const answerIfChanged = conditionalGet();

/**
 * Says who may keep an answer: nobody, unless the operation says otherwise, or `versionSeconds` are above 0 and the
 * content of a version was read by the version's id, which never changes. Where the content of a version is answered,
 * `If-None-Match` with its id gives 304: RFC 9110, section 13.1.2. Around everything that can answer.
 */
export function answerCaching(versionSeconds: number): Middleware {
  return async (ctx: Context, next: Next) => {
    await next();
    // Static files have been given their own rule, and one form each.
    if (ctx.res.hasHeader('Cache-Control')) return;
    ctx.vary('Accept');
    const uid = answeredVersion(ctx);
    const isKept = uid !== null && versionSeconds > 0 && lastSegment(ctx.path) === uid.toLowerCase();
    ctx.set('Cache-Control', isKept ? `private, max-age=${versionSeconds}, immutable` : 'no-store');
    // The ETag is the version's id here; Last-Modified alone, in whole seconds, does not distinguish two versions.
    if (uid !== null && ctx.get('If-None-Match') !== '') await answerIfChanged(ctx, () => Promise.resolve());
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
