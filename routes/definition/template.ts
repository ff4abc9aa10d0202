import { isLike } from '../../aql/semantics/like-pattern.js';
import type { Context } from 'koa';

import { DIALECTS } from '../../openehr/base/dialect.js';
import { CdrError } from '../../openehr/base/errors.js';
import { collapsedToken } from '../../openehr/base/text.js';
import type { Settings } from '../../config/settings.js';
import { writeXml } from '../../openehr/base/xml.js';
import { templateNotFound } from '../../change/commit/refusal.js';
import { latestOfEach } from '../../change/definition/template-change.js';
import { reviseTemplate } from '../../change/definition/template-revision.js';
import { createTemplate, putTemplate } from '../../change/definition/template.js';
import type { BodyType } from '../http/negotiation/media-type.js';
import { requestBody, responseBody } from '../http/negotiation/media-type.js';
import type { IdempotentResult } from '../../models/idempotency.js';
import type { TemplateDoc, TemplateSummary } from '../../models/definition/template.js';
import { keepTemplates, templateById, templateSummaries } from '../../models/definition/template.js';
import { answerWrite, requiredBodyText, setResourceHeaders, writeText } from '../http/exchange.js';
import { NOT_IMPLEMENTED_MESSAGE } from '../http/failure/error-status.js';
import type { Operation, OperationGroup } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { STANDARD_API } from '../http/request/request-state.js';
import {
  ADL14_TEMPLATES,
  requireCompiled,
  requireText,
  templateHeaders,
  type TemplateHeaders,
  templateViewOperations,
} from './template-view.js';
import { requestVendorWord } from '../http/request/headers.js';
import { compileTemplateBody } from '../http/request/request-body.js';

const PATH = `${STANDARD_API}${ADL14_TEMPLATES}`;
const NOT_OFFERED = 'Templates in ADL 2 are not offered';

/** Uploading, listing and reading operational templates, and their views. */
export function templateOperations(settings: Settings): OperationGroup {
  keepTemplates(settings.templateCacheSize, settings.templateCacheBytes);
  const upload = settings.templateAllowOverwrite ? putTemplate : createTemplate;
  const store = settings.templateRevisions ? uploadRevision : (ctx: Context) => uploadTemplate(ctx, upload);
  return {
    tag: 'TEMPLATE',
    description: 'Operational templates',
    operations: [
      {
        id: 'template_adl1.4_upload',
        discloses: 'nothing',
        method: 'POST',
        path: PATH,
        summary: 'Upload an operational template (OPT 1.4)',
        access: 'define',
        audit: 'write',
        parameters: ['Prefer', 'Idempotency-Key'],
        request: { schema: 'OperationalTemplate', types: 'xml' },
        largestBody: { bytes: settings.maxTemplateBytes, setting: 'MAX_TEMPLATE_BYTES' },
        responses: {
          201: {
            description:
              'Stored; a body only when `Prefer` asks for one, or of a revision `{template_id, revision, digest}`',
            body: { schema: 'OperationalTemplate', types: 'uploadedTemplate' },
            headers: ['ETag', 'Location', 'Last-Modified'],
          },
          200: UNCHANGED,
        },
        committedStatus: 201,
        errors: [400, 409, 422],
        replay: answerUploadAgain,
        handle: store,
      },
      {
        id: 'template_adl1.4_list',
        discloses: 'nothing',
        method: 'GET',
        path: PATH,
        summary: 'List the templates',
        access: 'read',
        audit: 'none',
        parameters: ['filter_template_id', 'filter_concept', 'filter_version', 'offset', 'fetch'],
        responses: {
          200: { description: 'The templates, by id', body: { schema: 'TemplateList', types: 'summaries' } },
        },
        errors: [400],
        handle: (ctx) => listTemplates(ctx, settings),
      },
      {
        id: 'template_adl1.4_get',
        discloses: 'nothing',
        method: 'GET',
        path: `${PATH}/{template_id}`,
        summary: 'Get a template as OPT or as web template',
        access: 'read',
        audit: 'none',
        parameters: ['revision'],
        responses: {
          200: {
            description: 'The template',
            body: { schema: 'OperationalTemplate', types: 'template' },
            headers: ['ETag', 'Last-Modified'],
          },
        },
        errors: [404],
        handle: getTemplate,
      },
      ...templateViewOperations(settings),
      ...adl2Operations(),
    ],
  };
}

/** Templates in ADL 2 are part of ITS-REST and not offered here: 501 whatever the request holds. */
function adl2Operations(): Operation[] {
  const operation = (id: string, method: 'GET' | 'POST', path: string): Operation => ({
    id: `template_adl2_${id}`,
    method,
    path: `${STANDARD_API}/definition/template/adl2${path}`,
    summary: NOT_OFFERED,
    access: method === 'GET' ? 'read' : 'define',
    audit: 'none',
    discloses: 'nothing',
    responses: {},
    errors: [501],
    handle: () => {
      throw new CdrError('not-implemented', NOT_IMPLEMENTED_MESSAGE);
    },
  });
  return [
    operation('upload', 'POST', ''),
    operation('list', 'GET', ''),
    operation('get', 'GET', '/{template_id}'),
    operation('get_version', 'GET', '/{template_id}/{version}'),
    operation('example', 'GET', '/{template_id}/example'),
  ];
}

async function uploadTemplate(ctx: Context, upload: typeof createTemplate): Promise<void> {
  requestBody('template-upload', ctx.get('Content-Type'));
  const type = responseBody('template-upload', ctx.get('Accept'));
  const opt = requiredBodyText(ctx);
  const compiled = await compileTemplateBody(ctx, opt);
  ctx.state.definitionScopes?.requireUpload(compiled.templateId);
  const doc = await upload({ opt, compiled });
  await writeUploaded(ctx, doc, type);
}

const UNCHANGED = {
  description: 'The template has, or had, this text',
  body: { schema: 'UploadedRevision', types: 'json' },
  headers: ['ETag', 'Location', 'Last-Modified'],
} as const;

/** With `TEMPLATE_REVISIONS`: another text of a known id is its newest revision. docs/spec/rest.md#revisions-of-templates */
async function uploadRevision(ctx: Context): Promise<void> {
  requestBody('template-upload', ctx.get('Content-Type'));
  const form = responseBody('template-upload', ctx.get('Accept'));
  const opt = requiredBodyText(ctx);
  const uploaded = { opt, compiled: await compileTemplateBody(ctx, opt) };
  ctx.state.definitionScopes?.requireUpload(uploaded.compiled.templateId);
  const { doc, revision, digest, isNew } = await reviseTemplate(uploaded, ctx.state.user?.name ?? null);
  await writeUploaded(ctx, doc, form, isNew ? 201 : 200);
  if (ctx.get('Prefer') !== '') return;
  const record = { template_id: collapsedToken(doc._id), revision, digest };
  writeText(ctx, { format: 'JSON', mediaType: 'application/json' }, JSON.stringify(record));
}

async function answerUploadAgain(ctx: Context, { uids }: IdempotentResult): Promise<void> {
  const form = responseBody('template-upload', ctx.get('Accept'));
  await writeUploaded(ctx, await requireTemplate(uids.template_id ?? ''), form);
}

function writeUploaded(
  ctx: Context,
  doc: TemplateDoc,
  form: BodyType,
  status: 200 | 201 = 201,
): Promise<void> {
  const templateId = collapsedToken(doc._id);
  return answerWrite(ctx, {
    status,
    uid: templateId,
    form,
    ...templateHeaders(templateId, doc.created_timestamp),
    represent: () => writeTemplate(ctx, doc, form),
  });
}

async function listTemplates(ctx: Context, { itsRest }: Settings): Promise<void> {
  const type = responseBody('template-list', ctx.get('Accept'));
  const isWanted = templateFilter(ctx);
  const [offset, fetch] = [queryParameter(ctx, 'offset') ?? 0, queryParameter(ctx, 'fetch') ?? Infinity];
  if (offset < 0 || fetch < 1)
    throw new CdrError('invalid', 'offset must be at least 0 and fetch at least 1');
  const { definitionScopes } = ctx.state;
  const listable = (await templateSummaries()).filter(isWanted);
  const wanted =
    definitionScopes === undefined
      ? listable
      : listable.filter(({ _id }) => definitionScopes.lists('template', _id));
  const isOfLatest =
    DIALECTS[itsRest].isTemplateListOfLatest && queryParameter(ctx, 'filter_version') === null;
  const listed = isOfLatest ? latestOfEach(wanted) : wanted;
  const records = listed.slice(offset, offset + fetch).map(recordOf);
  if (type.format !== 'XML') {
    writeText(ctx, type, JSON.stringify(records));
    return;
  }
  writeText(ctx, type, writeXml({ name: 'templates', children: records.map(xmlOf) }));
}

async function getTemplate(ctx: Context): Promise<void> {
  const form = responseBody('template', ctx.get('Accept'), { vendorWord: requestVendorWord(ctx) });
  const templateId = pathParameter(ctx, 'template_id');
  const revision = queryParameter(ctx, 'revision');
  if (form.format === 'WEB_TEMPLATE') {
    const { compiled, headers } = await requireCompiled(ctx, templateId, revision);
    setStateHeaders(ctx, headers);
    writeText(ctx, form, compiled.webTemplateText);
    return;
  }
  const text = await requireText(templateId, revision);
  setStateHeaders(ctx, templateHeaders(templateId, text.created_timestamp));
  writeText(ctx, form, text.opt);
}

function setStateHeaders(ctx: Context, { etag, lastModified }: TemplateHeaders): void {
  setResourceHeaders(ctx, { etag, lastModified });
}

async function writeTemplate(ctx: Context, doc: TemplateDoc, form: BodyType): Promise<void> {
  const text =
    form.format === 'WEB_TEMPLATE'
      ? (await requireCompiled(ctx, doc._id, null)).compiled.webTemplateText
      : doc.opt;
  writeText(ctx, form, text);
}

async function requireTemplate(templateId: string): Promise<TemplateDoc> {
  const doc = await templateById(templateId);
  if (doc === null) throw templateNotFound(templateId, 'not-found');
  return doc;
}

/** What the query parameters of the list ask for. */
function templateFilter(ctx: Context): (summary: TemplateSummary) => boolean {
  const id = queryParameter(ctx, 'filter_template_id');
  const concept = queryParameter(ctx, 'filter_concept');
  const version = queryParameter(ctx, 'filter_version')?.replace(/^v/i, '') ?? null;
  return (summary) =>
    (id === null || isLikeName(summary._id, id)) &&
    (concept === null || isLikeName(summary.concept, concept)) &&
    (version === null || version === '*' || summary._id.toLowerCase().endsWith(`.v${version.toLowerCase()}`));
}

/** Whether a text is like a pattern in which `*` alone stands for any characters; letter case makes no difference. */
function isLikeName(text: string, pattern: string): boolean {
  return isLike(text.toLowerCase(), pattern.toLowerCase().replace(/[\\?]/g, '\\$&'));
}

function recordOf(summary: TemplateSummary): Record<string, string> {
  return {
    template_id: summary._id,
    concept: summary.concept,
    archetype_id: summary.archetype_id,
    // Exactly three fractional digits: EHRbase's SDK reads no others.
    created_timestamp: summary.created_timestamp.toISOString(),
  };
}

function xmlOf(record: Record<string, string>) {
  return {
    name: 'template',
    children: Object.entries(record).map(([name, text]) => ({ name, children: [text] })),
  };
}
