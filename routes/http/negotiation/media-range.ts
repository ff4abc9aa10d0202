import { counted } from '../../../openehr/base/work.js';
/** One entry of an `Accept` header (RFC 9110, 12.5.1). */
export interface AcceptRange {
  /** The name as the client wrote it, without parameters. */
  readonly name: string;
  readonly specificity: 'exact' | 'type' | 'any';
  /** 0 (refused) to 1. */
  readonly quality: number;
  /** Whether a type in lower case, with the vendor word `openehr`, falls under this entry. */
  matches(mediaType: string): boolean;
}

const TOKEN = /^[\w!#$&^.+*'-]+\/[\w!#$&^.+*'-]+$/;
const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)"?/i;
const ORDER = ['exact', 'type', 'any'] as const;

/**
 * The entries of an `Accept` header, the more specific ones first, then in the order given; malformed entries
 * are left out. A missing or empty header accepts everything.
 */
export function acceptedRanges(accept: string | undefined): readonly AcceptRange[] {
  const header = accept === undefined || accept.trim() === '' ? '*/*' : accept;
  const ranges = counted(header.split(','))
    .map(acceptRange)
    .filter((range) => range !== null);
  return counted(ranges).sort((a, b) => ORDER.indexOf(a.specificity) - ORDER.indexOf(b.specificity));
}

/** The type and subtype of a media type as written, without parameters. */
export function baseType(mediaType: string): string {
  const end = mediaType.indexOf(';');
  return (end < 0 ? mediaType : mediaType.slice(0, end)).trim();
}

/** Type and subtype in lower case; the vendor word `std` becomes `openehr`. */
export function normalName(mediaType: string): string {
  return baseType(mediaType).toLowerCase().replace('/std.', '/openehr.');
}

/** Whether the `charset` parameter is absent or UTF-8. */
export function isUtf8(contentType: string): boolean {
  const charset = CHARSET.exec(contentType)?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}

/** Whether it is XML in ISO-8859-1, as Apache's HttpClient sends it, and EHRbase's SDK with it. */
export function isLatin1Xml(contentType: string): boolean {
  const charset = CHARSET.exec(contentType)?.[1] ?? '';
  return /^iso-8859-1$/i.test(charset) && /^(?:application|text)\/xml$/.test(normalName(contentType));
}

function acceptRange(entry: string): AcceptRange | null {
  const name = baseType(entry);
  const quality = qualityOf(entry);
  if (!TOKEN.test(name) || quality === null) return null;
  const normal = normalName(name);
  if (normal === '*/*') return { name, specificity: 'any', quality, matches: () => true };
  if (!normal.endsWith('/*'))
    return { name, specificity: 'exact', quality, matches: (mediaType) => mediaType === normal };
  const prefix = normal.slice(0, -1);
  return { name, specificity: 'type', quality, matches: (mediaType) => mediaType.startsWith(prefix) };
}

/** The `q` of an entry, 1 without one, null when it is malformed. */
function qualityOf(entry: string): number | null {
  for (const parameter of counted(entry.split(';').slice(1))) {
    const [key = '', value = ''] = parameter.split('=');
    if (key.trim().toLowerCase() === 'q') return QUALITY.test(value.trim()) ? Number(value) : null;
  }
  return 1;
}
