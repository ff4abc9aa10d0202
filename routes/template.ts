import Router from '@koa/router';
import type { Context } from 'koa';

import { CdrError } from '../base/errors.js';
import { formatUtc } from '../base/iso8601.js';
import type { Settings } from '../base/settings.js';
import { writeXml } from '../base/xml.js';
import { createTemplate, putTemplate } from '../change/template.js';
import type { BodyType } from '../format/media-type.js';
import { requestBody, responseBody } from '../format/media-type.js';
import type { IdempotentResult } from '../models/idempotency.js';
import type { TemplateDoc, TemplateSummary } from '../models/template.js';
import { compiledTemplate, keepTemplates, templateById, templateSummaries } from '../models/template.js';
import { compileTemplate } from '../template/compile.js';
import type { ResourceHeaders } from './exchange.js';
import { answerWrite, requiredBodyText, setResourceHeaders, writeText } from './exchange.js';
import { idempotent } from './idempotency.js';

const BASE = '/definition/template/adl1.4';

/** The operational templates (ADL 1.4) of the Definition API. ITS-REST: template_adl1.4_*. */
export function templateRoutes(settings: Settings): Router {
  keepTemplates(settings.templateCacheSize);
  const upload = settings.templateAllowOverwrite ? putTemplate : createTemplate;
  const router = new Router();
  router.post(BASE, idempotent(answerUploadAgain), (ctx) => uploadTemplate(ctx, upload));
  router.get(BASE, listTemplates);
  router.get(`${BASE}/:template_id`, getTemplate);
  return router;
}

async function uploadTemplate(ctx: Context, upload: typeof createTemplate): Promise<void> {
  requestBody('template-upload', ctx.get('Content-Type'));
  const type = responseBody('template-upload', ctx.get('Accept'));
  const opt = requiredBodyText(ctx);
  const doc = await upload({ opt, compiled: compileTemplate(opt) });
  await writeUploaded(ctx, doc, type);
}

async function answerUploadAgain(ctx: Context, { uids }: IdempotentResult): Promise<void> {
  const form = responseBody('template-upload', ctx.get('Accept'));
  await writeUploaded(ctx, await requireTemplate(uids.template_id ?? ''), form);
}

function writeUploaded(ctx: Context, doc: TemplateDoc, form: BodyType): Promise<void> {
  return answerWrite(ctx, {
    status: 201,
    uid: doc._id,
    form,
    ...templateHeaders(doc),
    represent: () => writeTemplate(ctx, doc, form),
  });
}

async function listTemplates(ctx: Context): Promise<void> {
  const type = responseBody('template-list', ctx.get('Accept'));
  const records = (await templateSummaries()).map(recordOf);
  if (type.format !== 'XML') {
    writeText(ctx, type, JSON.stringify(records));
    return;
  }
  writeText(ctx, type, writeXml({ name: 'templates', children: records.map(xmlOf) }));
}

async function getTemplate(ctx: Context): Promise<void> {
  const type = responseBody('template', ctx.get('Accept'));
  const doc = await requireTemplate(templateIdFrom(ctx));
  const { etag, lastModified } = templateHeaders(doc);
  setResourceHeaders(ctx, { etag, lastModified });
  await writeTemplate(ctx, doc, type);
}

async function writeTemplate(ctx: Context, doc: TemplateDoc, type: BodyType): Promise<void> {
  if (type.format === 'WEB_TEMPLATE') {
    const compiled = await compiledTemplate(doc._id);
    if (compiled === null) throw unknownTemplate(doc._id);
    writeText(ctx, type, JSON.stringify(compiled.webTemplate));
    return;
  }
  writeText(ctx, type, doc.opt);
}

/** A template id may hold any character; what a header cannot carry is percent-encoded. */
function templateHeaders(doc: TemplateDoc): Required<ResourceHeaders> {
  return {
    etag: doc._id.replaceAll(/[^\x20\x21\x23-\x7e]/gu, (character) => encodeURIComponent(character)),
    path: `${BASE}/${encodeURIComponent(doc._id)}`,
    lastModified: doc.created_timestamp,
  };
}

async function requireTemplate(templateId: string): Promise<TemplateDoc> {
  const doc = await templateById(templateId);
  if (doc === null) throw unknownTemplate(templateId);
  return doc;
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
