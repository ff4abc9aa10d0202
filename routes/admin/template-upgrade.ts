import Joi from 'joi';
import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonValue } from '../../openehr/base/json.js';
import { planUpgrade, type UpgradeRequest } from '../../maintenance/template-plan.js';
import {
  beginUndo,
  beginUpgrade,
  launchUpgrade,
  pauseUpgrade,
  resumeUpgrade,
} from '../../maintenance/template-upgrade.js';
import { collapsedToken } from '../../openehr/base/text.js';
import { templateNotFound } from '../../change/commit/refusal.js';
import { templateById } from '../../models/definition/template.js';
import {
  leftOf,
  upgradeById,
  upgradesOf,
  type LeftComposition,
  type TemplateUpgradeDoc,
} from '../../models/template-upgrade.js';
import { auditAbout } from '../http/audit-trail.js';
import { bodyOf, writeText } from '../http/exchange.js';
import { answerEnd } from '../http/failure/slow-reader.js';
import { responseBody, type BodyType } from '../http/negotiation/media-type.js';
import type { AnswerDescription, Operation } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { adminOperation } from './record.js';

const PATH = '/template/{template_id}/upgrade';
const JOB: AnswerDescription = {
  description: 'The upgrade as it is now',
  body: { schema: 'TemplateUpgrade', types: 'json' },
};

/** Upgrades of the data of a template to its newest revision: plan, job, pause, and taking it back. */
export function templateUpgradeOperations(settings: Settings): Operation[] {
  return [
    adminOperation({
      id: 'upgradeTemplate',
      discloses: 'whole',
      method: 'POST',
      path: PATH,
      summary: 'Upgrade the data of a template to its newest revision by rules, or tell what that would do',
      parameters: ['dry_run'],
      request: { schema: 'TemplateUpgradeBody', types: 'json' },
      responses: {
        200: { description: 'The plan', body: { schema: 'TemplateUpgradePlan', types: 'json' } },
        202: { description: 'It has begun', body: { schema: 'TemplateUpgradeJob', types: 'json' } },
      },
      committedStatus: 202,
      errors: [400, 404, 409],
      handle: (ctx) => upgrade(ctx, settings),
    }),
    adminOperation({
      id: 'listTemplateUpgrades',
      discloses: 'whole',
      method: 'GET',
      path: PATH,
      summary: 'List the upgrades of a template, newest first',
      responses: {
        200: { description: 'The newest 100', body: { schema: 'TemplateUpgradeList', types: 'json' } },
      },
      errors: [404],
      handle: listAll,
    }),
    adminOperation({
      id: 'getTemplateUpgrade',
      discloses: 'whole',
      method: 'GET',
      path: `${PATH}/{upgrade_id}`,
      summary: 'Get how far an upgrade is, and what it left',
      responses: { 200: JOB },
      errors: [404],
      handle: (ctx) => tell(ctx, () => Promise.resolve()),
    }),
    steering('pauseTemplateUpgrade', 'pause', 'Pause an upgrade after the step that it is at', pauseUpgrade),
    steering('resumeTemplateUpgrade', 'resume', 'Let an upgrade go on', async (id) => {
      await resumeUpgrade(id);
      launchUpgrade(settings, id);
    }),
    steering('undoTemplateUpgrade', 'undo', 'Take an upgrade back, as new VERSIONs', async (id, by) => {
      await beginUndo(id, by);
      launchUpgrade(settings, id);
    }),
  ];
}

/** `act`: on the upgrade with an id, by whom. */
type Act = (id: string, by: string) => Promise<void>;

function steering(id: string, word: string, summary: string, act: Act): Operation {
  return adminOperation({
    id,
    discloses: 'whole',
    method: 'POST',
    path: `${PATH}/{upgrade_id}/${word}`,
    summary,
    responses: { 200: JOB },
    errors: [404, 409],
    handle: (ctx) => tell(ctx, act),
  });
}

interface UpgradeBody {
  readonly from?: string;
  readonly rules: JsonValue[];
  readonly rewrite: boolean;
  readonly hash?: string;
}

const bodySchema = Joi.object<UpgradeBody>({
  from: Joi.string().max(64),
  rules: Joi.array().items(Joi.object()).max(1000).required(),
  rewrite: Joi.boolean().strict().default(false),
  hash: Joi.string().max(64),
});

/** docs/spec/rest.md#upgrades-of-data */
async function upgrade(ctx: Context, settings: Settings): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const templateId = pathParameter(ctx, 'template_id');
  const isDryRun = queryParameter(ctx, 'dry_run');
  auditAbout(ctx, { target: templateId, ...(isDryRun && { dry_run: true }) });
  const { from = null, rules, rewrite, hash } = bodyOf(ctx, bodySchema);
  const request: UpgradeRequest = { templateId, from, rules: { rules }, rewrite };
  if (isDryRun) {
    const plan = await planUpgrade(settings, request, answerEnd(ctx));
    write(ctx, form, 200, JSON.stringify(plan));
    return;
  }
  if (hash === undefined)
    throw new CdrError('invalid', 'an upgrade needs the hash of its plan: ask with dry_run=true first');
  const doc = await beginUpgrade(request, hash, administrator(ctx));
  launchUpgrade(settings, doc._id);
  write(ctx, form, 202, JSON.stringify({ job: doc._id }));
}

function administrator(ctx: Context): string {
  return ctx.state.user?.name ?? 'anonymous';
}

async function listAll(ctx: Context): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const templateId = pathParameter(ctx, 'template_id');
  auditAbout(ctx, { target: templateId });
  const stored = await templateById(templateId);
  if (stored === null) throw templateNotFound(templateId, 'not-found');
  const upgrades = await upgradesOf([stored._id]);
  write(ctx, form, 200, JSON.stringify(upgrades.map((each) => jobOf(each, []))));
}

async function tell(ctx: Context, act: Act): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const templateId = pathParameter(ctx, 'template_id');
  const id = pathParameter(ctx, 'upgrade_id');
  auditAbout(ctx, { target: templateId, objects: [id] });
  const known = await upgradeById(id);
  if (known === null || collapsedToken(known.template_id) !== templateId)
    throw new CdrError('not-found', `the template ${templateId} has no upgrade ${id}`);
  await act(id, administrator(ctx));
  const left = await leftOf(id);
  write(ctx, form, 200, JSON.stringify(jobOf((await upgradeById(id)) ?? known, left)));
}

function write(ctx: Context, form: BodyType, status: 200 | 202, body: string): void {
  ctx.status = status;
  writeText(ctx, form, body);
}

function jobOf(doc: TemplateUpgradeDoc, leftOnes: readonly LeftComposition[]): object {
  const { _id: job, state, reason, rewrite, started_at, started_by, finished_at } = doc;
  const { upgraded, undone, left } = doc;
  const left_ones = leftOnes.map(({ ehr_id, uid, reason: why }) => ({ ehr_id, uid, reason: why }));
  return {
    job,
    template_id: collapsedToken(doc.template_id),
    state,
    // A later state has left behind why it once stopped.
    ...(state === 'paused' || state === 'undoing' ? { reason } : {}),
    from: { revision: doc.from_name, digest: doc.from },
    to: { revision: doc.to_name, digest: doc.to },
    ...{ rewrite, started_at, started_by, finished_at, upgraded, undone, left, left_ones },
  };
}
