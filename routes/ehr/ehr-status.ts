import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import type { BodyType } from '../http/negotiation/media-type.js';
import type { VersionDoc } from '../../models/version.js';
import { changeContext, type ChangeContext } from '../../change/commit/context.js';
import { inOneState, readWithEhrErrorFirst } from '../../change/commit/ehr-access.js';
import { updateEhrStatus } from '../../change/ehr-status.js';
import { tagsBesideVersion } from '../../models/item-tag.js';
import {
  answerVersion,
  parseCanonical,
  requiredBodyText,
  rmExchange,
  rmResponse,
  writeVersion,
} from '../http/exchange.js';
import { warning } from '../http/answer/warning.js';
import { commitMetadata } from '../http/request/headers.js';
import { ifMatchFrom } from '../http/operation/object-ids.js';
import type { BodyDescription, OperationGroup } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { STANDARD_API } from '../http/request/request-state.js';
import {
  NOT_MODIFIED,
  updateAnswers,
  versionAnswer,
  readTagged,
  requireVersion,
  requireVersionAt,
} from './read-version.js';
import { versionedObjectOperations } from './versioned-object.js';
import { readTagHeaders, setTagHeaders, storeHeaderTags } from '../tag/tag-headers.js';

const PATH = `${STANDARD_API}/ehr/{ehr_id}/ehr_status`;
const EHR_STATUS: BodyDescription = { schema: 'EHR_STATUS', types: 'rm' };

/** Reading and changing the EHR_STATUS. */
export function ehrStatusOperations(settings: Settings): OperationGroup {
  const context = changeContext(settings);
  return {
    tag: 'EHR_STATUS',
    description: 'Versioned status of an EHR; made with the EHR and never deleted',
    operations: [
      {
        id: 'ehr_status_get_at_time',
        discloses: 'read',
        method: 'GET',
        path: PATH,
        summary: 'Get the status, now or at a time',
        access: 'read',
        audit: 'read',
        parameters: ['version_at_time', 'Prefer'],
        responses: { 200: versionAnswer('The status', EHR_STATUS), 304: NOT_MODIFIED },
        errors: [400, 404],
        handle: getAtTime,
      },
      {
        id: 'ehr_status_get_by_version',
        discloses: 'read',
        method: 'GET',
        path: `${PATH}/{version_uid}`,
        summary: 'Get one version of the status',
        access: 'read',
        audit: 'read',
        parameters: ['Prefer'],
        responses: { 200: versionAnswer('The status', EHR_STATUS), 304: NOT_MODIFIED },
        errors: [400, 404],
        handle: getByVersion,
      },
      {
        id: 'ehr_status_update',
        discloses: 'update',
        method: 'PUT',
        path: PATH,
        summary: 'Commit a new version of the status',
        access: 'write',
        audit: 'write',
        parameters: [
          'If-Match',
          'Prefer',
          'openEHR-VERSION',
          'openEHR-AUDIT_DETAILS',
          'openehr-item-tag',
          'openehr-version-item-tag',
          'Idempotency-Key',
        ],
        request: EHR_STATUS,
        responses: updateAnswers(settings, EHR_STATUS),
        errors: [400, 404, 409, 412, 422],
        replay: (ctx, { uids }) => answerAgain(ctx, settings, uids.version_uid ?? ''),
        handle: (ctx) => update(ctx, settings, context),
      },
      ...versionedObjectOperations('EHR_STATUS', settings),
    ],
  };
}

async function getAtTime(ctx: Context): Promise<void> {
  const form = rmResponse(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const time = queryParameter(ctx, 'version_at_time');
  const { version, tags } = await inOneState(ehrId, async (ehr) => {
    const found = await requireVersionAt(ehrId, 'EHR_STATUS', ehr.ehr_status_id, time);
    return { version: found, tags: await tagsBesideVersion(found) };
  });
  setTagHeaders(ctx, version.version, tags);
  await writeVersion(ctx, form, version);
}

async function getByVersion(ctx: Context): Promise<void> {
  const form = rmResponse(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const named = pathParameter(ctx, 'version_uid');
  const { version, tags } = await readTagged(ehrId, () => requireVersion(ehrId, 'EHR_STATUS', named));
  setTagHeaders(ctx, version.version, tags);
  await writeVersion(ctx, form, version);
}

/** Creates the next version of the EHR_STATUS. ITS-REST: ehr_status_update. */
async function update(ctx: Context, settings: Settings, context: ChangeContext): Promise<void> {
  const { request, response } = rmExchange(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const ifMatch = ifMatchFrom(ctx, settings.systemId);
  const metadata = commitMetadata(ctx, 'PUT', settings);
  const tags = readTagHeaders(ctx);
  const body = await parseCanonical(ctx, requiredBodyText(ctx), request, 'EHR_STATUS');
  const inSameTransaction = (versionUid: string): Promise<void> =>
    storeHeaderTags(ehrId, 'EHR_STATUS', versionUid, tags);
  const change = { ehrId, ifMatch, metadata, inSameTransaction };
  await answer(ctx, settings, response, await updateEhrStatus(warning(ctx, context), change, body));
}

/** Answers what an earlier request with the same `Idempotency-Key` made. */
async function answerAgain(ctx: Context, settings: Settings, uid: string): Promise<void> {
  const form = rmResponse(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const version = await readWithEhrErrorFirst(ehrId, () => requireVersion(ehrId, 'EHR_STATUS', { uid }));
  await answer(ctx, settings, form, version);
}

function answer(ctx: Context, settings: Settings, form: BodyType, version: VersionDoc): Promise<void> {
  return answerVersion(ctx, settings, {
    version,
    status: 200,
    form,
    represent: () => writeVersion(ctx, form, version),
  });
}
