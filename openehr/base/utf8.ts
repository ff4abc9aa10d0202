/* Of Node alone, so apart from what browsers load too (packages/aql). */
import { isAscii, isUtf8 } from 'node:buffer';

/** The text of bytes in UTF-8, without a byte order mark; null when they are not UTF-8. */
export function textOfUtf8(bytes: Buffer): string | null {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8').replace(/^\uFEFF/, '') : null;
}
