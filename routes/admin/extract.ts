import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import { addExtract, planExtract, planJson } from '../../maintenance/extract/add.js';
import { undoExtract } from '../../maintenance/extract/undo.js';
import { ADD_EXTRACT, UNDO_EXTRACT } from '../../models/cross-collection/audited-removals.js';
import { bodyExtract, extractHow } from '../ehr/extract.js';
import { auditAbout } from '../http/audit-trail.js';
import { writeText } from '../http/exchange.js';
import { responseBody } from '../http/negotiation/media-type.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { adminOperation } from './record.js';

const PATH = '/ehr/{ehr_id}/extract';

/** Bringing an EXTRACT into an EHR that has content, by a plan, and taking it back. docs/spec/rest.md#extract */
export function adminExtractOperations(settings: Settings): Operation[] {
  return [
    adminOperation({
      id: ADD_EXTRACT,
      discloses: 'whole',
      method: 'POST',
      path: PATH,
      summary: 'Bring an EXTRACT into an EHR that has content, or tell what that would do',
      access: 'restore',
      parameters: ['dry_run', 'plan'],
      request: { schema: 'EXTRACT', types: 'rm' },
      responses: {
        200: { description: 'The plan, or what was done', body: { schema: 'ExtractPlan', types: 'json' } },
      },
      errors: [400, 404, 409],
      handle: (ctx) => add(ctx, settings),
    }),
    adminOperation({
      id: UNDO_EXTRACT,
      discloses: 'whole',
      method: 'POST',
      path: `${PATH}/{import_id}/undo`,
      summary: 'Remove what an EXTRACT brought, as long as nothing was done on top of it',
      access: 'restore',
      responses: {
        200: { description: 'What was removed', body: { schema: 'ExtractUndone', types: 'json' } },
      },
      errors: [400, 404, 409],
      handle: (ctx) => undo(ctx, settings),
    }),
  ];
}

async function add(ctx: Context, settings: Settings): Promise<void> {
  const ehrId = pathParameter(ctx, 'ehr_id');
  const isDryRun = queryParameter(ctx, 'dry_run');
  const hash = queryParameter(ctx, 'plan');
  auditAbout(ctx, { ehr_id: ehrId, ...(isDryRun && { dry_run: true }) });
  const extract = await bodyExtract(ctx);
  const form = responseBody('json', ctx.get('Accept'));
  const how = extractHow(ctx, settings);
  ctx.status = 200;
  if (isDryRun) {
    writeText(ctx, form, JSON.stringify(planJson(ehrId, await planExtract(extract, ehrId, how))));
    return;
  }
  if (hash === null)
    throw new CdrError(
      'invalid',
      'an EXTRACT goes into an EHR by a plan: ask with dry_run=true, then give its hash as plan',
    );
  const { batch, contributions, versions } = await addExtract(extract, { ehrId, hash }, how);
  writeText(ctx, form, JSON.stringify({ ehr_id: ehrId, import_id: batch, contributions, versions }));
}

async function undo(ctx: Context, { aql }: Settings): Promise<void> {
  const ehrId = pathParameter(ctx, 'ehr_id');
  const batch = pathParameter(ctx, 'import_id');
  const form = responseBody('json', ctx.get('Accept'));
  auditAbout(ctx, { ehr_id: ehrId, target: batch });
  const { isErased, contributions, versions } = await undoExtract({ ehrId, batch }, aql.leafIndex);
  ctx.status = 200;
  writeText(
    ctx,
    form,
    JSON.stringify({ ehr_id: ehrId, import_id: batch, erased: isErased, contributions, versions }),
  );
}
