import { closeSync, openSync, readSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import * as zlib from 'node:zlib';

/** How a file may be compressed. */
export const COMPRESSIONS = ['gzip', 'zstd'] as const;

/** How a file may be compressed. */
export type Compression = (typeof COMPRESSIONS)[number];

/** What each begins with. */
const MAGIC: Readonly<Record<Compression, readonly number[]>> = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
};

const WITHOUT_ZSTD = 'this Node.js has no zstd, which 22.15 and later have';

/** zstd is in Node.js since 22.15. */
interface Zstd {
  readonly createZstdCompress?: () => Duplex;
  readonly createZstdDecompress?: () => Duplex;
}

/** What compresses with gzip. */
export const gzipped = (): Duplex => zlib.createGzip();

/** What decompresses that. */
export const gunzipped = (): Duplex => zlib.createGunzip();

/** What compresses; where this Node.js has no zstd, gzip, of which `warn` is told: whoever reads the file knows by its content. */
export function compressor(
  compression: Compression,
  warn: (words: string) => void,
  { createZstdCompress }: Zstd = zlib as Zstd,
): () => Duplex {
  if (compression === 'gzip') return gzipped;
  if (createZstdCompress !== undefined) return createZstdCompress;
  warn(`${WITHOUT_ZSTD}: compressed with gzip`);
  return gzipped;
}

/** What decompresses a file, by its first bytes; null: it is not compressed. @throws Error where this Node.js has no zstd */
export function decompression(
  path: string,
  { createZstdDecompress }: Zstd = zlib as Zstd,
): (() => Duplex) | null {
  const first = Buffer.alloc(4);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, first, 0, first.length, 0);
  } catch (error) {
    // A pipe has no place to read at: it is taken as it is.
    if ((error as NodeJS.ErrnoException).code !== 'ESPIPE') throw error;
  } finally {
    closeSync(descriptor);
  }
  const found = COMPRESSIONS.find((one) => MAGIC[one].every((byte, index) => first[index] === byte));
  if (found === undefined) return null;
  if (found === 'gzip') return gunzipped;
  if (createZstdDecompress === undefined) throw new Error(`${WITHOUT_ZSTD}: ${path} needs it`);
  return createZstdDecompress;
}
