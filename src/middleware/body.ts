import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import type { Context, Middleware, Next } from 'koa';
import rawBody from 'raw-body';
import { CdrError } from '../../openehr/base/errors.js';
import { isLatin1Xml } from '../../openehr/format/media-range.js';
import type { Settings } from '../../config/settings.js';
import { textOfUtf8 } from '../../openehr/base/utf8.js';

/**
 * Reads the body as text, of UTF-8 or of XML that says Latin-1, whatever its media type or without one
 * (docs/spec/rest.md#media-types); parsing belongs to `format/`, which gets the limit of nodes by `ctx.state`. `ctx.request.body` is a string, or undefined when there is none.
 * @throws too-large over the limit, unsupported-media-type for another charset or content coding, invalid when it
 * cannot be read or is not UTF-8
 */
export function readBodyText(limits: Pick<Settings, 'maxBodyBytes' | 'maxBodyNodes'>): Middleware {
  const { maxBodyBytes: limitBytes, maxBodyNodes } = limits;
  return async (ctx: Context, next: Next) => {
    ctx.state.maxBodyNodes = maxBodyNodes;
    const contentType = ctx.get('Content-Type');
    const isLatin1 = isLatin1Xml(contentType);
    if (!isLatin1) requireUtf8(contentType);
    const bytes = await bytesOf(ctx.req, limitBytes);
    if (bytes.length > 0) ctx.request.body = isLatin1 ? bytes.toString('latin1') : utf8Text(bytes);
    await next();
  };
}

/** The body without its content coding; the limit is that of the bytes that come out. @throws as `readBodyText` */
async function bytesOf(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const coding = contentCoding(request);
  // Told by the header alone, a body that is too large need not come in.
  const length = coding === 'identity' ? request.headers['content-length'] : undefined;
  try {
    return await rawBody(decoded(request, coding), {
      limit: limitBytes,
      ...(length !== undefined && { length }),
    });
  } catch (error) {
    throw bodyError(error as Error, limitBytes);
  }
}

/** Content codings are compared without case, and x-gzip is gzip: RFC 9110, section 8.4.1. No body has none. */
function contentCoding({ headers }: IncomingMessage): string {
  const hasBody = headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (!hasBody || coding === '') return 'identity';
  return coding === 'x-gzip' ? 'gzip' : coding;
}

/** @throws unsupported-media-type for a coding that is none of HTTP's, or several */
function decoded(request: IncomingMessage, coding: string): Readable {
  if (coding === 'identity') return request;
  if (coding === 'gzip' || coding === 'deflate') return request.pipe(createUnzip());
  if (coding === 'br') return request.pipe(createBrotliDecompress());
  throw new CdrError(
    'unsupported-media-type',
    'the charset or content encoding of the body is not supported',
  );
}

function requireUtf8(contentType: string): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1];
  if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) {
    throw new CdrError('unsupported-media-type', 'the charset of the body must be UTF-8');
  }
}

/** @throws invalid when it is not UTF-8 */
function utf8Text(body: Buffer): string {
  const text = textOfUtf8(body);
  if (text !== null) return text;
  const replaced = Buffer.from(body.toString('utf8'));
  const offset = body.findIndex((byte, index) => byte !== replaced[index]);
  throw new CdrError('invalid', `the body is not UTF-8 text: see the byte at offset ${offset}`);
}

function bodyError(error: Error, limitBytes: number): CdrError {
  if (error instanceof CdrError) return error;
  if ((error as { status?: unknown }).status === 413)
    return new CdrError('too-large', `the body is larger than ${limitBytes} bytes`, { cause: error });
  return new CdrError('invalid', 'the body could not be read', { cause: error });
}
