import type { Context } from 'koa';
import { CdrError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import { readObject } from '../../change/content.js';
import { templateNotFound } from '../../change/refusal.js';
import { parseJson } from '../../format/canonical-json.js';
import { readFlat } from '../../format/flat/read.js';
import { requestBody, responseBody, type BodyType } from '../../format/media-type.js';
import { structuredToFlat } from '../../format/structured.js';
import type { VersionDoc } from '../../models/version.js';
import { compiledTemplate } from '../../models/template.js';
import type { CompiledTemplate } from '../../template/compile.js';
import { compositionText, compositionXml } from './composition-text.js';
import type { Exchange } from '../http/exchange.js';
import {
  parseCanonical,
  requiredBodyText,
  setResourceHeaders,
  versionHeaders,
  writeText,
} from '../http/exchange.js';
import { queryParameter } from '../http/parameter-values.js';
import { requestVendorWord, vendorHeader } from '../http/vendor-header.js';

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

/**
 * Parses the body and gives what turns it into canonical JSON later, once the request itself is in order.
 * @throws invalid when the body is missing or malformed, or a simplified form comes without template id
 */
export function compositionReader(ctx: Context, form: BodyType): () => Promise<JsonObject> {
  const text = requiredBodyText(ctx);
  const templateId = templateIdFrom(ctx);
  if (form.format === 'FLAT' || form.format === 'STRUCTURED') {
    const simplified = parseJson(text);
    if (!isJsonObject(simplified)) throw new CdrError('invalid', 'the body must be an object');
    if (templateId === null)
      throw new CdrError(
        'invalid',
        'the template id is required: header openEHR-TEMPLATE_ID or query templateId',
      );
    return () => fromSimplified(simplified, form, templateId);
  }
  const parsed: JsonValue = parseCanonical(text, form, 'COMPOSITION');
  return () => Promise.resolve().then(() => readObject(parsed, 'COMPOSITION'));
}

async function fromSimplified(
  simplified: JsonObject,
  form: BodyType,
  templateId: string,
): Promise<JsonObject> {
  const template = await knownTemplate(templateId);
  const flat = form.format === 'STRUCTURED' ? structuredToFlat(simplified) : simplified;
  return readObject(readFlat(flat, template, { now: new Date() }), 'COMPOSITION');
}

async function knownTemplate(templateId: string): Promise<CompiledTemplate> {
  const template = await compiledTemplate(templateId);
  if (template === null) throw templateNotFound(templateId, 'unprocessable');
  return template;
}

/** Template id of header or query. @throws invalid when both are given and differ */
function templateIdFrom(ctx: Context): string | null {
  const header = vendorHeader(ctx, 'template-id');
  const query = queryParameter(ctx, 'templateId');
  if (header !== null && query !== null && header !== query)
    throw new CdrError('invalid', 'the header openEHR-TEMPLATE_ID and the query templateId differ');
  const templateId = header ?? query;
  return templateId === '' ? null : templateId;
}

/** Writes a version's COMPOSITION in the form asked, with its headers; 204 for a deletion. */
export async function writeComposition(ctx: Context, form: BodyType, version: VersionDoc): Promise<void> {
  setResourceHeaders(ctx, versionHeaders(version));
  if (version.data === null) {
    ctx.status = 204;
    return;
  }
  writeText(ctx, form, form.format === 'JSON' ? version.data : await converted(version, form));
}

async function converted(version: VersionDoc, form: BodyType): Promise<string> {
  const composition = JSON.parse(version.data ?? '{}') as JsonObject;
  // XML needs no template, and so must not fail for want of one.
  if (form.format === 'XML') return compositionXml(composition);
  return compositionText(composition, form, await knownTemplate(version.template_id ?? ''));
}
