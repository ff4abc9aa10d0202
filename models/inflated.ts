import { inflateSync } from 'node:zlib';

/** Bytes of the longest text there can be: it once had to fit into a document of 16 MB. */
const MOST = 16 * 1024 * 1024;

/**
 * The text that was compressed; pure, for threads without a database too. zlib's own checksum finds damage; a text longer
 * than any that was written is refused before it fills the memory. @throws Error of zlib
 */
export function inflated(bytes: Uint8Array): string {
  return inflateSync(bytes, { maxOutputLength: MOST }).toString();
}

/** What a release says of content that a later one has written. */
export function unknownEncoding(id: string, encoding: unknown): Error {
  return new Error(`VERSION ${id} has the encoding ${String(encoding)}, which this release does not know`);
}
