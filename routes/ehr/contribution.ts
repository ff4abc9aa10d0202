import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import type { Settings } from '../../config/settings.js';
import { changeContext, type ChangeContext } from '../../change/commit/context.js';
import { createContribution } from '../../change/contribution/contribution.js';
import { seenOfContribution, seenOfNothing } from '../../change/access/seen-contribution.js';
import { viewing } from '../../change/access/viewer.js';
import { inOneState, ownerNow, readWithEhrErrorFirst } from '../../change/commit/ehr-access.js';
import { contributionResource } from '../../change/commit/resource.js';
import { requestBody, responseBody, type BodyType } from '../http/negotiation/media-type.js';
import { contributionOf, type ContributionDoc } from '../../models/contribution.js';
import { acceptedFindingsOf, versionsById, type VersionDoc } from '../../models/version.js';
import { isLarge, readLargeComposition } from '../../workers/large-body.js';
import { warning } from '../http/answer/warning.js';
import { auditAbout } from '../http/audit-trail.js';
import {
  answerWrite,
  parseCanonical,
  requiredBodyText,
  setResourceHeaders,
  warnOfFindings,
  writeResource,
  type ResourceHeaders,
} from '../http/exchange.js';
import { commitHeaders, requestVendorWord } from '../http/request/headers.js';
import type { BodyDescription, OperationGroup } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { bodyOwner } from '../http/request/request-body.js';
import { STANDARD_API } from '../http/request/request-state.js';
import {
  compositionIn,
  flatOf,
  simplifiedForm,
  simplifiedReader,
  type SimplifiedForm,
} from './composition-content.js';
import { locatedInVersions } from './located-violations.js';
import { CREATED, versionAnswer } from './read-version.js';
import { parsePrefer } from '../http/request/prefer.js';

const PATH = `${STANDARD_API}/ehr/{ehr_id}/contribution`;
const CONTRIBUTION: BodyDescription = { schema: 'CONTRIBUTION', types: 'composition' };
const NEW_CONTRIBUTION: BodyDescription = { schema: 'NewContribution', types: 'composition' };
const COMMIT_PARAMETERS = [
  'templateId',
  'Prefer',
  'openEHR-VERSION',
  'openEHR-AUDIT_DETAILS',
  'openEHR-TEMPLATE_ID',
  'Idempotency-Key',
] as const;

/** Committing and reading CONTRIBUTIONs. */
export function contributionOperations(settings: Settings): OperationGroup {
  const context = changeContext(settings);
  return {
    tag: 'CONTRIBUTION',
    description: 'Changes that were committed together',
    operations: [
      {
        id: 'contribution_create',
        discloses: 'contribution',
        method: 'POST',
        path: PATH,
        summary: 'Commit creations, updates, deletions and attestations together',
        access: 'write',
        audit: 'write',
        parameters: COMMIT_PARAMETERS,
        request: NEW_CONTRIBUTION,
        responses: { 201: versionAnswer(CREATED, CONTRIBUTION) },
        errors: [400, 404, 409, 412, 422, 502],
        replay: (ctx, { uids }) => answerAgain(ctx, uids.contribution_uid ?? ''),
        handle: (ctx) => create(ctx, settings, context),
      },
      {
        id: 'contribution_get',
        discloses: 'read',
        method: 'GET',
        path: `${PATH}/{contribution_uid}`,
        summary: 'Get a CONTRIBUTION; with `Prefer: resolve_refs` its whole versions',
        access: 'read',
        audit: 'read',
        parameters: ['Prefer'],
        responses: { 200: versionAnswer('The CONTRIBUTION', CONTRIBUTION) },
        errors: [400, 404],
        handle: get,
      },
    ],
  };
}

async function answerAgain(ctx: Context, uid: string): Promise<void> {
  const form = contributionResponse(ctx);
  await answerCreated(
    ctx,
    form,
    await requireContribution(await ownerNow(pathParameter(ctx, 'ehr_id')), uid),
  );
}

async function get(ctx: Context): Promise<void> {
  const form = contributionResponse(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const contributionUid = pathParameter(ctx, 'contribution_uid');
  const { resolveRefs } = parsePrefer(ctx.get('Prefer'));
  if (resolveRefs) ctx.set('Preference-Applied', 'resolve_refs');
  const answer = async (): Promise<void> => {
    const contribution = await requireContribution(ehrId, contributionUid);
    setResourceHeaders(ctx, headersOf(contribution));
    if (resolveRefs) {
      const uids = contribution.versions.map((version) => version.uid);
      auditAbout(ctx, { objects: [contribution._id, ...uids] });
    }
    await writeContribution(ctx, form, contribution);
  };
  await (resolveRefs ? inOneState(ehrId, answer) : answer());
}

/** Commits a CONTRIBUTION. ITS-REST: contribution_create. */
async function create(ctx: Context, settings: Settings, context: ChangeContext): Promise<void> {
  const form = requestBody('contribution', ctx.get('Content-Type'));
  const response = contributionResponse(ctx);
  const { simplified, pin } = simplifiedForm(ctx, form);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const { permissions } = ctx.state.user ?? {};
  const may = {
    mayNameAnyInput: permissions?.has('admin') === true,
    mayImport: permissions?.has('restore') === true,
  };
  const defaults = { ...commitHeaders(ctx, settings), ...may };
  const text = requiredBodyText(ctx);
  const body = await parseCanonical(ctx, text, form, 'CONTRIBUTION');
  const reading = warning(ctx, {
    ...context,
    ...(isLarge(text) && { readLarge: largeReader(ctx) }),
    ...(simplified !== null && { readSimplified: simplifiedReader(ctx, simplified, isLarge(text)) }),
    ...(pin !== undefined && { pin }),
  });
  const commit = () => createContribution(reading, { ehrId, defaults }, body);
  const { contribution } = await commit().catch(async (error: unknown) => {
    if (isLarge(text)) throw error;
    throw await locatedInVersions(ctx, error, {
      parsed: body,
      isLenient: ctx.state.isLenient,
      simplified: simplified === null ? null : simplifiedVersions(simplified),
    });
  });
  await answerCreated(ctx, response, contribution);
}

function simplifiedVersions({ format, templateId }: SimplifiedForm) {
  const isStructured = format === 'STRUCTURED';
  return {
    templateId: templateId ?? '',
    flatOf: (body: JsonObject): JsonObject => flatOf({ body, isStructured }),
  };
}

/** Form of a CONTRIBUTION: in a simplified one are the COMPOSITIONs that it has. @throws not-acceptable */
function contributionResponse(ctx: Context): BodyType {
  return responseBody('contribution', ctx.get('Accept'), {
    contentType: ctx.get('Content-Type'),
    vendorWord: requestVendorWord(ctx),
  });
}

/** Reads a COMPOSITION of a large CONTRIBUTION; null for a small one, which is read here. */
function largeReader(ctx: Context): NonNullable<ChangeContext['readLarge']> {
  const owner = bodyOwner(ctx);
  return (parsed) => (isLarge(parsed.json) ? readLargeComposition(parsed, owner) : null);
}

async function requireContribution(ehrId: string, contributionUid: string): Promise<ContributionDoc> {
  return readWithEhrErrorFirst(ehrId, async () => {
    const contribution = await contributionOf(ehrId, contributionUid);
    const seen = contribution === null ? await noneOf(ehrId) : await seenOf(ehrId, contribution);
    if (seen === null)
      throw new CdrError(
        'not-found',
        `CONTRIBUTION with uid ${contributionUid} does not exist in EHR ${ehrId}`,
      );
    return seen;
  });
}

/** Looks for the version that a CONTRIBUTION which is not there would have made. */
async function noneOf(ehrId: string): Promise<null> {
  const viewer = viewing.getStore()?.viewer;
  if (viewer !== undefined) await seenOfNothing(viewer, ehrId);
  return null;
}

/** A CONTRIBUTION with what of its versions is there for who asks; null: nothing is. */
async function seenOf(ehrId: string, contribution: ContributionDoc): Promise<ContributionDoc | null> {
  const viewer = viewing.getStore()?.viewer;
  if (viewer === undefined) return contribution;
  const versions = await seenOfContribution(viewer, ehrId, contribution.versions);
  return versions.length === 0 ? null : { ...contribution, versions };
}

async function answerCreated(ctx: Context, form: BodyType, contribution: ContributionDoc): Promise<void> {
  if (ctx.state.isLenient) warnOfFindings(ctx, await acceptedFindingsOf(contribution));
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
  const resolved = resolveRefs ? await versionsOf(ctx, form, contribution) : null;
  await writeResource(ctx, form, contributionResource(contribution, resolved), 'contribution');
}

/** The versions of a CONTRIBUTION, whose COMPOSITIONs are in the form of the answer where that is a simplified one. */
async function versionsOf(
  ctx: Context,
  form: BodyType,
  { ehr_id: ehrId, versions }: ContributionDoc,
): Promise<ReadonlyMap<string, VersionDoc>> {
  const found = await versionsById(
    ehrId,
    versions.map(({ uid }) => uid),
  );
  const isSimplified = form.format === 'FLAT' || form.format === 'STRUCTURED';
  const answered = new Map<string, VersionDoc>();
  for (const version of found) {
    const isOtherForm = isSimplified && version.type === 'COMPOSITION' && version.data !== null;
    const data = isOtherForm ? await compositionIn(ctx, version, form) : version.data;
    answered.set(version._id, { ...version, data });
  }
  return answered;
}
