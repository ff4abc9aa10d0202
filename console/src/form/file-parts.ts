import type { FlatValue, FlatValues } from './values.js';

/** What goes into a document at most as one file; larger things belong beside it, at an address. Bytes. */
const LARGEST_FILE = 4 * 1024 * 1024;

type FileParts = Readonly<Record<string, FlatValue | undefined>>;

/** All that says something of a file, by the suffixes of a DV_MULTIMEDIA: of what is taken away nothing stays. */
export const NO_FILE: FileParts = {
  data: undefined,
  size: undefined,
  mediatype: undefined,
  alternatetext: undefined,
  compression_algorithm: undefined,
  integrity_check: undefined,
  integrity_check_algorithm: undefined,
};

/** A file in place of what was there; an address of something else goes. `data`: base64. */
export function fileParts(
  file: { readonly name: string; readonly size: number; readonly type: string },
  data: string,
): FileParts {
  return {
    ...NO_FILE,
    '': undefined,
    url: undefined,
    data,
    size: file.size,
    mediatype: file.type === '' ? 'application/octet-stream' : file.type,
    alternatetext: file.name,
  };
}

/** Bytes of a file that still go into a document of `limit` bytes, beside all that is in it; `replaced`: base64 of what the file replaces. */
export function roomForFile(values: FlatValues, replaced: FlatValue | undefined, limit: number): number {
  const used = new TextEncoder().encode(JSON.stringify(values)).length - String(replaced ?? '').length;
  // Three bytes are four characters.
  return Math.min(LARGEST_FILE, Math.max(0, Math.floor((limit - used) / 4) * 3));
}
