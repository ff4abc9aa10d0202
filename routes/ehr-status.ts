import Router from '@koa/router';
import type { Context } from 'koa';
import type { Settings } from '../base/settings.js';
import { changeContext, type ChangeContext } from '../change/context.js';
import { readableEhr, readInOrder } from '../change/ehr-access.js';
import { updateEhrStatus } from '../change/ehr-status.js';
import { tagsBesideVersion } from '../models/item-tag.js';
import {
  answerVersion,
  parseCanonical,
  requiredBodyText,
  rmExchange,
  rmResponse,
  writeVersion,
} from './exchange.js';
import { commitMetadata } from './headers.js';
import { ehrIdFrom, ifMatchFrom, versionUidFrom } from './path-ids.js';
import { requireVersion, requireVersionAt, versionAtTimeFrom } from './read-version.js';
import { readTagHeaders, setTagHeaders, storeHeaderTags } from './tag-headers.js';

/** EHR_STATUS: contract section 8. ITS-REST: ehr_status_get_at_time, ehr_status_get_by_version, ehr_status_update. */
export function ehrStatusRoutes(settings: Settings): Router {
  const router = new Router();
  const context = changeContext(settings);
  router.get('/ehr/:ehr_id/ehr_status', async (ctx) => {
    const form = rmResponse(ctx);
    const ehrId = ehrIdFrom(ctx);
    const time = versionAtTimeFrom(ctx, settings.defaultTimezone);
    const ehr = await readableEhr(ehrId);
    const version = await requireVersionAt(ehrId, 'EHR_STATUS', ehr.ehr_status_id, time);
    setTagHeaders(ctx, version.version, await tagsBesideVersion(version));
    writeVersion(ctx, form, version);
  });
  router.get('/ehr/:ehr_id/ehr_status/:version_uid', async (ctx) => {
    const form = rmResponse(ctx);
    const ehrId = ehrIdFrom(ctx);
    const named = versionUidFrom(ctx, 'version_uid');
    const version = await readInOrder(ehrId, () => requireVersion(ehrId, 'EHR_STATUS', named));
    setTagHeaders(ctx, version.version, await tagsBesideVersion(version));
    writeVersion(ctx, form, version);
  });
  router.put('/ehr/:ehr_id/ehr_status', (ctx) => update(ctx, settings, context));
  return router;
}

/** Creates the next version of the EHR_STATUS. ITS-REST: ehr_status_update. */
async function update(ctx: Context, settings: Settings, context: ChangeContext): Promise<void> {
  const { request, response } = rmExchange(ctx);
  const ehrId = ehrIdFrom(ctx);
  const ifMatch = ifMatchFrom(ctx);
  const metadata = commitMetadata(ctx, 'PUT', settings);
  const tags = readTagHeaders(ctx);
  const body = await parseCanonical(ctx, requiredBodyText(ctx), request, 'EHR_STATUS');
  const beside = (versionUid: string): Promise<void> =>
    storeHeaderTags(ehrId, 'EHR_STATUS', versionUid, tags);
  const version = await updateEhrStatus(context, { ehrId, ifMatch, metadata, beside }, body);
  await answerVersion(ctx, settings, {
    version,
    status: 200,
    form: response,
    represent: () => {
      writeVersion(ctx, response, version);
    },
  });
}
