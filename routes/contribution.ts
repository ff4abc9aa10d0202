import Router from '@koa/router';
import type { Context } from 'koa';
import { CdrError } from '../base/errors.js';
import type { Settings } from '../base/settings.js';
import { changeContext, type ChangeContext } from '../change/context.js';
import { createContribution } from '../change/contribution.js';
import { readInOrder } from '../change/ehr-access.js';
import type { LargeComposition } from '../change/large-composition.js';
import { contributionResource } from '../change/resource.js';
import type { BodyType } from '../format/media-type.js';
import { contributionOf, type ContributionDoc } from '../models/contribution.js';
import { versionsById } from '../models/version.js';
import { isLarge, readLargeComposition } from '../workers/large-body.js';
import {
  answerWrite,
  parseCanonical,
  requiredBodyText,
  rmExchange,
  rmResponse,
  setResourceHeaders,
  writeResource,
  type ResourceHeaders,
} from './exchange.js';
import { commitHeaders } from './headers.js';
import { idempotent } from './idempotency.js';
import { ehrIdFrom, uuidFrom } from './path-ids.js';
import { parsePrefer } from './prefer.js';

/** CONTRIBUTION: contract section 8. ITS-REST: contribution_create, contribution_get. */
export function contributionRoutes(settings: Settings): Router {
  const router = new Router();
  const context = changeContext(settings);
  router.post(
    '/ehr/:ehr_id/contribution',
    idempotent(async (ctx, { uids }) => {
      const form = rmResponse(ctx);
      await answerCreated(ctx, form, await requireContribution(ehrIdFrom(ctx), uids.contribution_uid ?? ''));
    }),
    (ctx) => create(ctx, settings, context),
  );
  router.get('/ehr/:ehr_id/contribution/:contribution_uid', async (ctx) => {
    const form = rmResponse(ctx);
    const contribution = await requireContribution(ehrIdFrom(ctx), uuidFrom(ctx, 'contribution_uid'));
    const { resolveRefs } = parsePrefer(ctx.get('Prefer'));
    if (resolveRefs) ctx.set('Preference-Applied', 'resolve_refs');
    setResourceHeaders(ctx, headersOf(contribution));
    await writeContribution(ctx, form, contribution);
  });
  return router;
}

/** Commits a CONTRIBUTION. ITS-REST: contribution_create. */
async function create(ctx: Context, settings: Settings, context: ChangeContext): Promise<void> {
  const { request, response } = rmExchange(ctx);
  const ehrId = ehrIdFrom(ctx);
  const defaults = commitHeaders(ctx, settings);
  const text = requiredBodyText(ctx);
  const body = await parseCanonical(ctx, text, request, 'CONTRIBUTION');
  const reading = isLarge(text) ? { ...context, readLarge } : context;
  const { contribution } = await createContribution(reading, { ehrId, defaults }, body);
  await answerCreated(ctx, response, contribution);
}

/** A COMPOSITION of a large CONTRIBUTION; null for a small one, which is read here. */
function readLarge(json: string): Promise<LargeComposition> | null {
  return isLarge(json) ? readLargeComposition({ json }) : null;
}

async function requireContribution(ehrId: string, contributionUid: string): Promise<ContributionDoc> {
  return readInOrder(ehrId, async () => {
    const contribution = await contributionOf(ehrId, contributionUid);
    if (contribution === null)
      throw new CdrError(
        'not-found',
        `CONTRIBUTION with uid ${contributionUid} does not exist in EHR ${ehrId}`,
      );
    return contribution;
  });
}

async function answerCreated(ctx: Context, form: BodyType, contribution: ContributionDoc): Promise<void> {
  await answerWrite(ctx, {
    status: 201,
    uid: contribution._id,
    form,
    ...headersOf(contribution),
    represent: () => writeContribution(ctx, form, contribution),
  });
}

function headersOf({ _id: uid, ehr_id: ehrId, time_committed: time }: ContributionDoc): ResourceHeaders {
  return { etag: uid, path: `/ehr/${ehrId}/contribution/${uid}`, lastModified: time };
}

async function writeContribution(ctx: Context, form: BodyType, contribution: ContributionDoc): Promise<void> {
  const { resolveRefs } = parsePrefer(ctx.get('Prefer'));
  const resolved = resolveRefs ? await versionsOf(contribution) : null;
  writeResource(ctx, form, contributionResource(contribution, resolved), 'contribution');
}

async function versionsOf({ ehr_id: ehrId, versions }: ContributionDoc) {
  const found = await versionsById(
    ehrId,
    versions.map(({ uid }) => uid),
  );
  return new Map(found.map((version) => [version._id, version]));
}
