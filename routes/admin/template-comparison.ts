import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import { collapsedToken } from '../../openehr/base/text.js';
import { templateNotFound } from '../../change/commit/refusal.js';
import { shownCauses } from '../../maintenance/template-causes.js';
import {
  cancelComparison,
  launchComparison,
  resumeComparison,
} from '../../maintenance/template-comparison.js';
import { templateById } from '../../models/definition/template.js';
import {
  comparisonById,
  comparisonsOf,
  examplesOf,
  type ComparisonExample,
  type TemplateComparisonDoc,
} from '../../models/template-comparison.js';
import { auditAbout } from '../http/audit-trail.js';
import { writeText } from '../http/exchange.js';
import { responseBody } from '../http/negotiation/media-type.js';
import type { AnswerDescription, Operation } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { adminOperation } from './record.js';

const PATH = '/template/{template_id}/compare';
const JOB: AnswerDescription = {
  description: 'The comparison as it is now',
  body: { schema: 'TemplateComparison', types: 'json' },
};

/** Comparisons of stored data with a revision, or a template: what they found so far, and their end. */
export function templateComparisonOperations(settings: Settings): Operation[] {
  return [
    adminOperation({
      id: 'listTemplateComparisons',
      discloses: 'whole',
      method: 'GET',
      path: PATH,
      summary: 'List the comparisons of the data of a template, newest first, without their causes',
      responses: {
        200: { description: 'The newest 20', body: { schema: 'TemplateComparisonList', types: 'json' } },
      },
      errors: [404],
      handle: listAll,
    }),
    adminOperation({
      id: 'getTemplateComparison',
      discloses: 'whole',
      method: 'GET',
      path: `${PATH}/{comparison_id}`,
      summary: 'Get how far a comparison of data is, and what it found',
      responses: { 200: JOB },
      errors: [404],
      handle: (ctx) => tell(ctx, () => Promise.resolve()),
    }),
    steering('cancelTemplateComparison', 'cancel', 'End a comparison of data', cancelComparison),
    steering('resumeTemplateComparison', 'resume', 'Let a comparison of data go on', async (id) => {
      await resumeComparison(id);
      launchComparison(settings, id);
    }),
  ];
}

function steering(id: string, word: string, summary: string, act: (id: string) => Promise<void>): Operation {
  return adminOperation({
    id,
    discloses: 'whole',
    method: 'POST',
    path: `${PATH}/{comparison_id}/${word}`,
    summary,
    responses: { 200: JOB },
    errors: [404, 409],
    handle: (ctx) => tell(ctx, act),
  });
}

async function listAll(ctx: Context): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const templateId = pathParameter(ctx, 'template_id');
  auditAbout(ctx, { target: templateId });
  const stored = await templateById(templateId);
  if (stored === null) throw templateNotFound(templateId, 'not-found');
  const all = await comparisonsOf(stored._id);
  ctx.status = 200;
  writeText(ctx, form, JSON.stringify(all.map((each) => comparisonOf(each, []))));
}

async function tell(ctx: Context, act: (id: string) => Promise<void>): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const templateId = pathParameter(ctx, 'template_id');
  const id = pathParameter(ctx, 'comparison_id');
  auditAbout(ctx, { target: templateId, objects: [id] });
  const known = await comparisonById(id);
  if (known === null || collapsedToken(known.template_id) !== templateId)
    throw new CdrError('not-found', `the template ${templateId} has no comparison ${id}`);
  await act(id);
  const now = (await comparisonById(id)) ?? known;
  ctx.status = 200;
  writeText(ctx, form, JSON.stringify(comparisonOf(now, await examplesOf(id))));
}

function comparisonOf(
  doc: Omit<TemplateComparisonDoc, 'opt'>,
  examples: readonly ComparisonExample[],
): object {
  const { _id: job, data, state, reason, started_at, started_by, finished_at } = doc;
  const { valid, invalid, unproven, others } = doc;
  return {
    job,
    template_id: collapsedToken(doc.template_id),
    ...{ data, state },
    ...(state === 'stopped' && { reason }),
    ...(doc.from !== undefined && { from: { revision: doc.from_name, digest: doc.from } }),
    to: { revision: doc.to_name, digest: doc.to },
    ...{ started_at, started_by, finished_at, valid, invalid, unproven, others },
    causes: shownCauses(doc, examples),
  };
}
