import Joi from 'joi';
import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import { exactVersion } from '../../openehr/base/semver.js';
import { templateNotFound } from '../../change/commit/refusal.js';
import { deleteStoredQuery } from '../../change/definition/stored-query.js';
import { deleteAllTemplates, deleteTemplate, updateTemplate } from '../../change/definition/template.js';
import type { CompiledTemplate } from '../../openehr/template/compile.js';
import { requestBody, responseBody } from '../http/negotiation/media-type.js';
import { templateById } from '../../models/definition/template.js';
import { auditAbout } from '../http/audit-trail.js';
import { bodyOf, requiredBodyText, writeText } from '../http/exchange.js';
import { MAX_NAME_LENGTH, queryNameFrom, versionFrom } from '../definition/stored-query.js';
import type { BodyDescription, Operation } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { performOrAsk, waitingAnswer } from './acts.js';
import { adminForm, adminOperation, writeRecord } from './record.js';
import { compileTemplateBody } from '../http/request/request-body.js';

const DELETED = 'AdminDeleteResponseData';
const DELETED_BODY: BodyDescription = { schema: DELETED, types: 'rm' };
const OWNER = 'QueryOwner';
const NOT_DELETED = { root: DELETED, fields: { deleted: 0 } };

/** The last segment below `/template` that names all of them; no template can have this id here. */
const ALL = 'all';

/** Administration of templates and stored queries. */
export function adminDefinitionOperations(settings: Settings): Operation[] {
  const giving = waitingAnswer(settings, 'giveQueryNameSpace');
  return [
    adminOperation({
      id: 'updateTemplate',
      discloses: 'nothing',
      method: 'PUT',
      path: '/template/{template_id}',
      summary: 'Replace an unused template',
      request: { schema: 'OperationalTemplate', types: 'xml' },
      responses: {
        200: { description: 'The OPT', body: { schema: 'Text', types: 'rm' } },
      },
      errors: [400, 404, 422],
      failure: { root: 'AdminUpdateResponseData', fields: { updated: 0 } },
      largestBody: { bytes: settings.maxTemplateBytes, setting: 'MAX_TEMPLATE_BYTES' },
      handle: replaceTemplate,
    }),
    adminOperation({
      id: 'deleteTemplate',
      discloses: 'whole',
      method: 'DELETE',
      path: '/template/{template_id}',
      summary: 'Remove an unused template',
      responses: { 202: { description: 'Removed', body: DELETED_BODY } },
      errors: [404, 422],
      failure: NOT_DELETED,
      handle: removeTemplate,
    }),
    adminOperation({
      id: 'deleteAllTemplates',
      discloses: 'whole',
      method: 'DELETE',
      path: `/template/${ALL}`,
      summary: 'Remove all templates, provided that none is used',
      responses: { 200: { description: 'Removed', body: DELETED_BODY } },
      errors: [405, 422],
      failure: NOT_DELETED,
      handle: (ctx) => removeAllTemplates(ctx, settings),
    }),
    adminOperation({
      id: 'deleteStoredQuery',
      discloses: 'nothing',
      method: 'DELETE',
      path: '/query/{qualified_query_name}/{version}',
      summary: 'Remove one version of a stored query',
      responses: { 200: { description: 'Removed' } },
      errors: [400, 404],
      failure: NOT_DELETED,
      handle: removeQuery,
    }),
    adminOperation({
      id: 'giveQueryNameSpace',
      discloses: 'nothing',
      method: 'PUT',
      path: '/query_owner/{name_space}',
      summary: 'Give a name space of stored queries to a user',
      request: { schema: 'QueryOwnerBody', types: 'json' },
      responses: {
        200: { description: 'Whose it is now', body: { schema: OWNER, types: 'rm' } },
        ...giving.answer,
      },
      ...giving.committed,
      errors: [400, 409],
      failure: { root: OWNER, fields: { name_space: '' } },
      handle: (ctx) => giveQueries(ctx, settings),
    }),
  ];
}

async function replaceTemplate(ctx: Context): Promise<void> {
  requestBody('admin-template', ctx.get('Content-Type'));
  const form = responseBody('admin-template', ctx.get('Accept'));
  const templateId = pathParameter(ctx, 'template_id');
  const { opt, compiled } = await optOf(ctx, templateId);
  if ((await templateById(templateId)) === null) throw templateNotFound(templateId, 'not-found');
  requireId(compiled, templateId);
  const doc = await updateTemplate({ opt, compiled });
  writeText(ctx, form, form.format === 'XML' ? doc.opt : JSON.stringify(doc.opt));
}

/** The OPT of the body, compiled. @throws as `compileTemplate` */
async function optOf(
  ctx: Context,
  templateId: string,
): Promise<{ readonly opt: string; readonly compiled: CompiledTemplate }> {
  auditAbout(ctx, { target: templateId });
  const opt = requiredBodyText(ctx);
  if (
    !opt
      .trimStart()
      .replace(/^\uFEFF/, '')
      .startsWith('<')
  ) {
    throw new CdrError('invalid', 'error: Content is not allowed in prolog.');
  }
  return { opt, compiled: await compileTemplateBody(ctx, opt) };
}

function requireId(compiled: CompiledTemplate, templateId: string): void {
  if (compiled.templateId !== templateId)
    throw new CdrError('invalid', `the template id of the body is ${compiled.templateId}, not ${templateId}`);
}

async function removeTemplate(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const templateId = pathParameter(ctx, 'template_id');
  auditAbout(ctx, { target: templateId });
  await deleteTemplate(templateId);
  writeRecord(ctx, form, { record: DELETED, fields: { deleted: 1 }, status: 202 });
}

async function removeAllTemplates(ctx: Context, settings: Settings): Promise<void> {
  const form = adminForm(ctx);
  auditAbout(ctx, { target: ALL });
  if (!settings.adminAllowDeleteAll) {
    throw new CdrError('method-not-allowed', 'deleting all templates is switched off', { allow: ['PUT'] });
  }
  const deleted = await deleteAllTemplates();
  writeRecord(ctx, form, { record: DELETED, fields: { deleted } });
}

const NAME_SPACE = /^[A-Za-z0-9_.-]+(?:::)?$/;
const ownerSchema = Joi.object<{ readonly sub: string; readonly issuer?: string }>({
  sub: Joi.string().max(MAX_NAME_LENGTH).required(),
  issuer: Joi.string().max(MAX_NAME_LENGTH),
});

async function giveQueries(ctx: Context, settings: Settings): Promise<void> {
  const nameSpace = pathParameter(ctx, 'name_space');
  auditAbout(ctx, { target: nameSpace });
  if (!NAME_SPACE.test(nameSpace) || nameSpace.length > MAX_NAME_LENGTH)
    throw new CdrError('invalid', 'the name space must be <namespace>:: or the name of a query without one');
  const given = bodyOf(ctx, ownerSchema);
  const form = adminForm(ctx);
  await performOrAsk(ctx, settings, {
    act: { operation: 'giveQueryNameSpace', name_space: nameSpace.toLowerCase(), ...given },
    dryRun: false,
    answer: (fields) => {
      writeRecord(ctx, form, { record: OWNER, fields });
    },
  });
}

async function removeQuery(ctx: Context): Promise<void> {
  const { name } = queryNameFrom(pathParameter(ctx, 'qualified_query_name'));
  const versionText = pathParameter(ctx, 'version');
  const prefix = versionFrom(versionText);
  auditAbout(ctx, { target: `${name}/${versionText}` });
  const version = exactVersion(prefix);
  if (version === null) throw new CdrError('invalid', 'the version must be exact, such as 1.0.0');
  await deleteStoredQuery(name, version);
  ctx.status = 200;
  ctx.body = '';
  ctx.remove('Content-Type');
}
