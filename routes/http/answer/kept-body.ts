import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';

const compress = promisify(gzip);

/** Bytes from which it pays to compress. */
const COMPRESS_FROM = 16_384;

/** A body that is the same for everybody: made once, and compressed once, beside the main thread. */
export interface KeptBody {
  /** Answers it, compressed for whoever takes that. The type must be set. */
  answer(ctx: Context): Promise<void>;
}

/** Keeps a body. `brotli`: the same, compressed before. */
export function keptBody(content: Buffer, brotli?: Buffer): KeptBody {
  let compressed: Promise<Buffer> | null = null;
  return {
    async answer(ctx) {
      // No middleware compresses it again.
      ctx.compress = false;
      ctx.vary('Accept-Encoding');
      if (brotli !== undefined && ctx.acceptsEncodings('br', 'gzip', 'identity') === 'br') {
        ctx.set('Content-Encoding', 'br');
        ctx.body = brotli;
        return;
      }
      if (content.length < COMPRESS_FROM || ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') {
        ctx.body = content;
        return;
      }
      compressed ??= compress(content);
      ctx.set('Content-Encoding', 'gzip');
      ctx.body = await compressed;
    },
  };
}
