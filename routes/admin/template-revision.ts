import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { within } from '../../openehr/base/work.js';
import { templateNotFound } from '../../change/commit/refusal.js';
import { storedQueries } from '../../models/definition/stored-query.js';
import { templateById } from '../../models/definition/template.js';
import { changedQueries } from '../../query/changed-queries.js';
import { compareInThread } from '../../workers/large-body.js';
import { auditAbout } from '../http/audit-trail.js';
import { requiredBodyText, writeText } from '../http/exchange.js';
import { requestBody, responseBody } from '../http/negotiation/media-type.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { bodyOwner } from '../http/request/request-body.js';
import { adminOperation } from './record.js';

/** Comparing a template with what it would be. */
export function templateRevisionOperations(settings: Settings): Operation[] {
  return [
    adminOperation({
      id: 'compareTemplate',
      method: 'POST',
      path: '/template/{template_id}/compare',
      summary: 'Tell what differs from a stored template to an OPT, and what that means for data',
      access: 'read',
      request: { schema: 'OperationalTemplate', types: 'xml' },
      responses: {
        200: { description: 'Each difference', body: { schema: 'TemplateDifference', types: 'json' } },
      },
      errors: [400, 404],
      largestBody: { bytes: settings.maxTemplateBytes, setting: 'MAX_TEMPLATE_BYTES' },
      handle: compareTemplate,
    }),
  ];
}

/** docs/spec/formats.md#template-differences */
async function compareTemplate(ctx: Context): Promise<void> {
  requestBody('admin-template', ctx.get('Content-Type'));
  const form = responseBody('json', ctx.get('Accept'));
  const templateId = pathParameter(ctx, 'template_id');
  auditAbout(ctx, { target: templateId });
  const after = requiredBodyText(ctx);
  const stored = await templateById(templateId);
  if (stored === null) throw templateNotFound(templateId, 'not-found');
  const difference = await compareInThread({ before: stored.opt, after }, bodyOwner(ctx));
  const queries = await storedQueries({ kind: 'all' });
  const concerned = within(ctx.state.work, () =>
    changedQueries(queries, difference.changes, stored.archetype_id),
  );
  ctx.status = 200;
  writeText(ctx, form, JSON.stringify({ ...difference, stored_queries: concerned }));
}
