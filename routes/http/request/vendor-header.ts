import type { Context } from 'koa';

import { CdrError } from '../../../openehr/base/errors.js';
import { usesStdWord } from '../../../openehr/format/media-type.js';

const VENDOR_NAME = /^(openehr|std)[-_]/;

/**
 * The value of a vendor header by the part of its name after `openehr-` or `std-`; null when it was not sent.
 * `_` and `-` are the same in these names. @throws invalid when two spellings come with different values
 */
export function vendorHeader(ctx: Context, name: string): string | null {
  const wanted = name.toLowerCase().replaceAll('_', '-');
  const values = Object.entries(ctx.headers)
    .filter(([header]) => VENDOR_NAME.test(header))
    .filter(([header]) => header.replace(VENDOR_NAME, '').replaceAll('_', '-') === wanted)
    .map(([, value]) => (Array.isArray(value) ? value.join(', ') : (value ?? '')));
  if (new Set(values).size > 1)
    throw new CdrError(
      'invalid',
      `the header openehr-${wanted} was sent in two spellings with different values`,
    );
  return values[0] ?? null;
}

/** The vendor word of the answer: `std` when the request used it anywhere, else `openehr`. */
export function requestVendorWord(ctx: Context): 'std' | 'openehr' {
  const usesStd =
    Object.keys(ctx.headers).some((header) => /^std[-_]/.test(header)) ||
    Object.keys(ctx.query).some((name) => name.startsWith('std')) ||
    usesStdWord(ctx.get('Accept')) ||
    usesStdWord(ctx.get('Content-Type'));
  return usesStd ? 'std' : 'openehr';
}
