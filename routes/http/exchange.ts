import type Joi from 'joi';
import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { violationAt } from '../../openehr/base/violation.js';
import { within } from '../../openehr/base/work.js';
import type { Settings } from '../../config/settings.js';
import { contentAsGiven } from '../../change/as-given.js';
import { resourceText, rootName, type Resource } from '../../change/commit/resource.js';
import { versionPath } from '../../change/commit/refusal.js';
import { parseJson } from '../../openehr/format/canonical-json.js';
import { toXml } from '../../openehr/format/canonical-xml.js';
import { requestBody, responseBody, type BodyType } from './negotiation/media-type.js';
import type { VersionDoc } from '../../models/version.js';
import { contentKinds } from '../../change/access/content-kinds.js';
import { auditAbout } from './audit-trail.js';
import { LENIENT, parsePrefer } from './request/prefer.js';
import { bodyReading, parseJsonBody, parseXmlBody } from './request/request-body.js';
import { STANDARD_API } from './request/request-state.js';
import { writtenXml } from './answer/written.js';
import { addWarnings, warnOfEmptyLists } from './answer/warning.js';

/** What an error says of a body: at most so many problems, each in so many characters. */
const MAX_PROBLEMS = 10;
const MAX_PROBLEM = 500;

/** How the body of a request is to be read and that of its answer to be written. */
export interface Exchange {
  readonly request: BodyType;
  readonly response: BodyType;
}

/** Forms of a request with a canonical body. @throws unsupported-media-type, then not-acceptable */
export function rmExchange(ctx: Context): Exchange {
  const request = requestBody('rm', ctx.get('Content-Type'));
  return { request, response: responseBody('rm', ctx.get('Accept')) };
}

/** Form of the answer of a request without body. @throws not-acceptable */
export function rmResponse(ctx: Context): BodyType {
  return responseBody('rm', ctx.get('Accept'));
}

/** The body as text, null when there is none. */
export function bodyText(ctx: Context): string | null {
  const text: unknown = ctx.request.body;
  return typeof text === 'string' && text.trim() !== '' ? text : null;
}

/** As `bodyText`. @throws invalid when there is none */
export function requiredBodyText(ctx: Context): string {
  const text = bodyText(ctx);
  if (text === null) throw new CdrError('invalid', 'Required request body is missing');
  return text;
}

/**
 * A JSON object of a request. `seen`: what to note of it even if it is refused.
 * @throws unsupported-media-type; invalid with everything that is wrong
 */
export function bodyOf<T>(
  ctx: Context,
  schema: Joi.ObjectSchema<T>,
  seen: (body: JsonObject) => void = () => undefined,
): T {
  requestBody('query', ctx.get('Content-Type'));
  const text = requiredBodyText(ctx);
  const body = within(ctx.state.work, () => parseJson(text, bodyReading(ctx)));
  if (!isJsonObject(body)) throw new CdrError('invalid', 'the body must be an object');
  seen(body);
  const validated = schema.validate(body, { abortEarly: false, errors: { wrap: { label: false } } });
  if (validated.error !== undefined) throw refused(validated.error.details);
  return validated.value;
}

function refused(details: readonly Joi.ValidationErrorItem[]): CdrError {
  const shortened = (text: string): string => text.slice(0, MAX_PROBLEM);
  const problems = details
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => violationAt(shortened(`/${path.join('/')}`), shortened(message)));
  const more = details.length > MAX_PROBLEMS ? [`and ${details.length - MAX_PROBLEMS} more`] : [];
  const message = [...problems.map((problem) => problem.message), ...more].join('; ');
  return new CdrError('invalid', message, { problems });
}

/** A canonical body parsed, not validated. @throws invalid when it is malformed, too-large beyond the limits */
export function parseCanonical(
  ctx: Context,
  text: string,
  form: BodyType,
  declaredType: string,
): Promise<JsonValue> {
  if (form.format === 'XML') return parseXmlBody(ctx, text, declaredType);
  if (form.format === 'JSON') warnOfEmptyLists(ctx, text);
  return parseJsonBody(ctx, text);
}

/** Absolute URL of a path below the standard API. */
export function absoluteUrl(ctx: Context, path: string): string {
  return `${ctx.state.baseUrl}${STANDARD_API}${path}`;
}

/** `ETag`, `Location` and `Last-Modified` of an answer. */
export interface ResourceHeaders {
  readonly etag?: string;
  /** Below the standard API. */
  readonly path?: string;
  readonly lastModified?: Date;
  /** The version whose content is answered: it never changes, as attestations of a VERSION may. */
  readonly contentVersion?: string;
  /** That version, for the audit. */
  readonly content?: VersionDoc;
  /** Digest of the revision of its template by which the version was judged, where it notes one. */
  readonly templateRevision?: string | undefined;
}

/** Sets the headers for the state of a resource that is answered. */
export function setResourceHeaders(ctx: Context, headers: ResourceHeaders): void {
  if (headers.etag !== undefined) {
    ctx.set('ETag', `"${headers.etag}"`);
    // What an ETag names is what was answered.
    auditAbout(ctx, { objects: [headers.etag] });
  }
  if (headers.path !== undefined) ctx.set('Location', absoluteUrl(ctx, headers.path));
  const { auditDraft: draft, judgement } = ctx.state;
  if (headers.content !== undefined && (draft?.wishes.tellsKinds === true || judgement !== undefined))
    auditAbout(ctx, contentKinds([headers.content]));
  if (headers.contentVersion !== undefined) ctx.state.contentVersion = headers.contentVersion;
  if (headers.lastModified !== undefined) ctx.set('Last-Modified', headers.lastModified.toUTCString());
  if (headers.templateRevision !== undefined)
    ctx.set('Everchart-Template-Revision', headers.templateRevision);
}

/** The headers of the content of one version. */
export function versionHeaders(version: VersionDoc): ResourceHeaders {
  return {
    etag: version._id,
    path: versionPath(version.ehr_id, version.type, version._id),
    lastModified: version.time_committed,
    contentVersion: version._id,
    content: version,
    templateRevision: version.template_digest,
  };
}

/** Writes canonical JSON text or XML. `xmlRoot`: name of the root element. */
export async function writeResource(
  ctx: Context,
  form: BodyType,
  resource: Resource,
  xmlRoot: string,
): Promise<void> {
  await writeJson(ctx, form, resourceText(resource), xmlRoot);
}

/** Writes canonical JSON text as it is, or as XML. `xmlRoot`: name of the root element. */
export async function writeJson(ctx: Context, form: BodyType, json: string, xmlRoot: string): Promise<void> {
  writeText(ctx, form, form.format === 'XML' ? await writtenXml(ctx, json, xmlRoot) : json);
}

/** Writes a body that is text already. */
export function writeText(ctx: Context, form: BodyType, body: string | Buffer): void {
  ctx.type = `${form.mediaType}; charset=utf-8`;
  // Node sends a text together with the head, whose bytes beyond ASCII (item tags) it would then encode once more.
  ctx.body = typeof body === 'string' ? Buffer.from(body) : body;
}

/** Writes the RM object of a version with its headers; 204 without body for a deletion. */
export async function writeVersion(ctx: Context, form: BodyType, stored: VersionDoc): Promise<void> {
  const version = preferredContent(ctx, stored);
  setResourceHeaders(ctx, versionHeaders(version));
  if (version.data === null) ctx.status = 204;
  else await writeJson(ctx, form, version.data, rootName(version.type));
}

/** The version as a read shows it: with `validation=lenient` together with what lenient validation left out of it. */
export function preferredContent(ctx: Context, version: VersionDoc): VersionDoc {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  const data = isRead && parsePrefer(ctx.get('Prefer')).isLenient ? contentAsGiven(version) : null;
  if (data === null) return version;
  ctx.set('Preference-Applied', LENIENT);
  // The ETag is that of the content as it is stored.
  ctx.set('Cache-Control', 'no-store');
  return { ...version, data };
}

/** An answer to POST or PUT. */
export interface WriteAnswer extends ResourceHeaders {
  readonly status: 200 | 201;
  /** What `return=identifier` answers. */
  readonly uid: string;
  readonly form: BodyType;
  /** 204 instead of 200 when nothing but the status is asked (`PREFER_MINIMAL_UPDATE_STATUS`). */
  readonly minimalStatus?: 200 | 204;
  /** Writes the whole resource, for `return=representation`. */
  readonly represent: () => Promise<void>;
}

/** Answers a write as `Prefer` asks. docs/spec/rest.md#prefer */
export async function answerWrite(ctx: Context, answer: WriteAnswer): Promise<void> {
  const { returns, applied } = parsePrefer(ctx.get('Prefer'), ctx.state.preferDefault);
  setResourceHeaders(ctx, answer);
  setPreferenceApplied(ctx, applied);
  ctx.state.returns = returns;
  ctx.status = answer.status;
  if (returns === 'representation') await answer.represent();
  else if (returns === 'identifier') writeIdentifier(ctx, answer);
  else writeNothing(ctx, answer);
}

function setPreferenceApplied(ctx: Context, applied: string): void {
  const all = [
    applied,
    ctx.state.isLenient && parsePrefer(ctx.get('Prefer')).isLenient ? LENIENT : '',
  ].filter((text) => text !== '');
  if (all.length > 0) ctx.set('Preference-Applied', all.join(', '));
}

/** Says in `Warning` headers what lenient validation accepted in versions. */
export function warnOfFindings(
  ctx: Context,
  versions: readonly Pick<VersionDoc, '_id' | 'validation_findings'>[],
): void {
  const ignored = versions.flatMap(({ _id, validation_findings: findings = [] }) =>
    findings.map(({ path, message, code, dropped }) => ({
      ...{ kind: 'finding' as const, name: dropped?.name ?? code },
      text: `${versions.length > 1 ? `${_id} ` : ''}${path}: ${message}`,
    })),
  );
  addWarnings(ctx, ignored);
}

/** What a write of one version is answered with. */
export interface VersionAnswer {
  readonly version: VersionDoc;
  readonly status: 200 | 201;
  readonly form: BodyType;
  /** Writes the version whole. */
  readonly represent: () => Promise<void>;
}

/** Answers a POST or PUT of a versioned object as `Prefer` asks. docs/spec/rest.md#prefer */
export function answerVersion(ctx: Context, settings: Settings, answer: VersionAnswer): Promise<void> {
  const { version, ...rest } = answer;
  warnOfFindings(ctx, [version]);
  return answerWrite(ctx, {
    ...rest,
    uid: version._id,
    minimalStatus: settings.preferMinimalUpdateStatus,
    ...versionHeaders(version),
  });
}

function writeIdentifier(ctx: Context, { form, uid }: WriteAnswer): void {
  if (form.format === 'XML') writeText(ctx, form, toXml({ uid }, 'identifier'));
  else writeText(ctx, { format: 'JSON', mediaType: 'application/json' }, JSON.stringify({ uid }));
}

function writeNothing(ctx: Context, answer: WriteAnswer): void {
  if (answer.status === 200 && answer.minimalStatus === 204) {
    ctx.status = 204;
    return;
  }
  ctx.body = '';
  ctx.remove('Content-Type');
}

/** Answers a logical deletion: 204 with the headers of the deletion version. */
export function answerDeletion(ctx: Context, version: VersionDoc): void {
  const { applied } = parsePrefer(ctx.get('Prefer'));
  setResourceHeaders(ctx, versionHeaders(version));
  setPreferenceApplied(ctx, applied);
  ctx.status = 204;
}
