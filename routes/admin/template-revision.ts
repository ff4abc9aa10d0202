import Joi from 'joi';
import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { within } from '../../openehr/base/work.js';
import { listRevisions, removeRevision } from '../../change/definition/template-revision.js';
import { beginComparison, launchComparison } from '../../maintenance/template-comparison.js';
import { revisionNotFound, templateNotFound } from '../../change/commit/refusal.js';
import { revisionText } from '../../models/definition/revision-in-use.js';
import { storedQueries } from '../../models/definition/stored-query.js';
import { templateById } from '../../models/definition/template.js';
import { aliasesOfTemplates } from '../../models/definition/template-alias.js';
import { changedQueries } from '../../query/changed-queries.js';
import { compareInThread } from '../../workers/large-body.js';
import { auditAbout } from '../http/audit-trail.js';
import { bodyOf, requiredBodyText, writeText } from '../http/exchange.js';
import { requestBody, responseBody } from '../http/negotiation/media-type.js';
import type { BodyDescription, Operation } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { bodyOwner } from '../http/request/request-body.js';
import { adminOperation } from './record.js';

const DIFFERENCE: BodyDescription = { schema: 'TemplateDifference', types: 'json' };
const NOT_REMOVED = { root: 'AdminDeleteResponseData', fields: { deleted: 0 } };

/** Revisions of a template, and what differs between them, or to an OPT. */
export function templateRevisionOperations(settings: Settings): Operation[] {
  return [
    adminOperation({
      id: 'compareTemplate',
      discloses: 'whole',
      method: 'POST',
      path: '/template/{template_id}/compare',
      summary:
        'Tell what differs between revisions of a template, or to an OPT, and what that means for data',
      access: 'read',
      adminWith: 'data',
      parameters: ['data'],
      request: { schema: 'TwoRevisions', types: 'compared' },
      responses: {
        200: { description: 'Each difference', body: DIFFERENCE },
        202: { description: 'The same; stored data are being judged', body: DIFFERENCE },
      },
      committedStatus: 202,
      errors: [400, 404, 409],
      largestBody: { bytes: settings.maxTemplateBytes, setting: 'MAX_TEMPLATE_BYTES' },
      handle: (ctx) => compareTemplate(ctx, settings),
    }),
    adminOperation({
      id: 'listTemplateRevisions',
      discloses: 'nothing',
      method: 'GET',
      path: '/template/{template_id}/revisions',
      summary: 'List the revisions of a template, newest first, with what was judged by each',
      responses: {
        200: { description: 'All revisions', body: { schema: 'TemplateRevisionList', types: 'json' } },
      },
      errors: [404],
      handle: listAll,
    }),
    adminOperation({
      id: 'removeTemplateRevision',
      discloses: 'nothing',
      method: 'DELETE',
      path: '/template/{template_id}/revisions/{template_revision}',
      summary: 'Remove a revision by which nothing was judged',
      responses: { 204: { description: 'Removed' } },
      errors: [404, 422],
      failure: NOT_REMOVED,
      handle: remove,
    }),
  ];
}

/** Absent: the newest. */
interface TwoRevisions {
  readonly from?: string;
  /** null: the body is what is compared with. */
  readonly to?: string | null;
}

const revisionsSchema = Joi.object<TwoRevisions>({
  from: Joi.string().max(64),
  to: Joi.string().max(64),
});

/** docs/spec/formats.md#template-differences */
async function compareTemplate(ctx: Context, settings: Settings): Promise<void> {
  const { format } = requestBody('compared-template', ctx.get('Content-Type'));
  const form = responseBody('json', ctx.get('Accept'));
  const templateId = pathParameter(ctx, 'template_id');
  auditAbout(ctx, { target: templateId });
  const named: TwoRevisions = format === 'JSON' ? bodyOf(ctx, revisionsSchema) : { to: null };
  const stored = await templateById(templateId);
  if (stored === null) throw templateNotFound(templateId, 'not-found');
  const before = await textOf(templateId, named.from);
  const after = named.to === null ? requiredBodyText(ctx) : await textOf(templateId, named.to);
  const difference = await compareInThread({ before, after }, bodyOwner(ctx));
  const queries = await storedQueries({ kind: 'all' });
  const aliases = (await aliasesOfTemplates([stored._id])).get(stored._id);
  const concerned = within(ctx.state.work, () =>
    changedQueries(queries, difference.changes, stored.archetype_id, aliases),
  );
  const answer = { ...difference, stored_queries: concerned };
  const data = queryParameter(ctx, 'data');
  if (data === null) {
    ctx.status = 200;
    writeText(ctx, form, JSON.stringify(answer));
    return;
  }
  const { from = null, to = null } = named;
  const request = { templateId, data, from, to, opt: named.to === null ? after : null };
  const { _id: job } = await beginComparison(request, ctx.state.user?.name ?? 'anonymous');
  launchComparison(settings, job);
  ctx.status = 202;
  writeText(ctx, form, JSON.stringify({ ...answer, data: { job } }));
}

async function textOf(templateId: string, revision: string | undefined): Promise<string> {
  const text = await revisionText(templateId, revision ?? null);
  if (text === null) throw revisionNotFound(templateId, revision ?? '');
  return text.opt;
}

async function listAll(ctx: Context): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const templateId = pathParameter(ctx, 'template_id');
  auditAbout(ctx, { target: templateId });
  const listed = (await listRevisions(templateId)).map(({ uploadedAt, uploadedBy, ...revision }) => ({
    ...revision,
    uploaded_at: uploadedAt.toISOString(),
    ...(uploadedBy !== null && { uploaded_by: uploadedBy }),
  }));
  ctx.status = 200;
  writeText(ctx, form, JSON.stringify(listed));
}

async function remove(ctx: Context): Promise<void> {
  const templateId = pathParameter(ctx, 'template_id');
  const revision = pathParameter(ctx, 'template_revision');
  auditAbout(ctx, { target: `${templateId}/${revision}` });
  await removeRevision(templateId, revision);
  ctx.status = 204;
}
