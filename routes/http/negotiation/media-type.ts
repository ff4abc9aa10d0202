import { CdrError } from '../../../openehr/base/errors.js';
import {
  acceptedRanges,
  baseType,
  isLatin1Xml,
  isUtf8,
  normalName,
  type AcceptRange,
} from './media-range.js';
import { counted } from '../../../openehr/base/work.js';
import type { BodyFormat, ContentFormat } from '../../../openehr/format/body-format.js';

/** What a request or response is about; decides which media types are possible (docs/spec/rest.md#media-types). */
export type ResourceKind =
  | 'rm'
  | 'composition'
  | 'contribution'
  | 'template-upload'
  | 'template'
  | 'template-list'
  | 'web-template'
  | 'archetype'
  | 'template-example'
  | 'stored-query'
  | 'query'
  | 'item-tag'
  | 'json'
  | 'admin'
  | 'admin-text'
  | 'admin-records'
  | 'admin-template'
  | 'policy'
  | 'interchange'
  | 'compared-template';

/** A form together with the name of it that goes into `Content-Type` (without charset). */
export interface BodyType {
  readonly format: BodyFormat;
  readonly mediaType: string;
}

/** What else of a request decides the form of its answer. */
export interface ResponseWishes {
  /** Query parameter `format`. */
  readonly format?: string | undefined;
  /** `Content-Type` of the request: its spelling is used again where `Accept` names no type. */
  readonly contentType?: string | undefined;
  /** Word of vendor media types that the server chooses; `openehr` unless given. */
  readonly vendorWord?: 'std' | 'openehr' | undefined;
}

const JSON_TYPE: BodyType = { format: 'JSON', mediaType: 'application/json' };
const XML_TYPE: BodyType = { format: 'XML', mediaType: 'application/xml' };
const TEXT_XML: BodyType = { format: 'XML', mediaType: 'text/xml' };
const PLAIN_TEXT: BodyType = { format: 'TEXT', mediaType: 'text/plain' };
const WEB_TEMPLATE: BodyType = { format: 'WEB_TEMPLATE', mediaType: 'application/openehr.wt+json' };
const WEB_TEMPLATE_AS_JSON: BodyType = { format: 'WEB_TEMPLATE', mediaType: 'application/json' };
const NDJSON: BodyType = { format: 'NDJSON', mediaType: 'application/x-ndjson' };
const CSV: BodyType = { format: 'CSV', mediaType: 'text/csv' };
const COMPOSITION_TYPES: readonly BodyType[] = [
  JSON_TYPE,
  XML_TYPE,
  { format: 'FLAT', mediaType: 'application/openehr.wt.flat+json' },
  { format: 'FLAT', mediaType: 'application/openehr.wt.flat.schema+json' },
  { format: 'STRUCTURED', mediaType: 'application/openehr.wt.structured+json' },
  { format: 'STRUCTURED', mediaType: 'application/openehr.wt.structured.schema+json' },
  { format: 'STRUCTURED', mediaType: 'application/openehr.wt.flat.structured+json' },
];
const RM_TYPES: readonly BodyType[] = [JSON_TYPE, XML_TYPE];

/** Per kind the types a request and a response can have; the first is the one of a missing header. */
const TYPES: Readonly<
  Record<ResourceKind, { readonly requests: readonly BodyType[]; readonly responses: readonly BodyType[] }>
> = {
  rm: { requests: RM_TYPES, responses: RM_TYPES },
  composition: { requests: COMPOSITION_TYPES, responses: COMPOSITION_TYPES },
  contribution: { requests: COMPOSITION_TYPES, responses: COMPOSITION_TYPES },
  'template-upload': {
    requests: [XML_TYPE, TEXT_XML],
    responses: [XML_TYPE, WEB_TEMPLATE, WEB_TEMPLATE_AS_JSON],
  },
  template: { requests: [], responses: [XML_TYPE, WEB_TEMPLATE, WEB_TEMPLATE_AS_JSON, PLAIN_TEXT] },
  'template-list': { requests: [], responses: RM_TYPES },
  archetype: { requests: [PLAIN_TEXT], responses: [PLAIN_TEXT, JSON_TYPE] },
  'web-template': { requests: [], responses: [WEB_TEMPLATE, WEB_TEMPLATE_AS_JSON] },
  'template-example': { requests: [], responses: COMPOSITION_TYPES },
  'stored-query': { requests: [PLAIN_TEXT, JSON_TYPE], responses: [JSON_TYPE] },
  query: { requests: [JSON_TYPE], responses: [JSON_TYPE, NDJSON, CSV] },
  'item-tag': { requests: [JSON_TYPE], responses: [JSON_TYPE] },
  json: { requests: [JSON_TYPE], responses: [JSON_TYPE] },
  admin: { requests: RM_TYPES, responses: RM_TYPES },
  'admin-text': { requests: [], responses: [PLAIN_TEXT, JSON_TYPE] },
  'admin-records': { requests: [], responses: [JSON_TYPE, CSV] },
  'admin-template': { requests: [XML_TYPE, TEXT_XML], responses: [XML_TYPE, JSON_TYPE] },
  policy: { requests: [PLAIN_TEXT, JSON_TYPE], responses: [JSON_TYPE, PLAIN_TEXT] },
  interchange: { requests: [NDJSON], responses: [JSON_TYPE] },
  'compared-template': { requests: [XML_TYPE, TEXT_XML, JSON_TYPE], responses: [JSON_TYPE] },
};

/** What curl and HTML forms send when nobody says anything. */
const FORM = 'application/x-www-form-urlencoded';
/** So much of a header is repeated. */
const MAX_SHOWN = 100;
const CONTENT_FORMATS: readonly ContentFormat[] = ['JSON', 'XML', 'FLAT', 'STRUCTURED'];
const UNSUPPORTED_FORMATS = ['RAW', 'EXPANDED', 'ECISFLAT'];

/**
 * Reads the query parameter `format`, any letter case; null when it is absent or empty.
 *
 * @throws invalid for a format of other products that this one does not speak, not-acceptable for any other
 * word (docs/spec/rest.md#media-types)
 */
export function formatParameter(text: string | undefined): ContentFormat | null {
  if (text === undefined || text === '') return null;
  const word = text.toUpperCase();
  const format = CONTENT_FORMATS.find((known) => known === word);
  if (format !== undefined) return format;
  if (UNSUPPORTED_FORMATS.includes(word)) throw new CdrError('invalid', `Format ${word} not supported`);
  throw new CdrError(
    'not-acceptable',
    `Invalid compositions format [${text}] only [XML, JSON, FLAT, STRUCTURED] are supported at the moment`,
  );
}

/**
 * The form of a request body, from `Content-Type` and (COMPOSITION only) the parameter `format`.
 *
 * @throws unsupported-media-type for a type this kind does not take or a charset other than UTF-8;
 * not-acceptable when `format` contradicts the type; invalid as `formatParameter`
 */
export function requestBody(kind: ResourceKind, contentType: string | undefined, format?: string): BodyType {
  const requests = TYPES[kind].requests;
  const wanted = takesFormat(kind) ? formatParameter(format) : null;
  if (contentType === undefined || contentType.trim() === '') return ownChoice(requests, wanted);
  const name = normalName(contentType);
  const type = counted(requests).find((known) => known.mediaType === name);
  if (type === undefined || !(isUtf8(contentType) || isLatin1Xml(contentType)))
    throw unsupported(requests, contentType);
  const refined = refine(type, wanted);
  if (refined === null) throw contradiction(wanted, type.mediaType);
  return { format: refined, mediaType: baseType(contentType) };
}

/**
 * The form of a response body and the name it goes by: the type of `Accept` with the highest quality, the
 * client's own spelling of it; `format` refines `application/json` and stands in for a missing `Accept`.
 *
 * @throws not-acceptable when nothing the client takes can be made, or `format` contradicts it; invalid as
 * `formatParameter`
 */
export function responseBody(
  kind: ResourceKind,
  accept: string | undefined,
  wishes: ResponseWishes = {},
): BodyType {
  const wanted = takesFormat(kind) ? formatParameter(wishes.format) : null;
  const offers = TYPES[kind].responses.filter((type) => refine(type, wanted) !== null);
  const best = bestOffer(offers, acceptedRanges(accept));
  if (best === null) throw notAcceptable(wanted, offers);
  if (best.range.specificity === 'exact')
    return { format: wanted ?? best.offer.format, mediaType: best.range.name };
  if (wanted === null) return withVendorWord(best.offer, wishes);
  return sameAsRequest(offers, wanted, wishes) ?? withVendorWord(ownChoice(offers, wanted), wishes);
}

/**
 * The form of an error body: JSON unless XML is the only one of both that the client takes
 * (docs/spec/rest.md#error-body).
 */
export function errorFormat(accept: string | undefined): 'JSON' | 'XML' {
  const ranges = acceptedRanges(accept);
  return bestOffer([JSON_TYPE], ranges) === null && bestOffer([XML_TYPE], ranges) !== null ? 'XML' : 'JSON';
}

/** Whether a header that names media types spells the vendor `std` (docs/spec/rest.md#vendor-names). */
export function usesStdWord(header: string | undefined): boolean {
  return header !== undefined && /\bapplication\/std\./i.test(header);
}

function takesFormat(kind: ResourceKind): boolean {
  return kind === 'composition' || kind === 'template-example';
}

/** The form that a type has under the wish of the parameter `format`; null when they contradict. */
function refine(type: BodyType, wanted: ContentFormat | null): BodyFormat | null {
  if (wanted === null || type.format === wanted) return type.format;
  return type.format === 'JSON' && (wanted === 'FLAT' || wanted === 'STRUCTURED') ? wanted : null;
}

function ownChoice(types: readonly BodyType[], wanted: ContentFormat | null): BodyType {
  const type = counted(types).find((known) => wanted === null || known.format === wanted);
  if (type === undefined) throw new CdrError('unsupported-media-type', 'a request body is not expected here');
  return type;
}

function withVendorWord(type: BodyType, wishes: ResponseWishes): BodyType {
  const word = wishes.vendorWord ?? (usesStdWord(wishes.contentType) ? 'std' : 'openehr');
  return { ...type, mediaType: type.mediaType.replace('/openehr.', `/${word}.`) };
}

/** The name the request body went by, where `format` asks for the answer in the same form. */
function sameAsRequest(
  offers: readonly BodyType[],
  wanted: ContentFormat,
  wishes: ResponseWishes,
): BodyType | null {
  if (wishes.contentType === undefined) return null;
  const name = normalName(wishes.contentType);
  const known = counted(offers).some((offer) => offer.mediaType === name);
  return known ? { format: wanted, mediaType: baseType(wishes.contentType) } : null;
}

interface Match {
  readonly offer: BodyType;
  readonly range: AcceptRange;
}

/** The acceptable offer of the highest quality; among equals the more specific, then the earlier range. */
function bestOffer(offers: readonly BodyType[], ranges: readonly AcceptRange[]): Match | null {
  let best: Match | null = null;
  for (const offer of counted(offers)) {
    const range = counted(ranges).find((candidate) => candidate.matches(offer.mediaType));
    if (range === undefined || range.quality === 0) continue;
    if (best === null || isBetter(range, best.range, ranges)) best = { offer, range };
  }
  return best;
}

/** `ranges` stand by specificity, then in the client's order. */
function isBetter(range: AcceptRange, than: AcceptRange, ranges: readonly AcceptRange[]): boolean {
  if (range.quality !== than.quality) return range.quality > than.quality;
  return ranges.indexOf(range) < ranges.indexOf(than);
}

function unsupported(requests: readonly BodyType[], contentType: string): CdrError {
  const found = contentType.slice(0, MAX_SHOWN).replace(/[^\x20-\x7e]/g, '?');
  const hint = normalName(contentType) === FORM ? '; curl sends this type unless -H names another one' : '';
  const expected = namesOf(requests);
  return new CdrError(
    'unsupported-media-type',
    `the content type ${found} is not supported, expected ${expected} in UTF-8${hint}`,
  );
}

function contradiction(wanted: ContentFormat | null, mediaType: string): CdrError {
  return new CdrError('not-acceptable', `format ${wanted ?? ''} contradicts the media type ${mediaType}`);
}

function notAcceptable(wanted: ContentFormat | null, offers: readonly BodyType[]): CdrError {
  const asked = wanted === null ? '' : ` for format ${wanted}`;
  return new CdrError('not-acceptable', `Accept names no type that can be made${asked}: ${namesOf(offers)}`);
}

function namesOf(types: readonly BodyType[]): string {
  return counted(types)
    .map((type) => type.mediaType)
    .join(', ');
}
