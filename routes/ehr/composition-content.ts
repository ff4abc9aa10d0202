import { collapsedToken } from '../../openehr/base/text.js';
import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import { violationAt } from '../../openehr/base/violation.js';
import { tryHere, within } from '../../openehr/base/work.js';
import { isJsonObject, jsonObjectOf, type JsonObject } from '../../openehr/base/json.js';
import type { RevisionPin, SimplifiedReader } from '../../change/commit/context.js';
import { judgedBy } from '../../change/composition/judged-by.js';
import type { CompositionReader } from '../../change/composition/composition.js';
import { readObject } from '../../change/content/content.js';
import { templateText } from '../../change/composition/validate-composition.js';
import type { LargeComposition } from '../../change/content/large-composition.js';
import { rootName } from '../../change/commit/resource.js';
import { revisionNotFound, templateNotFound } from '../../change/commit/refusal.js';
import { accept, type AcceptedFinding } from '../../openehr/rm/lenient.js';
import { wrongForm, type JsonForm } from '../../openehr/format/flat/body-form.js';
import { readFlatOver } from '../../openehr/format/flat/carry-over.js';
import { readFlat } from '../../openehr/format/flat/read.js';
import { requestBody, responseBody, type BodyType } from '../http/negotiation/media-type.js';
import { structuredToFlat } from '../../openehr/format/composition/structured.js';
import type { VersionDoc } from '../../models/version.js';
import { revisionInUse, revisionText, type RevisionText } from '../../models/definition/revision-in-use.js';
import { compiledTemplate, someTemplateIds } from '../../models/definition/template.js';
import type { CompiledTemplate } from '../../openehr/template/compile.js';
import { isLarge, parseLargeText, readLargeComposition } from '../../workers/large-body.js';
import {
  type Exchange,
  parseCanonical,
  preferredContent,
  requiredBodyText,
  setResourceHeaders,
  versionHeaders,
  writeText,
} from '../http/exchange.js';
import { queryParameter } from '../http/parameter-values.js';
import { bodyOwner, bodyReading, compilingFor } from '../http/request/request-body.js';
import { utf8 } from '../http/request/commit-pairs.js';
import { requestVendorWord, vendorHeader } from '../http/request/headers.js';
import { warnOfContextKeys, warnOfEmptyLists } from '../http/answer/warning.js';
import { writtenComposition, writtenXml } from '../http/answer/written.js';
import { locatedInFlat, locatedInFlatOver, locatedInForm } from './located-violations.js';

/** Forms of a COMPOSITION request. @throws unsupported-media-type, then not-acceptable, invalid */
export function compositionExchange(ctx: Context): Exchange {
  const request = requestBody('composition', ctx.get('Content-Type'), formatOf(ctx));
  return { request, response: compositionResponse(ctx) };
}

/** Form of a COMPOSITION answer. @throws not-acceptable, invalid */
export function compositionResponse(ctx: Context): BodyType {
  return responseBody('composition', ctx.get('Accept'), {
    format: formatOf(ctx),
    contentType: ctx.get('Content-Type'),
    vendorWord: requestVendorWord(ctx),
  });
}

function formatOf(ctx: Context): string | undefined {
  return queryParameter(ctx, 'format') ?? undefined;
}

/** What a FLAT body is a change of; null: there is no such version. */
type Before = () => Promise<VersionDoc | null>;

/**
 * Parses the body and gives what turns it into canonical JSON later, once the request itself is in order; a large
 * body is read in another thread. `findings`: of lenient validation, filled with what is left out. `before`: what the client
 * wants to be kept of, where a simplified form does not say it.
 * @throws invalid when the body is missing or malformed, or a simplified form comes without template id; too-large
 * beyond the limits
 */
export async function compositionReader(
  ctx: Context,
  form: BodyType,
  { findings, before }: { readonly findings?: AcceptedFinding[] | undefined; readonly before?: Before } = {},
): Promise<LocatingReader> {
  const text = requiredBodyText(ctx);
  const { templateId, pin } = templateFrom(ctx);
  const isSimplified = form.format === 'FLAT' || form.format === 'STRUCTURED';
  const isStructured = form.format === 'STRUCTURED';
  if (isLarge(text)) {
    const body = { text, isXml: form.format === 'XML', declaredType: 'COMPOSITION', ...bodyReading(ctx) };
    const json = await parseLargeText(body, bodyOwner(ctx));
    if (!isSimplified) {
      if (form.format === 'JSON') warnOfEmptyLists(ctx, text);
      return { read: () => readLarge(ctx, json, findings), located: asItIs, pin };
    }
    const simplifiedId = requireSimplified(json.startsWith('{'), templateId);
    const large = { json, isStructured, templateId: simplifiedId, pin };
    return { read: () => fromLargeSimplified(ctx, large, before), located: asItIs, pin };
  }
  const parsed = await parseCanonical(ctx, text, form, 'COMPOSITION');
  if (isJsonObject(parsed) && form.format !== 'XML') requireForm(isSimplified ? form.format : 'JSON', parsed);
  if (!isSimplified)
    return {
      read: () =>
        Promise.resolve().then(() =>
          within(ctx.state.work, () => readObject(parsed, 'COMPOSITION', findings)),
        ),
      located: (error) => locatedInForm(ctx, error, { parsed, isLenient: findings !== undefined }),
      pin,
    };
  const simplifiedId = requireSimplified(isJsonObject(parsed), templateId);
  const simplified = { body: parsed as JsonObject, isStructured, pin };
  return {
    pin,
    read: () => fromSimplified(ctx, simplified, simplifiedId, before),
    located: async (error) => {
      const previous = await contentBefore(before, simplifiedId);
      if (previous === null) return locatedInFlat(ctx, error, () => flatOf(simplified), simplifiedId);
      return locatedInFlatOver(ctx, error, () => flatOf(simplified), {
        templateId: simplifiedId,
        before: jsonObjectOf(previous),
      });
    },
  };
}

/** Reads the COMPOSITION of a request, and returns where in the body an error that came of it stands. */
interface LocatingReader {
  readonly read: CompositionReader;
  /** The revision that the request names. */
  readonly pin: RevisionPin | undefined;
  readonly located: (error: unknown) => Promise<unknown>;
}

const asItIs = (error: unknown): Promise<unknown> => Promise.resolve(error);

/** How the COMPOSITIONs of a body are to be read that are in a simplified form and of the template that the request names. */
export interface SimplifiedForm {
  readonly format: 'FLAT' | 'STRUCTURED';
  readonly templateId: string | null;
  readonly pin: RevisionPin | undefined;
}

/**
 * The simplified form that `form` is, null when it is canonical, and the revision that the request names.
 * @throws invalid when it names two templates
 */
export function simplifiedForm(
  ctx: Context,
  { format }: BodyType,
): { readonly simplified: SimplifiedForm | null; readonly pin: RevisionPin | undefined } {
  const named = templateFrom(ctx);
  const simplified = format === 'FLAT' || format === 'STRUCTURED' ? { format, ...named } : null;
  return { simplified, pin: named.pin };
}

/** Reads COMPOSITIONs in a simplified form that stand within a body; `mayBeLarge`: as of a large body, in another thread. */
export function simplifiedReader(
  ctx: Context,
  { format, templateId: named, pin }: SimplifiedForm,
  mayBeLarge: boolean,
): SimplifiedReader {
  const isStructured = format === 'STRUCTURED';
  return async (body) => {
    requireForm(format, body);
    const templateId = requireSimplified(true, named);
    const json = mayBeLarge ? JSON.stringify(body) : '';
    return isLarge(json)
      ? fromLargeSimplified(ctx, { json, isStructured, templateId, pin })
      : fromSimplified(ctx, { body, isStructured, pin }, templateId);
  };
}

/** @throws invalid when the body is in another form */
function requireForm(said: JsonForm, body: JsonObject): void {
  const message = wrongForm(said, body);
  if (message !== null)
    throw new CdrError('invalid', message, { problems: [violationAt('/', message, 'wrong-form')] });
}

async function readLarge(
  ctx: Context,
  json: string,
  findings?: AcceptedFinding[],
): Promise<LargeComposition> {
  const large = await readLargeComposition({ json, leavesOut: findings !== undefined }, bodyOwner(ctx));
  if (findings !== undefined) for (const finding of large.leftOut) accept(findings, finding);
  return large;
}

/** The template id of a simplified body. @throws invalid when it is no object or no template is named */
function requireSimplified(isObject: boolean, templateId: string | null): string {
  if (!isObject) throw new CdrError('invalid', 'the body must be an object');
  if (templateId !== null) return templateId;
  const message = 'the template id is required: header openEHR-TEMPLATE_ID or query templateId';
  throw new CdrError('invalid', message);
}

interface Simplified {
  readonly body: JsonObject;
  readonly isStructured: boolean;
  readonly pin?: RevisionPin | undefined;
}

/** The body as FLAT. */
export function flatOf({ body, isStructured }: Simplified): JsonObject {
  return isStructured ? structuredToFlat(body) : body;
}

async function fromSimplified(
  ctx: Context,
  simplified: Simplified,
  templateId: string,
  before?: Before,
): ReturnType<CompositionReader> {
  const template = await knownTemplate(ctx, templateId, simplified.pin);
  const warnings: string[] = [];
  const previous = await contentBefore(before, templateId);
  const here = tryHere(ctx.state.work, () => {
    const options = { now: new Date(), warnings, template };
    const flat = flatOf(simplified);
    const read =
      previous === null
        ? readFlat(flat, template, options)
        : readFlatOver(flat, jsonObjectOf(previous), options);
    return readObject(read, 'COMPOSITION');
  });
  if (here === null) {
    const { isStructured, pin } = simplified;
    const json = JSON.stringify(simplified.body);
    return fromLargeSimplified(ctx, { json, isStructured, templateId, pin }, before);
  }
  warnOfContextKeys(ctx, warnings);
  return here.value;
}

interface LargeSimplified {
  readonly json: string;
  readonly isStructured: boolean;
  readonly templateId: string;
  readonly pin: RevisionPin | undefined;
}

async function fromLargeSimplified(
  ctx: Context,
  { json, isStructured, templateId, pin }: LargeSimplified,
  before?: Before,
): Promise<LargeComposition> {
  const template = templateText(await knownText(templateId, pin?.revision ?? null));
  const previous = await contentBefore(before, templateId);
  const simplified = { isStructured, template, now: Date.now(), ...(previous !== null && { previous }) };
  const large = await readLargeComposition({ json, simplified }, bodyOwner(ctx));
  warnOfContextKeys(ctx, large.warnings);
  return large;
}

/** The JSON of what is changed; null: nothing is to be kept of it, or it is of another template. */
async function contentBefore(before: Before | undefined, templateId: string): Promise<string | null> {
  const version = (await before?.()) ?? null;
  return version?.template_id === templateId ? version.data : null;
}

async function knownTemplate(
  ctx: Context,
  templateId: string,
  pin: RevisionPin | undefined,
): Promise<CompiledTemplate> {
  if (pin !== undefined) {
    const pinned = await revisionInUse(templateId, pin.revision, compilingFor(ctx));
    if (pinned === null) throw revisionNotFound(templateId, pin.revision, 'unprocessable');
    return pinned.compiled;
  }
  const template = await compiledTemplate(templateId, compilingFor(ctx));
  if (template === null) throw templateNotFound(templateId, 'unprocessable', await someTemplateIds());
  return template;
}

async function knownText(templateId: string, revision: string | null): Promise<RevisionText> {
  const text = await revisionText(templateId, revision);
  if (text !== null) return text;
  if (revision !== null) throw revisionNotFound(templateId, revision, 'unprocessable');
  throw templateNotFound(templateId, 'unprocessable', await someTemplateIds());
}

/** The template of header or query, and the revision that the header names. @throws invalid when both are given and differ */
function templateFrom(ctx: Context): {
  readonly templateId: string | null;
  readonly pin: RevisionPin | undefined;
} {
  const written = vendorHeader(ctx, 'template-id');
  const { id, revision } = written === null ? { id: null } : pinnedId(utf8(written));
  const header = id === null ? null : collapsedToken(id);
  const query = queryParameter(ctx, 'templateId');
  if (header !== null && query !== null && header !== query)
    throw new CdrError('invalid', 'the header openEHR-TEMPLATE_ID and the query templateId differ');
  const named = header ?? query;
  const templateId = named === '' ? null : named;
  const pin = templateId === null || revision === undefined ? undefined : { templateId, revision };
  return { templateId, pin };
}

/** What a request names behind a template id to be judged by one of its revisions: `<template_id>;revision=<number>`, quoted or not. */
function pinnedId(written: string): { readonly id: string; readonly revision?: string } {
  const at = written.lastIndexOf(';');
  const [name = '', ...values] = written.slice(at + 1).split('=');
  if (at < 0 || name.trim() !== 'revision' || values.length === 0) return { id: written };
  const value = values.join('=').trim();
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return { id: written.slice(0, at), revision: isQuoted ? value.slice(1, -1) : value };
}

/** Writes a version's COMPOSITION in the form asked, with its headers; 204 for a deletion. */
export async function writeComposition(ctx: Context, form: BodyType, stored: VersionDoc): Promise<void> {
  const isSimplified = form.format === 'FLAT' || form.format === 'STRUCTURED';
  const version = isSimplified ? stored : preferredContent(ctx, stored);
  setResourceHeaders(ctx, versionHeaders(version));
  if (version.data === null) {
    ctx.status = 204;
    return;
  }
  writeText(ctx, form, form.format === 'JSON' ? version.data : await compositionIn(ctx, version, form));
}

/** The COMPOSITION of a version in another form than it is stored in. @throws unprocessable when its template is not there */
export async function compositionIn(ctx: Context, version: VersionDoc, form: BodyType): Promise<string> {
  const json = version.data ?? '{}';
  // XML needs no template, and so must not fail for want of one.
  if (form.format === 'XML') return writtenXml(ctx, json, rootName('COMPOSITION'));
  const templateId = version.template_id ?? '';
  const judge = await judgedBy(version, compilingFor(ctx));
  if (judge === null) throw templateNotFound(templateId, 'unprocessable', await someTemplateIds());
  const { compiled, digest } = judge;
  const stored = (): Promise<RevisionText> => knownText(templateId, digest);
  return writtenComposition(ctx, json, form.format, { compiled, stored });
}
