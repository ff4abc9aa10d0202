import Router from '@koa/router';
import type { Context } from 'koa';
import { CdrError } from '../base/errors.js';
import type { Settings } from '../base/settings.js';
import { lifecycleStateOf } from '../change/codes.js';
import { createComposition, deleteComposition, updateComposition } from '../change/composition.js';
import { changeContext, type ChangeContext } from '../change/context.js';
import { readInOrder } from '../change/ehr-access.js';
import type { VersionMetadata } from '../change/request.js';
import type { BodyType } from '../format/media-type.js';
import { tagsBesideVersion } from '../models/item-tag.js';
import type { VersionDoc } from '../models/version.js';
import {
  compositionExchange,
  compositionReader,
  compositionResponse,
  writeComposition,
} from './composition-content.js';
import { answerDeletion, answerVersion } from './exchange.js';
import { commitHeaders, commitMetadata } from './headers.js';
import { idempotent } from './idempotency.js';
import { ehrIdFrom, ifMatchFrom, uidBasedIdFrom, uuidFrom, versionUidFrom } from './path-ids.js';
import { queryParameter } from './query-parameter.js';
import { requireVersion, requireVersionAt, versionAtTimeFrom } from './read-version.js';
import { readTagHeaders, setTagHeaders, storeHeaderTags, type HeaderTags } from './tag-headers.js';

/** COMPOSITION: contract section 8. ITS-REST: composition_create, _get, _update, _delete. */
export function compositionRoutes(settings: Settings): Router {
  const router = new Router();
  const context = changeContext(settings);
  router.post(
    '/ehr/:ehr_id/composition',
    idempotent(async (ctx, { uids }) => {
      const form = compositionResponse(ctx);
      const ehrId = ehrIdFrom(ctx);
      const version = await readInOrder(ehrId, () =>
        requireVersion(ehrId, 'COMPOSITION', { uid: uids.version_uid ?? '' }),
      );
      await answer(ctx, settings, form, { version, status: 201 });
    }),
    (ctx) => create(ctx, settings, context),
  );
  router.get('/ehr/:ehr_id/composition/:uid_based_id', (ctx) => get(ctx, settings));
  router.put('/ehr/:ehr_id/composition/:versioned_object_uid', (ctx) => update(ctx, settings, context));
  router.delete('/ehr/:ehr_id/composition/:version_uid', async (ctx) => {
    const ehrId = ehrIdFrom(ctx);
    const { id: versionId, uid: versionUid } = versionUidFrom(ctx, 'version_uid');
    const metadata = commitMetadata(ctx, 'DELETE', settings);
    answerDeletion(ctx, await deleteComposition(context, { ehrId, metadata, versionId, versionUid }));
  });
  return router;
}

/** Creates the first version of a COMPOSITION. ITS-REST: composition_create. */
async function create(ctx: Context, settings: Settings, context: ChangeContext): Promise<void> {
  const { request, response } = compositionExchange(ctx);
  const ehrId = ehrIdFrom(ctx);
  const metadata = commitMetadata(ctx, 'POST', settings);
  const beside = tagWriter(ehrId, readTagHeaders(ctx));
  const read = await compositionReader(ctx, request);
  const version = await createComposition(context, { ehrId, metadata, beside }, read);
  await answer(ctx, settings, response, { version, status: 201 });
}

/** A COMPOSITION by version uid, or the version of a container now or at a time. ITS-REST: composition_get. */
async function get(ctx: Context, settings: Settings): Promise<void> {
  const form = compositionResponse(ctx);
  const ehrId = ehrIdFrom(ctx);
  const named = uidBasedIdFrom(ctx, 'uid_based_id');
  const time = 'id' in named ? null : versionAtTimeFrom(ctx, settings.defaultTimezone);
  const version = await readInOrder(ehrId, () =>
    'id' in named
      ? requireVersion(ehrId, 'COMPOSITION', named)
      : requireVersionAt(ehrId, 'COMPOSITION', named.objectId, time),
  );
  setTagHeaders(ctx, version.version, await tagsBesideVersion(version));
  await writeComposition(ctx, form, version);
}

/** Creates the next version of a COMPOSITION. ITS-REST: composition_update. */
async function update(ctx: Context, settings: Settings, context: ChangeContext): Promise<void> {
  const { request, response } = compositionExchange(ctx);
  const ehrId = ehrIdFrom(ctx);
  const objectId = uuidFrom(ctx, 'versioned_object_uid');
  const ifMatch = ifMatchFrom(ctx);
  const metadata = withStateOfQuery(ctx, settings, commitMetadata(ctx, 'PUT', settings));
  const beside = tagWriter(ehrId, readTagHeaders(ctx));
  const read = await compositionReader(ctx, request);
  const version = await updateComposition(context, { ehrId, objectId, ifMatch, metadata, beside }, read);
  await answer(ctx, settings, response, { version, status: 200 });
}

/** Query `openehrVersion` or `stdVersion`: the lifecycle state code, as the header VERSION (D8). */
function withStateOfQuery(ctx: Context, settings: Settings, metadata: VersionMetadata): VersionMetadata {
  const given = ['openehrVersion', 'stdVersion'].flatMap((name) => queryParameter(ctx, name) ?? []);
  const [code, other] = given.filter((text) => text !== '');
  if (code === undefined) return metadata;
  const lifecycleState = lifecycleStateOf({ code });
  const header = commitHeaders(ctx, settings).lifecycleState;
  if ((other !== undefined && other !== code) || (header !== undefined && header !== lifecycleState))
    throw new CdrError('invalid', 'the lifecycle state is given with two values');
  if (lifecycleState === '523')
    throw new CdrError('invalid', 'the lifecycle state 523 is not possible with PUT');
  return { ...metadata, lifecycleState };
}

function tagWriter(ehrId: string, tags: HeaderTags): ((versionUid: string) => Promise<void>) | undefined {
  if (tags.container === null && tags.version === null) return undefined;
  return (versionUid) => storeHeaderTags(ehrId, 'COMPOSITION', versionUid, tags);
}

function answer(
  ctx: Context,
  settings: Settings,
  form: BodyType,
  made: { readonly version: VersionDoc; readonly status: 200 | 201 },
): Promise<void> {
  return answerVersion(ctx, settings, {
    ...made,
    form,
    represent: () => writeComposition(ctx, form, made.version),
  });
}
