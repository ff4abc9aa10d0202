import type { Context } from 'koa';
import { CdrError } from '../../base/errors.js';
import type { Settings } from '../../base/settings.js';
import { exactVersion, formatVersion } from '../../base/semver.js';
import { templateNotFound } from '../../change/refusal.js';
import { deleteAllTemplates, deleteTemplate, updateTemplate } from '../../change/template.js';
import { requestBody, responseBody } from '../../format/media-type.js';
import { removeStoredQuery } from '../../models/stored-query.js';
import { templateById } from '../../models/template.js';
import { compileTemplate } from '../../template/compile.js';
import { requireTemplateSize } from '../../template/template-size.js';
import { auditAbout } from '../audit-trail.js';
import { requiredBodyText, writeText } from '../exchange.js';
import { templateIdFrom } from '../template-access.js';
import { queryNameFrom, versionFrom } from '../stored-query.js';
import { adminForm, writeRecord, type AdminOperation } from './operation.js';

const DELETED = 'AdminDeleteResponseData';
const UPDATED = 'AdminUpdateResponseData';

/** The last segment below `/template` that names all of them; no template can have this id here. */
const ALL = 'all';

/** Administration of templates and stored queries. Contract, section 13. */
export function adminDefinitionOperations(settings: Settings): AdminOperation[] {
  return [
    {
      name: 'updateTemplate',
      method: 'put',
      path: '/template/:template_id',
      record: UPDATED,
      neutral: { updated: 0 },
      handle: (ctx) => replaceTemplate(ctx, settings.maxTemplateBytes),
    },
    {
      name: 'deleteAllTemplates',
      method: 'delete',
      path: `/template/${ALL}`,
      record: DELETED,
      neutral: { deleted: 0 },
      handle: (ctx) => removeAllTemplates(ctx, settings),
    },
    {
      name: 'deleteTemplate',
      method: 'delete',
      path: '/template/:template_id',
      record: DELETED,
      neutral: { deleted: 0 },
      handle: removeTemplate,
    },
    {
      name: 'deleteStoredQuery',
      method: 'delete',
      path: '/query/:qualified_query_name/:version',
      record: DELETED,
      neutral: { deleted: 0 },
      handle: removeQuery,
    },
  ];
}

async function replaceTemplate(ctx: Context, maxBytes: number): Promise<void> {
  requestBody('admin-template', ctx.get('Content-Type'));
  const form = responseBody('admin-template', ctx.get('Accept'));
  const templateId = templateIdFrom(ctx);
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
  requireTemplateSize(opt, maxBytes);
  const compiled = compileTemplate(opt);
  if ((await templateById(templateId)) === null) throw templateNotFound(templateId, 'not-found');
  if (compiled.templateId !== templateId) {
    throw new CdrError('invalid', `the template id of the body is ${compiled.templateId}, not ${templateId}`);
  }
  const doc = await updateTemplate({ opt, compiled });
  writeText(ctx, form, form.format === 'XML' ? doc.opt : JSON.stringify(doc.opt));
}

async function removeTemplate(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const templateId = templateIdFrom(ctx);
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

async function removeQuery(ctx: Context): Promise<void> {
  const { qualified_query_name: nameText, version: versionText } = ctx.params as Record<string, string>;
  const { name } = queryNameFrom(nameText);
  const prefix = versionFrom(versionText);
  auditAbout(ctx, { target: `${name}/${versionText ?? ''}` });
  const version = exactVersion(prefix);
  if (version === null) throw new CdrError('invalid', 'the version must be exact, such as 1.0.0');
  if (!(await removeStoredQuery(name, version))) {
    throw new CdrError('not-found', `there is no stored query ${name}/${formatVersion(version)}`);
  }
  ctx.status = 200;
  ctx.body = '';
  ctx.remove('Content-Type');
}
