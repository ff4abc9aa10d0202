import Router from '@koa/router';
import type { Context } from 'koa';

import { CdrError } from '../base/errors.js';
import { formatUtc } from '../base/iso8601.js';
import type { JsonObject } from '../base/json.js';
import { writeXml } from '../base/xml.js';
import { createTemplate } from '../change/template.js';
import type { BodyType } from '../format/media-type.js';
import { requestBody, responseBody } from '../format/media-type.js';
import type { TemplateDoc, TemplateSummary } from '../models/template.js';
import { compiledTemplate, templateById, templateSummaries } from '../models/template.js';
import { compileTemplate } from '../template/compile.js';
import { parsePrefer } from './prefer.js';
import { requestState, STANDARD_API } from './request-state.js';

const BASE = '/definition/template/adl1.4';

/** The operational templates (ADL 1.4) of the Definition API. ITS-REST: template_adl1.4_*. */
export function templateRoutes(): Router {
  const router = new Router();
  router.post(BASE, uploadTemplate);
  router.get(BASE, listTemplates);
  router.get(`${BASE}/:template_id`, getTemplate);
  return router;
}

/** The template id of the path, and its stored document. @throws not-found */
export async function templateFrom(ctx: Context): Promise<TemplateDoc> {
  const templateId = templateIdFrom(ctx);
  const doc = await templateById(templateId);
  if (doc === null) throw unknownTemplate(templateId);
  return doc;
}

async function uploadTemplate(ctx: Context): Promise<void> {
  requestBody('template-upload', ctx.get('Content-Type'));
  const type = responseBody('template-upload', ctx.get('Accept'));
  const opt: unknown = ctx.request.body;
  if (typeof opt !== 'string') throw new CdrError('invalid', 'Required request body is missing');
  const doc = await createTemplate({ opt, compiled: compileTemplate(opt) });
  await writeUploaded(ctx, doc, type);
}

async function writeUploaded(ctx: Context, doc: TemplateDoc, type: BodyType): Promise<void> {
  const { returns, applied } = parsePrefer(ctx.get('Prefer'));
  ctx.status = 201;
  ctx.set('Location', locationOf(ctx, doc._id));
  setTemplateHeaders(ctx, doc);
  if (applied !== '') ctx.set('Preference-Applied', applied);
  if (returns === 'representation') await writeTemplate(ctx, doc, type);
  else if (returns === 'identifier') writeJson(ctx, 'application/json', { uid: doc._id });
  else ctx.body = '';
}

async function listTemplates(ctx: Context): Promise<void> {
  const type = responseBody('template-list', ctx.get('Accept'));
  const records = (await templateSummaries()).map(recordOf);
  if (type.format !== 'XML') {
    writeJson(ctx, type.mediaType, records);
    return;
  }
  ctx.type = `${type.mediaType}; charset=utf-8`;
  ctx.body = writeXml({ name: 'templates', children: records.map(xmlOf) });
}

async function getTemplate(ctx: Context): Promise<void> {
  const type = responseBody('template', ctx.get('Accept'));
  const doc = await templateFrom(ctx);
  setTemplateHeaders(ctx, doc);
  await writeTemplate(ctx, doc, type);
}

async function writeTemplate(ctx: Context, doc: TemplateDoc, type: BodyType): Promise<void> {
  if (type.format === 'WEB_TEMPLATE') {
    const compiled = await compiledTemplate(doc._id);
    if (compiled === null) throw unknownTemplate(doc._id);
    writeJson(ctx, type.mediaType, compiled.webTemplate);
    return;
  }
  ctx.type = `${type.mediaType}; charset=utf-8`;
  ctx.body = doc.opt;
}

/** A template id may hold any character; what a header cannot carry is percent-encoded. */
function setTemplateHeaders(ctx: Context, doc: TemplateDoc): void {
  const tag = doc._id.replaceAll(/[^\x20\x21\x23-\x7e]/gu, (character) => encodeURIComponent(character));
  ctx.set('ETag', `"${tag}"`);
  ctx.set('Last-Modified', doc.created_timestamp.toUTCString());
}

function locationOf(ctx: Context, templateId: string): string {
  return `${requestState(ctx).origin}${STANDARD_API}${BASE}/${encodeURIComponent(templateId)}`;
}

function templateIdFrom(ctx: Context): string {
  return (ctx.params as Record<string, string>).template_id ?? '';
}

function unknownTemplate(templateId: string): CdrError {
  return new CdrError('not-found', `Template with template_id '${templateId}' does not exist`);
}

function recordOf(summary: TemplateSummary): Record<string, string> {
  return {
    template_id: summary._id,
    concept: summary.concept,
    archetype_id: summary.archetype_id,
    created_timestamp: formatUtc(summary.created_timestamp),
  };
}

function xmlOf(record: Record<string, string>) {
  return {
    name: 'template',
    children: Object.entries(record).map(([name, text]) => ({ name, children: [text] })),
  };
}

function writeJson(ctx: Context, mediaType: string, value: JsonObject | JsonObject[]): void {
  ctx.type = `${mediaType}; charset=utf-8`;
  ctx.body = JSON.stringify(value);
}
