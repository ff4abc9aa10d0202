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

/** zstd is in Node.js since 22.15. */
interface Zstd {
  readonly createZstdCompress?: () => Duplex;
  readonly createZstdDecompress?: () => Duplex;
}

const zstd = zlib as Zstd;

/** What compresses with gzip. */
export const gzipped = (): Duplex => zlib.createGzip();

/** What decompresses that. */
export const gunzipped = (): Duplex => zlib.createGunzip();

/** What compresses. @throws Error where this Node.js has no zstd */
export function compressor(compression: Compression): () => Duplex {
  if (compression === 'gzip') return gzipped;
  return zstd.createZstdCompress ?? withoutZstd();
}

/** What decompresses a file, by its first bytes; null: it is not compressed. @throws Error where this Node.js has no zstd */
export function decompression(path: string): (() => Duplex) | null {
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
  return zstd.createZstdDecompress ?? withoutZstd();
}

function withoutZstd(): never {
  throw new Error('this Node.js has no zstd, which 22.15 and later have: use gzip');
}
