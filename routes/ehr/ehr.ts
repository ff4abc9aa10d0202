import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import type { Settings } from '../../config/settings.js';
import { changeContext, type ChangeContext } from '../../change/commit/context.js';
import { createEhr, ehrOfSubject, type CreatedEhr } from '../../change/ehr.js';
import { readableEhr, readableEhrWithStatus, readWithEhrErrorFirst } from '../../change/commit/ehr-access.js';
import { ehrNotFound } from '../../change/commit/refusal.js';
import { viewing } from '../../change/access/viewer.js';
import { seenContent } from './seen-content.js';
import { ehrResource, hierObjectId, localRef, objectVersionId } from '../../change/commit/resource.js';
import type { BodyType } from '../http/negotiation/media-type.js';
import { ehrContent } from '../../models/cross-collection/ehr-contents.js';
import type { EhrDoc } from '../../models/ehr.js';
import { latestVersion, type VersionDoc } from '../../models/version.js';
import { auditAbout } from '../http/audit-trail.js';
import {
  answerWrite,
  bodyText,
  parseCanonical,
  rmExchange,
  rmResponse,
  setResourceHeaders,
  warnOfFindings,
  writeResource,
} from '../http/exchange.js';
import { commitMetadata } from '../http/request/headers.js';
import type { BodyDescription, OperationGroup } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { parsePrefer } from '../http/request/prefer.js';
import { STANDARD_API } from '../http/request/request-state.js';
import { findEhrsOperation } from './ehr-list.js';
import { extractOperations } from './extract.js';
import { CREATED, versionAnswer } from './read-version.js';

const PATH = `${STANDARD_API}/ehr`;
const EHR: BodyDescription = { schema: 'EHR', types: 'rm' };
const EHR_STATUS: BodyDescription = { schema: 'EHR_STATUS', types: 'rm', required: false };

/** Creating and reading EHRs. */
export function ehrOperations(settings: Settings): OperationGroup {
  const context = changeContext(settings);
  return {
    tag: 'EHR',
    description: 'Electronic health records. They are found by identifier; administrators list them',
    operations: [
      {
        id: 'ehr_create',
        discloses: 'create',
        method: 'POST',
        path: PATH,
        summary: 'Create an EHR',
        access: 'write',
        audit: 'write',
        parameters: ['Prefer', 'openEHR-VERSION', 'openEHR-AUDIT_DETAILS', 'Idempotency-Key'],
        request: EHR_STATUS,
        responses: { 201: versionAnswer(CREATED, EHR) },
        errors: [400, 409, 422],
        replay: (ctx, { uids }) => answerCreatedBefore(ctx, settings, uids.ehr_id ?? ''),
        handle: (ctx) => create(ctx, settings, context, null),
      },
      {
        id: 'ehr_get_by_subject',
        discloses: 'read',
        method: 'GET',
        path: PATH,
        summary: 'Find the EHR of a patient',
        access: 'read',
        audit: 'read',
        parameters: ['Prefer', 'subject_id', 'subject_namespace', 'include'],
        responses: { 200: versionAnswer('The EHR', EHR) },
        errors: [400, 404],
        handle: async (ctx) => {
          const form = rmResponse(ctx);
          const include = queryParameter(ctx, 'include') ?? [];
          const { _id: ehrId } = await ehrOfSubject(subjectFrom(ctx));
          await writeEhr(ctx, settings, ehrId, { form, include });
        },
      },
      {
        id: 'ehr_create_with_id',
        discloses: 'create',
        method: 'PUT',
        path: `${PATH}/{ehr_id}`,
        summary: 'Create an EHR with a given id',
        access: 'write',
        audit: 'write',
        parameters: ['Prefer', 'openEHR-VERSION', 'openEHR-AUDIT_DETAILS', 'Idempotency-Key'],
        request: EHR_STATUS,
        responses: { 201: versionAnswer(CREATED, EHR) },
        errors: [400, 409, 422],
        replay: (ctx, { uids }) => answerCreatedBefore(ctx, settings, uids.ehr_id ?? ''),
        handle: (ctx) => create(ctx, settings, context, pathParameter(ctx, 'ehr_id')),
      },
      {
        id: 'ehr_get_by_id',
        discloses: 'read',
        method: 'GET',
        path: `${PATH}/{ehr_id}`,
        summary: 'Get an EHR',
        access: 'read',
        audit: 'read',
        parameters: ['Prefer', 'include'],
        responses: { 200: versionAnswer('The EHR', EHR) },
        errors: [400, 404],
        handle: async (ctx) => {
          const form = rmResponse(ctx);
          const include = queryParameter(ctx, 'include') ?? [];
          await writeEhr(ctx, settings, pathParameter(ctx, 'ehr_id'), { form, include });
        },
      },
      findEhrsOperation(),
      ...extractOperations(settings),
    ],
  };
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
  // `null` is no body: EHRbase's SDK sends it for an EHR without EHR_STATUS.
  const status = text === null ? null : await parseCanonical(ctx, text, request, 'EHR_STATUS');
  const created = await createEhr(context, { ehrId, status, metadata });
  await answerCreated(ctx, settings, response, created);
}

async function answerCreated(
  ctx: Context,
  settings: Settings,
  form: BodyType,
  { ehr, status }: CreatedEhr,
): Promise<void> {
  warnOfFindings(ctx, [status]);
  await answerWrite(ctx, {
    status: 201,
    uid: ehr._id,
    form,
    etag: ehr._id,
    path: `/ehr/${ehr._id}`,
    lastModified: ehr.time_created,
    represent: () =>
      writeResource(
        ctx,
        form,
        ehrResource(ehr, status, { statusAsRef: isStatusAsRef(ctx, settings) || status.data === null }),
        'ehr',
      ),
  });
}

/** Answers what an earlier request with the same `Idempotency-Key` made. */
async function answerCreatedBefore(ctx: Context, settings: Settings, ehrId: string): Promise<void> {
  const { response } = rmExchange(ctx);
  const ehr = await readableEhr(ehrId);
  const status = await latestStatus(ehr);
  // Others may have changed it meanwhile, to what policies hide from who asks.
  const isSeen = (await viewing.getStore()?.viewer?.sees(ehrId, status)) !== false;
  await answerCreated(ctx, settings, response, { ehr, status: isSeen ? status : { ...status, data: null } });
}

async function writeEhr(
  ctx: Context,
  settings: Settings,
  ehrId: string,
  { form, include }: { readonly form: BodyType; readonly include: readonly string[] },
): Promise<void> {
  auditAbout(ctx, { ehr_id: ehrId });
  const statusAsRef = isStatusAsRef(ctx, settings) && !include.includes('ehr_status');
  // Of a reference nothing is shown but the uid.
  const { ehr, status, lists } =
    statusAsRef && include.length === 0
      ? await ehrWithReference(ehrId)
      : await readWithEhrErrorFirst(ehrId, () => ehrWithContent(ehrId, include));
  setResourceHeaders(ctx, { etag: ehr._id, path: `/ehr/${ehr._id}`, lastModified: ehr.time_created });
  // Of an EHR_STATUS that policies hide from who asks nothing is said but that it is there, as of that of every EHR.
  const shown = { statusAsRef: statusAsRef || status.data === null, lists };
  await writeResource(ctx, form, ehrResource(ehr, status, shown), 'ehr');
}

async function ehrWithReference(ehrId: string) {
  const { ehr, statusUid } = await readableEhrWithStatus(ehrId);
  return { ehr, status: { _id: statusUid, data: null }, lists: {} };
}

/** The EHR_STATUS stands in an EHR as a reference, as the standard has it, unless the client asks for the object. */
function isStatusAsRef(ctx: Context, { ehrStatusAsRef }: Settings): boolean {
  return ehrStatusAsRef && !parsePrefer(ctx.get('Prefer')).resolveRefs;
}

async function latestStatus(ehr: EhrDoc): Promise<VersionDoc> {
  const status = await latestVersion(ehr._id, 'EHR_STATUS', ehr.ehr_status_id);
  if (status === null) throw ehrNotFound(ehr._id);
  return status;
}

async function ehrWithContent(ehrId: string, include: readonly string[]) {
  const ehr = await readableEhr(ehrId);
  const wanted = {
    compositions: include.includes('compositions'),
    contributions: include.includes('contributions'),
    versions: include.includes('versions'),
  };
  const all = await ehrContent(ehr, wanted);
  const viewer = viewing.getStore()?.viewer;
  const content = viewer === undefined ? all : await seenContent(viewer, ehrId, all);
  const { status, compositions, contributions, versions } = content;
  if (status === null) throw ehrNotFound(ehrId);
  const refs = (ids: readonly string[], type: string) => ids.map((id) => localRef(hierObjectId(id), type));
  const lists: JsonObject = {
    ...(wanted.compositions && { compositions: refs(compositions, 'VERSIONED_COMPOSITION') }),
    ...(wanted.contributions && { contributions: refs(contributions, 'CONTRIBUTION') }),
    ...(wanted.versions && {
      versions: versions.map(({ uid, type }) => localRef(objectVersionId(uid), type)),
    }),
  };
  return { ehr, status, lists };
}

function subjectFrom(ctx: Context): { namespace: string; id: string } {
  const id = queryParameter(ctx, 'subject_id') ?? '';
  const namespace = queryParameter(ctx, 'subject_namespace') ?? '';
  if (id === '' || namespace === '')
    throw new CdrError('invalid', 'subject_id and subject_namespace are both required');
  return { namespace, id };
}
