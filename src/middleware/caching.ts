import type { Context, Middleware, Next } from 'koa';
import conditionalGet from 'koa-conditional-get';

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
    // The ETag is the version's id here; Last-Modified alone, in whole seconds, tells no two versions apart.
    if (uid !== null && ctx.get('If-None-Match') !== '') await answerIfChanged(ctx, () => Promise.resolve());
  };
}

/** The version whose content a read answers. */
function answeredVersion(ctx: Context): string | null {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  return isRead && ctx.status === 200 ? (ctx.state.contentVersion ?? null) : null;
}

function lastSegment(path: string): string {
  const segment = path.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return segment.replaceAll(/%3a/gi, ':').toLowerCase();
}
