import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import { isLatin1Xml } from '../../routes/http/negotiation/media-range.js';
import { textOfUtf8 } from '../../openehr/base/utf8.js';
import type { LargestBody } from '../../routes/http/operation/operation.js';
import type { BodiesUnderWay } from './bodies-under-way.js';

/**
 * Reads the body as text, of UTF-8 or of XML that says Latin-1, whatever its media type; parsing belongs to `format/`, which gets the limit of nodes by
 * `ctx.state`. `ctx.request.body` is a string, or undefined when there is none.
 * @throws as `BodiesUnderWay`; too-large over the limit, unsupported-media-type for another charset or content coding, invalid when it
 * cannot be read or is not UTF-8
 */
export function readBodyText(
  largest: LargestBody,
  maxBodyNodes: number,
  underWay: BodiesUnderWay,
): Middleware {
  let reader: Promise<Middleware> | null = null;
  return async (ctx: Context, next: Next) => {
    ctx.state.maxBodyNodes = maxBodyNodes;
    const untyped = ctx.get('Content-Type') === '';
    const isLatin1 = isLatin1Xml(ctx.get('Content-Type'));
    if (!isLatin1) requireUtf8(ctx.get('Content-Type'));
    nameCoding(ctx);
    // koa-body reads no body without a type; such a body has the first type of its resource
    // (docs/spec/rest.md#media-types).
    if (untyped) ctx.req.headers['content-type'] = 'text/plain';
    reader ??= textReader(largest);
    const read = await reader;
    await underWay.holding(ctx, largest.bytes, async (settled) => {
      await read(ctx, async () => {
        if (untyped) delete ctx.req.headers['content-type'];
        const body: unknown = ctx.request.body;
        settled(typeof body === 'string' ? body.length : 0);
        if (typeof body !== 'string' || body === '') delete ctx.request.body;
        else ctx.request.body = isLatin1 ? body : utf8Text(Buffer.from(body, 'latin1'));
        await next();
      });
    });
  };
}

/** Loaded with the first body, for it is a hundred files: a server starts sooner without. */
async function textReader(largest: LargestBody): Promise<Middleware> {
  const { HttpMethodEnum, koaBody } = await import('koa-body');
  return koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    textTypes: ['text/*', 'application/*', '*/*'],
    textLimit: largest.bytes,
    // One character a byte: as UTF-8 what is none would silently become U+FFFD.
    encoding: 'binary',
    parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
    onError: (error) => {
      throw bodyError(error, largest);
    },
  });
}

function requireUtf8(contentType: string): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1];
  if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) {
    throw new CdrError('unsupported-media-type', 'the charset of the body must be UTF-8');
  }
}

/** Content codings are compared without case, and x-gzip is gzip: RFC 9110, section 8.4.1. */
function nameCoding(ctx: Context): void {
  const coding = ctx.get('Content-Encoding').trim().toLowerCase();
  if (coding !== '') ctx.req.headers['content-encoding'] = coding === 'x-gzip' ? 'gzip' : coding;
}

/** @throws invalid when it is not UTF-8 */
function utf8Text(body: Buffer): string {
  const text = textOfUtf8(body);
  if (text !== null) return text;
  const replaced = Buffer.from(body.toString('utf8'));
  const offset = body.findIndex((byte, index) => byte !== replaced[index]);
  throw new CdrError('invalid', `the body is not UTF-8 text: see the byte at offset ${offset}`);
}

function bodyError(error: Error, { bytes, setting }: LargestBody): CdrError {
  const status = (error as { status?: unknown }).status;
  if (status === 413)
    return new CdrError(
      'too-large',
      `the body is larger than ${bytes} bytes${setting === null ? '' : ` (${setting})`}: send less at a time`,
      {
        budget: { name: 'bodyBytes', setting, limit: bytes, used: null },
        cause: error,
      },
    );
  if (status === 415) {
    return new CdrError(
      'unsupported-media-type',
      'the charset or content encoding of the body is not supported',
      { cause: error },
    );
  }
  return new CdrError('invalid', 'the body could not be read', { cause: error });
}
