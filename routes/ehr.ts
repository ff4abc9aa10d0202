import Router from '@koa/router';
import type { Context } from 'koa';
import { CdrError } from '../base/errors.js';
import type { JsonObject } from '../base/json.js';
import type { Settings } from '../base/settings.js';
import { changeContext, type ChangeContext } from '../change/context.js';
import { createEhr, ehrOfSubject, type CreatedEhr } from '../change/ehr.js';
import { readableEhr } from '../change/ehr-access.js';
import { ehrNotFound } from '../change/refusal.js';
import { ehrResource, hierObjectId, localRef } from '../change/resource.js';
import type { BodyType } from '../format/media-type.js';
import { contributionIds } from '../models/contribution.js';
import type { EhrDoc } from '../models/ehr.js';
import type { IdempotentResult } from '../models/idempotency.js';
import { latestVersion, type VersionDoc } from '../models/version.js';
import { liveCompositionIds } from '../models/versioned-object.js';
import {
  answerWrite,
  bodyText,
  parseCanonical,
  rmExchange,
  rmResponse,
  setResourceHeaders,
  writeResource,
} from './exchange.js';
import { commitMetadata } from './headers.js';
import { idempotent } from './idempotency.js';
import { ehrIdFrom } from './path-ids.js';
import { queryParameter } from './query-parameter.js';

const INCLUDABLE = ['compositions', 'contributions'];

/** EHR: contract section 8. ITS-REST: ehr_create, ehr_create_with_id, ehr_get_by_id, ehr_get_by_subject. */
export function ehrRoutes(settings: Settings): Router {
  const router = new Router();
  const context = changeContext(settings);
  const replay = async (ctx: Context, { uids }: IdempotentResult): Promise<void> =>
    answerCreated(ctx, settings, rmExchange(ctx).response, await createdBefore(uids.ehr_id ?? ''));
  router.post('/ehr', idempotent(replay), (ctx) => create(ctx, settings, context, null));
  router.put('/ehr/:ehr_id', (ctx) => create(ctx, settings, context, ehrIdFrom(ctx)));
  router.get('/ehr/:ehr_id', async (ctx) => {
    const form = rmResponse(ctx);
    const include = includeFrom(ctx);
    await writeEhr(ctx, settings, await readableEhr(ehrIdFrom(ctx)), { form, include });
  });
  router.get('/ehr', async (ctx) => {
    const form = rmResponse(ctx);
    const include = includeFrom(ctx);
    const ehr = await ehrOfSubject(subjectFrom(ctx));
    await writeEhr(ctx, settings, ehr, { form, include });
  });
  return router;
}

async function create(
  ctx: Context,
  settings: Settings,
  context: ChangeContext,
  ehrId: string | null,
): Promise<void> {
  const { request, response } = rmExchange(ctx);
  const metadata = commitMetadata(ctx, 'POST', settings);
  const text = bodyText(ctx);
  const status = text === null ? null : await parseCanonical(ctx, text, request, 'EHR_STATUS');
  if (text !== null && status === null)
    throw new CdrError('invalid', 'the body must be an EHR_STATUS object');
  const created = await createEhr(context, { ehrId, status, metadata });
  await answerCreated(ctx, settings, response, created);
}

async function answerCreated(
  ctx: Context,
  settings: Settings,
  form: BodyType,
  { ehr, status }: CreatedEhr,
): Promise<void> {
  await answerWrite(ctx, {
    status: 201,
    uid: ehr._id,
    form,
    etag: ehr._id,
    path: `/ehr/${ehr._id}`,
    lastModified: ehr.time_created,
    represent: () =>
      writeResource(ctx, form, ehrResource(ehr, status, { statusAsRef: settings.ehrStatusAsRef }), 'ehr'),
  });
}

/** What an earlier POST with the same `Idempotency-Key` made. */
async function createdBefore(ehrId: string): Promise<CreatedEhr> {
  const ehr = await readableEhr(ehrId);
  return { ehr, status: await latestStatus(ehr) };
}

async function writeEhr(
  ctx: Context,
  settings: Settings,
  ehr: EhrDoc,
  { form, include }: { readonly form: BodyType; readonly include: readonly string[] },
): Promise<void> {
  const status = await latestStatus(ehr);
  const lists = await includedLists(ehr._id, include);
  setResourceHeaders(ctx, { etag: ehr._id, path: `/ehr/${ehr._id}`, lastModified: ehr.time_created });
  writeResource(ctx, form, ehrResource(ehr, status, { statusAsRef: settings.ehrStatusAsRef, lists }), 'ehr');
}

async function latestStatus(ehr: EhrDoc): Promise<VersionDoc> {
  const status = await latestVersion(ehr._id, 'EHR_STATUS', ehr.ehr_status_id);
  if (status === null) throw ehrNotFound(ehr._id);
  return status;
}

async function includedLists(ehrId: string, include: readonly string[]): Promise<JsonObject> {
  const lists: JsonObject = {};
  if (include.includes('compositions')) {
    const ids = await liveCompositionIds(ehrId);
    lists.compositions = ids.map((id) => localRef(hierObjectId(id), 'VERSIONED_COMPOSITION'));
  }
  if (include.includes('contributions')) {
    const ids = await contributionIds(ehrId);
    lists.contributions = ids.map((id) => localRef(hierObjectId(id), 'CONTRIBUTION'));
  }
  return lists;
}

function includeFrom(ctx: Context): string[] {
  const words = (queryParameter(ctx, 'include') ?? '').split(',').map((word) => word.trim());
  const include = words.filter((word) => word !== '');
  if (!include.every((word) => INCLUDABLE.includes(word)))
    throw new CdrError('invalid', `include may name ${INCLUDABLE.join(', ')}`);
  return include;
}

function subjectFrom(ctx: Context): { namespace: string; id: string } {
  const id = queryParameter(ctx, 'subject_id') ?? '';
  const namespace = queryParameter(ctx, 'subject_namespace') ?? '';
  if (id === '' || namespace === '')
    throw new CdrError('invalid', 'subject_id and subject_namespace are both required');
  return { namespace, id };
}
