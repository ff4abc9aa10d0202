import Router from '@koa/router';
import type { Context } from 'koa';

import { formatUtc } from '../base/iso8601.js';
import type { Settings } from '../base/settings.js';
import { writeXml } from '../base/xml.js';
import { templateNotFound } from '../change/refusal.js';
import { createTemplate, putTemplate } from '../change/template.js';
import type { BodyType } from '../format/media-type.js';
import { requestBody, responseBody } from '../format/media-type.js';
import type { IdempotentResult } from '../models/idempotency.js';
import type { TemplateDoc, TemplateSummary } from '../models/template.js';
import { keepTemplates, templateById, templateSummaries } from '../models/template.js';
import { compileTemplate } from '../template/compile.js';
import { requireTemplateSize } from '../template/template-size.js';
import type { ResourceHeaders } from './exchange.js';
import { answerWrite, requiredBodyText, setResourceHeaders, writeText } from './exchange.js';
import { idempotent } from './idempotency.js';
import { ADL14_TEMPLATES, requireCompiled, templateHeaders, templateIdFrom } from './template-access.js';
import { requestVendorWord } from './vendor-header.js';

/** The operational templates (ADL 1.4) of the Definition API. ITS-REST: template_adl1.4_*. */
export function templateRoutes(settings: Settings): Router {
  keepTemplates(settings.templateCacheSize, settings.templateCacheBytes);
  const store = settings.templateAllowOverwrite ? putTemplate : createTemplate;
  const upload = { store, maxBytes: settings.maxTemplateBytes };
  const router = new Router();
  router.post(ADL14_TEMPLATES, idempotent(answerUploadAgain), (ctx) => uploadTemplate(ctx, upload));
  router.get(ADL14_TEMPLATES, listTemplates);
  router.get(`${ADL14_TEMPLATES}/:template_id`, getTemplate);
  return router;
}

interface Upload {
  readonly store: typeof createTemplate;
  readonly maxBytes: number;
}

async function uploadTemplate(ctx: Context, { store, maxBytes }: Upload): Promise<void> {
  requestBody('template-upload', ctx.get('Content-Type'));
  const type = responseBody('template-upload', ctx.get('Accept'));
  const opt = requiredBodyText(ctx);
  requireTemplateSize(opt, maxBytes);
  const doc = await store({ opt, compiled: compileTemplate(opt) });
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
    ...templateHeaders(doc._id, doc.created_timestamp),
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
  const form = responseBody('template', ctx.get('Accept'), { vendorWord: requestVendorWord(ctx) });
  const templateId = templateIdFrom(ctx);
  if (form.format === 'WEB_TEMPLATE') {
    const { compiled, headers } = await requireCompiled(templateId);
    setStateHeaders(ctx, headers);
    writeText(ctx, form, compiled.webTemplateText);
    return;
  }
  const doc = await requireTemplate(templateId);
  setStateHeaders(ctx, templateHeaders(doc._id, doc.created_timestamp));
  writeText(ctx, form, doc.opt);
}

function setStateHeaders(ctx: Context, { etag, lastModified }: Required<ResourceHeaders>): void {
  setResourceHeaders(ctx, { etag, lastModified });
}

async function writeTemplate(ctx: Context, doc: TemplateDoc, form: BodyType): Promise<void> {
  const text =
    form.format === 'WEB_TEMPLATE' ? (await requireCompiled(doc._id)).compiled.webTemplateText : doc.opt;
  writeText(ctx, form, text);
}

async function requireTemplate(templateId: string): Promise<TemplateDoc> {
  const doc = await templateById(templateId);
  if (doc === null) throw templateNotFound(templateId, 'not-found');
  return doc;
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
