import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import { LIFECYCLE, lifecycleStateOf } from '../../change/commit/codes.js';
import {
  createComposition,
  deleteComposition,
  updateComposition,
} from '../../change/composition/composition.js';
import { changeContext, type ChangeContext } from '../../change/commit/context.js';
import { ownerNow, readWithEhrErrorFirst } from '../../change/commit/ehr-access.js';
import type { VersionMetadata } from '../../change/commit/request.js';
import type { BodyType } from '../http/negotiation/media-type.js';
import type { VersionDoc } from '../../models/version.js';
import {
  compositionExchange,
  compositionReader,
  compositionResponse,
  writeComposition,
} from './composition-content.js';
import { compositionPreview } from './composition-preview.js';
import { warning } from '../http/answer/warning.js';
import { answerDeletion, answerVersion } from '../http/exchange.js';
import { commitHeaders, commitMetadata } from '../http/request/headers.js';
import { containerUidOf, ifMatchFrom, requireVersionUid } from '../http/operation/object-ids.js';
import type { AnswerDescription, BodyDescription, OperationGroup } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { parsePrefer } from '../http/request/prefer.js';
import { STANDARD_API } from '../http/request/request-state.js';
import {
  CREATED,
  DELETED,
  DELETED_THEN,
  NOT_MODIFIED,
  updateAnswers,
  versionAnswer,
  readTagged,
  requireVersion,
  requireVersionAt,
  readableVersion,
} from './read-version.js';
import { versionedObjectOperations } from './versioned-object.js';
import { readTagHeaders, setTagHeaders, storeHeaderTags, type HeaderTags } from '../tag/tag-headers.js';

const PATH = `${STANDARD_API}/ehr/{ehr_id}/composition`;
const COMPOSITION: BodyDescription = { schema: 'COMPOSITION', types: 'composition' };
const COMMIT_PARAMETERS = [
  'templateId',
  'format',
  'Prefer',
  'openEHR-VERSION',
  'openEHR-AUDIT_DETAILS',
  'openEHR-TEMPLATE_ID',
  'openehr-item-tag',
  'openehr-version-item-tag',
] as const;

/** Committing, reading and deleting COMPOSITIONs. */
export function compositionOperations(settings: Settings): OperationGroup {
  const context = changeContext(settings);
  return {
    tag: 'COMPOSITION',
    description: 'Versioned clinical documents in canonical JSON, XML, FLAT and STRUCTURED',
    operations: [
      {
        id: 'composition_create',
        discloses: 'create',
        method: 'POST',
        path: PATH,
        summary: 'Commit a new COMPOSITION',
        access: 'write',
        audit: 'write',
        parameters: [...COMMIT_PARAMETERS, 'Idempotency-Key'],
        request: COMPOSITION,
        responses: { 201: versionAnswer(CREATED, COMPOSITION) },
        errors: [400, 404, 409, 412, 422, 502],
        replay: (ctx, { uids }) => answerAgain(ctx, settings, uids.version_uid ?? '', 201),
        handle: (ctx) => create(ctx, settings, context),
      },
      {
        id: 'composition_get',
        discloses: 'read',
        method: 'GET',
        path: `${PATH}/{uid_based_id}`,
        summary: 'Get a COMPOSITION: one version, or the one of a container now or at a time',
        access: 'read',
        audit: 'read',
        parameters: ['version_at_time', 'format', 'Prefer'],
        responses: {
          200: readAnswer(),
          204: DELETED_THEN,
          304: NOT_MODIFIED,
        },
        errors: [400, 404],
        handle: get,
      },
      {
        id: 'composition_update',
        discloses: 'update',
        method: 'PUT',
        path: `${PATH}/{uid_based_id}`,
        summary: 'Commit a new version of a COMPOSITION',
        access: 'write',
        audit: 'write',
        parameters: [...COMMIT_PARAMETERS, 'openehrVersion', 'If-Match', 'Idempotency-Key'],
        request: COMPOSITION,
        responses: updateAnswers(settings, COMPOSITION),
        errors: [400, 404, 409, 412, 422, 502],
        replay: (ctx, { uids }) => answerAgain(ctx, settings, uids.version_uid ?? '', 200),
        handle: (ctx) => update(ctx, settings, context),
      },
      {
        id: 'composition_delete',
        discloses: 'delete',
        method: 'DELETE',
        path: `${PATH}/{uid_based_id}`,
        summary: 'Delete a COMPOSITION logically',
        access: 'write',
        audit: 'write',
        parameters: ['openEHR-AUDIT_DETAILS', 'Idempotency-Key'],
        responses: { 204: DELETED },
        errors: [400, 404, 409],
        replay: async (ctx, { uids }) => {
          answerDeletion(ctx, await madeBefore(ctx, uids.version_uid ?? ''));
        },
        handle: async (ctx) => {
          const ehrId = pathParameter(ctx, 'ehr_id');
          const named = requireVersionUid(pathParameter(ctx, 'uid_based_id'));
          const metadata = commitMetadata(ctx, 'DELETE', settings);
          const change = { ehrId, metadata, versionId: named.id, versionUid: named.uid };
          answerDeletion(ctx, await deleteComposition(context, change));
        },
      },
      ...versionedObjectOperations('COMPOSITION', settings),
      compositionPreview(settings, context),
    ],
  };
}

function readAnswer(): AnswerDescription {
  const { headers = [], ...answered } = versionAnswer('The COMPOSITION', COMPOSITION);
  return { ...answered, headers: [...headers, 'Everchart-Template-Revision'] };
}

async function answerAgain(ctx: Context, settings: Settings, uid: string, status: 200 | 201): Promise<void> {
  const form = compositionResponse(ctx);
  await answer(ctx, settings, form, { version: await madeBefore(ctx, uid), status });
}

/** What an earlier request with the same `Idempotency-Key` made, wherever it is now. */
async function madeBefore(ctx: Context, uid: string): Promise<VersionDoc> {
  const ehrId = await ownerNow(pathParameter(ctx, 'ehr_id'));
  return readWithEhrErrorFirst(ehrId, () => requireVersion(ehrId, 'COMPOSITION', { uid }));
}

/** Creates the first version of a COMPOSITION. ITS-REST: composition_create. */
async function create(ctx: Context, settings: Settings, context: ChangeContext): Promise<void> {
  const { request, response } = compositionExchange(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const metadata = commitMetadata(ctx, 'POST', settings);
  const inSameTransaction = tagWriter(ehrId, readTagHeaders(ctx));
  const { read, located, pin } = await compositionReader(ctx, request, { findings: metadata.findings });
  const change = { ehrId, metadata, inSameTransaction };
  const changing = warning(ctx, pin === undefined ? context : { ...context, pin });
  const version = await createComposition(changing, change, read).catch(async (error: unknown) => {
    throw await located(error);
  });
  await answer(ctx, settings, response, { version, status: 201 });
}

/** A COMPOSITION by version uid, or the version of a container now or at a time. ITS-REST: composition_get. */
async function get(ctx: Context): Promise<void> {
  const form = compositionResponse(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const named = pathParameter(ctx, 'uid_based_id');
  const time = 'id' in named ? null : queryParameter(ctx, 'version_at_time');
  const { version, tags } = await readTagged(ehrId, () =>
    'id' in named
      ? requireVersion(ehrId, 'COMPOSITION', named)
      : requireVersionAt(ehrId, 'COMPOSITION', named.versionedObjectUid, time),
  );
  setTagHeaders(ctx, version.version, tags);
  await writeComposition(ctx, form, version);
}

/** Creates the next version of a COMPOSITION. ITS-REST: composition_update. */
async function update(ctx: Context, settings: Settings, context: ChangeContext): Promise<void> {
  const { request, response } = compositionExchange(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const versionedObjectUid = containerUidOf(pathParameter(ctx, 'uid_based_id'));
  const ifMatch = ifMatchFrom(ctx, settings.systemId);
  const metadata = withStateOfQuery(ctx, settings, commitMetadata(ctx, 'PUT', settings));
  const inSameTransaction = tagWriter(ehrId, readTagHeaders(ctx));
  const { keepsUnshown } = parsePrefer(ctx.get('Prefer'));
  const { read, located, pin } = await compositionReader(ctx, request, {
    findings: metadata.findings,
    ...(keepsUnshown && { before: () => readableVersion(ehrId, ifMatch) }),
  });
  const change = { ehrId, versionedObjectUid, ifMatch, metadata, inSameTransaction };
  const changing = pin === undefined ? context : { ...context, pin };
  const version = await updateComposition(changing, change, read).catch(async (error: unknown) => {
    throw await located(error);
  });
  await answer(ctx, settings, response, { version, status: 200 });
}

/** Query `openehrVersion` or `stdVersion`: the lifecycle state code, as the header VERSION. */
function withStateOfQuery(ctx: Context, settings: Settings, metadata: VersionMetadata): VersionMetadata {
  const code = queryParameter(ctx, 'openehrVersion');
  if (code === null) return metadata;
  const lifecycleState = lifecycleStateOf({ code });
  const header = commitHeaders(ctx, settings).lifecycleState;
  if (header !== undefined && header !== lifecycleState)
    throw new CdrError('invalid', 'the lifecycle state is given with two values');
  if (lifecycleState === LIFECYCLE.deleted)
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
