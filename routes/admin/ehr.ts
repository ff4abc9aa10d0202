import { CHANGE_TYPE, LIFECYCLE } from '../../change/commit/codes.js';
import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import { changeContext, type ChangeContext } from '../../change/commit/context.js';
import { ehrsSeenAfter, shownEhrs } from '../../change/access/shown-ehrs.js';
import { viewing, type Viewer } from '../../change/access/viewer.js';
import { readableEhr } from '../../change/commit/ehr-access.js';
import { updateEhrStatus } from '../../change/ehr-status.js';
import { partyNamed } from '../../change/commit/audit.js';
import { requestBody } from '../http/negotiation/media-type.js';
import { contributionOf } from '../../models/contribution.js';
import { activeEhrsAfter, type ListedEhr } from '../../models/ehr-identity.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import { auditAbout } from '../http/audit-trail.js';
import { bodyText, parseCanonical } from '../http/exchange.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { listedEhr } from '../ehr/ehr-list.js';
import { requireVersion } from '../ehr/read-version.js';
import { motiveOf, performOrAsk, waitingAnswer } from './acts.js';
import { adminForm, adminOperation, writeRecord } from './record.js';

const DELETED = 'AdminDeleteResponseData';
const UPDATED = 'AdminUpdateResponseData';
const LIST = 'EhrListDto';
const NOT_DELETED = { root: DELETED, fields: { deleted: 0 } };
const UPDATED_ONE = { record: UPDATED, fields: { updated: 1 } } as const;
const NOT_UPDATED = { root: UPDATED, fields: { updated: 0 } };
const EHR = '/ehr/{ehr_id}';
const COUNT = { description: 'How many versions were made', body: { schema: UPDATED, types: 'rm' } } as const;

/** How often an update by an administrator is made anew because another one was faster. */
const MAX_ATTEMPTS = 8;

/** Administration of one EHR and what it holds. */
export function adminEhrOperations(settings: Settings): Operation[] {
  const context = changeContext(settings);
  const erasing = waitingAnswer(settings, 'deleteEhr', { usual: 204 });
  return [
    adminOperation({
      id: 'listEhrs',
      discloses: 'read',
      method: 'GET',
      path: '/ehr',
      summary: 'List all EHRs by their ids, those that queries leave out too',
      parameters: ['ehr_after', 'ehr_fetch'],
      responses: { 200: { description: 'One page', body: { schema: LIST, types: 'rm' } } },
      errors: [400],
      failure: { root: LIST, fields: { ehrs: [] } },
      handle: listEhrs,
    }),
    adminOperation({
      id: 'updateEhr',
      discloses: 'update',
      method: 'PUT',
      path: EHR,
      summary: 'Commit a new version of the EHR_STATUS without If-Match',
      parameters: ['Idempotency-Key'],
      request: { schema: 'EHR_STATUS', types: 'rm', required: false },
      responses: { 200: COUNT },
      errors: [400, 404, 409],
      failure: NOT_UPDATED,
      replay: (ctx) => {
        writeRecord(ctx, adminForm(ctx), UPDATED_ONE);
      },
      handle: (ctx) => updateEhr(ctx, context),
    }),
    adminOperation({
      id: 'deleteEhr',
      discloses: 'whole',
      method: 'DELETE',
      path: EHR,
      summary: 'Remove an EHR with everything in it',
      parameters: ['cascade', 'reason', 'requested_by'],
      responses: { 204: { description: 'Removed' }, ...erasing.answer },
      ...erasing.committed,
      errors: [400, 404, 409],
      failure: NOT_DELETED,
      handle: (ctx) => deleteEhr(ctx, settings),
    }),
    adminOperation({
      id: 'updateContribution',
      discloses: 'whole',
      method: 'PUT',
      path: `${EHR}/contribution/{contribution_id}`,
      summary: 'Has no effect: audits never change',
      responses: { 200: { ...COUNT, description: 'Nothing was changed' } },
      errors: [400, 404],
      failure: NOT_UPDATED,
      handle: updateContribution,
    }),
    adminOperation({
      id: 'deleteContribution',
      discloses: 'whole',
      method: 'DELETE',
      path: `${EHR}/contribution/{contribution_id}`,
      summary: 'Not offered',
      responses: {},
      errors: [501],
      failure: NOT_DELETED,
      handle: () => {
        throw new CdrError(
          'not-implemented',
          'CONTRIBUTIONs cannot be deleted: they are the audit of the record',
        );
      },
    }),
    deletion(settings, {
      id: 'deleteComposition',
      type: 'COMPOSITION',
      path: 'composition',
      key: 'composition_id',
    }),
    deletion(settings, { id: 'deleteDirectory', type: 'FOLDER', path: 'directory', key: 'directory_id' }),
  ];
}

async function listEhrs(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const fetch = queryParameter(ctx, 'ehr_fetch');
  const after = queryParameter(ctx, 'ehr_after') ?? '';
  const { viewer } = viewing.getStore() ?? {};
  const found =
    viewer === undefined
      ? await activeEhrsAfter(after, fetch + 1)
      : await ehrsSeenAfter(await viewer.ehrs(true), after, fetch + 1);
  const page = found.slice(0, fetch);
  if (viewer !== undefined) await noteWithheld(viewer, page, { after, fetch });
  const last = page.at(-1);
  if (last !== undefined) auditAbout(ctx, { ehr_ids: page.map(({ _id: ehrId }) => ehrId) });
  const hasNext = last !== undefined && found.length > fetch;
  const fields = { ehrs: (await shownEhrs(page)).map(listedEhr), ...(hasNext && { next: last._id }) };
  writeRecord(ctx, form, { record: LIST, fields });
}

/** Notes that the page of a list would have other EHRs in an emergency. */
async function noteWithheld(
  viewer: Viewer,
  page: readonly ListedEhr[],
  { after, fetch }: { readonly after: string; readonly fetch: number },
): Promise<void> {
  const inEmergency = await viewer.ehrsInEmergency(true);
  if (inEmergency === null) return;
  const shown = new Set(page.map(({ _id }) => _id));
  const then = await ehrsSeenAfter(inEmergency, after, fetch);
  if (then.some(({ _id }) => !shown.has(_id))) viewer.withheld();
}

async function updateEhr(ctx: Context, context: ChangeContext): Promise<void> {
  const request = requestBody('rm', ctx.get('Content-Type'));
  const form = adminForm(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  auditAbout(ctx, { ehr_id: ehrId });
  const text = bodyText(ctx);
  await readableEhr(ehrId);
  if (text === null) {
    writeRecord(ctx, form, { record: UPDATED, fields: NOT_UPDATED.fields });
    return;
  }
  const body = await parseCanonical(ctx, text, request, 'EHR_STATUS');
  const committer = partyNamed(ctx.state.user?.name ?? 'anonymous');
  const audit = { changeType: CHANGE_TYPE.amendment, committer, description: undefined } as const;
  const metadata = { audit, lifecycleState: LIFECYCLE.complete } as const;
  const change = { ehrId, ifMatch: null, metadata, asSent: false } as const;
  await overLatest(() => updateEhrStatus(context, change, body));
  writeRecord(ctx, form, UPDATED_ONE);
}

/** An update without `If-Match` goes over whatever is the latest, however often that changes meanwhile. */
async function overLatest(update: () => Promise<unknown>): Promise<void> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      await update();
      return;
    } catch (error) {
      const stale = error instanceof CdrError && error.code === 'precondition-failed';
      if (!stale || attempts >= MAX_ATTEMPTS) throw error;
    }
  }
}

async function deleteEhr(ctx: Context, settings: Settings): Promise<void> {
  adminForm(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  auditAbout(ctx, { ehr_id: ehrId });
  await performOrAsk(ctx, settings, {
    act: { operation: 'deleteEhr', ehr_id: ehrId, cascade: queryParameter(ctx, 'cascade'), ...motiveOf(ctx) },
    dryRun: false,
    answer: () => {
      ctx.status = 204;
    },
  });
}

async function updateContribution(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const contributionUid = pathParameter(ctx, 'contribution_id');
  auditAbout(ctx, { ehr_id: ehrId, target: contributionUid });
  await readableEhr(ehrId);
  if ((await contributionOf(ehrId, contributionUid)) === null) {
    throw new CdrError('not-found', `CONTRIBUTION with id ${contributionUid} does not exist in EHR ${ehrId}`);
  }
  writeRecord(ctx, form, { record: UPDATED, fields: NOT_UPDATED.fields });
}

interface Deletion {
  readonly id: 'deleteComposition' | 'deleteDirectory';
  readonly type: RootType;
  readonly path: string;
  readonly key: 'composition_id' | 'directory_id';
}

function deletion(settings: Settings, { id, type, path, key }: Deletion): Operation {
  const erasing = waitingAnswer(settings, id);
  return adminOperation({
    id,
    discloses: 'whole',
    method: 'DELETE',
    path: `${EHR}/${path}/{${key}}`,
    summary: `Remove a ${type} with its history`,
    parameters: ['reason', 'requested_by'],
    responses: {
      200: { description: 'Removed with its history', body: { schema: DELETED, types: 'rm' } },
      ...erasing.answer,
    },
    ...erasing.committed,
    errors: [400, 404, 409],
    failure: NOT_DELETED,
    handle: async (ctx) => {
      const form = adminForm(ctx);
      const ehrId = pathParameter(ctx, 'ehr_id');
      const uid = pathParameter(ctx, key);
      const versionedObjectUid = 'id' in uid ? uid.id.versionedObjectUid : uid.versionedObjectUid;
      auditAbout(ctx, { ehr_id: ehrId, target: versionedObjectUid });
      await readableEhr(ehrId);
      if ('id' in uid) await requireVersion(ehrId, type, uid);
      await performOrAsk(ctx, settings, {
        act: { operation: id, ehr_id: ehrId, object_id: versionedObjectUid, ...motiveOf(ctx) },
        dryRun: false,
        answer: (fields) => {
          writeRecord(ctx, form, { record: DELETED, fields });
        },
      });
    },
  });
}
