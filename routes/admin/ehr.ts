import type { Context } from 'koa';
import { CdrError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import type { Settings } from '../../base/settings.js';
import { changeContext, type ChangeContext } from '../../change/context.js';
import { readableEhr } from '../../change/ehr-access.js';
import { updateEhrStatus } from '../../change/ehr-status.js';
import { eraseEhr, eraseVersionedObject } from '../../change/erase.js';
import { partyNamed } from '../../change/audit.js';
import { requestBody } from '../../format/media-type.js';
import { contributionOf } from '../../models/contribution.js';
import type { RootType } from '../../models/layout.js';
import { auditAbout } from '../audit-trail.js';
import { bodyText, parseCanonical } from '../exchange.js';
import { ehrIdFrom, uidBasedIdFrom, uuidFrom } from '../path-ids.js';
import { requireVersion } from '../read-version.js';
import { requestState } from '../request-state.js';
import { adminForm, writeRecord, type AdminOperation } from './operation.js';

const DELETED = 'AdminDeleteResponseData';
const UPDATED = 'AdminUpdateResponseData';
const NOTHING_DELETED: JsonObject = { deleted: 0 };
const NOTHING_UPDATED: JsonObject = { updated: 0 };

/** How often an update by an administrator is made anew because another one was faster. */
const MAX_ATTEMPTS = 8;

/** Administration of one EHR and what it holds. Contract, section 13. */
export function adminEhrOperations(settings: Settings): AdminOperation[] {
  const context = changeContext(settings);
  return [
    {
      name: 'updateEhr',
      method: 'put',
      path: '/ehr/:ehr_id',
      record: UPDATED,
      neutral: NOTHING_UPDATED,
      handle: (ctx) => updateEhr(ctx, context),
    },
    {
      name: 'deleteEhr',
      method: 'delete',
      path: '/ehr/:ehr_id',
      record: DELETED,
      neutral: NOTHING_DELETED,
      handle: deleteEhr,
    },
    {
      name: 'updateContribution',
      method: 'put',
      path: '/ehr/:ehr_id/contribution/:contribution_id',
      record: UPDATED,
      neutral: NOTHING_UPDATED,
      handle: updateContribution,
    },
    {
      name: 'deleteContribution',
      method: 'delete',
      path: '/ehr/:ehr_id/contribution/:contribution_id',
      record: DELETED,
      neutral: NOTHING_DELETED,
      handle: () => {
        throw new CdrError(
          'not-implemented',
          'CONTRIBUTIONs cannot be deleted: they are the audit of the record',
        );
      },
    },
    deletion(
      'deleteComposition',
      '/ehr/:ehr_id/composition/:composition_id',
      'COMPOSITION',
      'composition_id',
    ),
    deletion('deleteDirectory', '/ehr/:ehr_id/directory/:directory_id', 'FOLDER', 'directory_id'),
  ];
}

async function updateEhr(ctx: Context, context: ChangeContext): Promise<void> {
  const request = requestBody('rm', ctx.get('Content-Type'));
  const form = adminForm(ctx);
  const ehrId = ehrIdFrom(ctx);
  auditAbout(ctx, { ehrId });
  const text = bodyText(ctx);
  await readableEhr(ehrId);
  if (text === null) {
    writeRecord(ctx, form, { record: UPDATED, fields: NOTHING_UPDATED });
    return;
  }
  const body = await parseCanonical(ctx, text, request, 'EHR_STATUS');
  const committer = partyNamed(requestState(ctx).user?.name ?? 'anonymous');
  const audit = { changeType: '250', committer, description: undefined } as const;
  const change = { ehrId, ifMatch: null, metadata: { audit, lifecycleState: '532' } } as const;
  await overLatest(() => updateEhrStatus(context, change, body));
  writeRecord(ctx, form, { record: UPDATED, fields: { updated: 1 } });
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

async function deleteEhr(ctx: Context): Promise<void> {
  const ehrId = ehrIdFrom(ctx);
  auditAbout(ctx, { ehrId });
  await eraseEhr(ehrId);
  ctx.status = 204;
}

async function updateContribution(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const ehrId = ehrIdFrom(ctx);
  const contributionUid = uuidFrom(ctx, 'contribution_id');
  auditAbout(ctx, { ehrId, target: contributionUid });
  await readableEhr(ehrId);
  if ((await contributionOf(ehrId, contributionUid)) === null) {
    throw new CdrError('not-found', `CONTRIBUTION with id ${contributionUid} does not exist in EHR ${ehrId}`);
  }
  writeRecord(ctx, form, { record: UPDATED, fields: NOTHING_UPDATED });
}

function deletion(name: string, path: string, type: RootType, parameter: string): AdminOperation {
  return {
    name,
    method: 'delete',
    path,
    record: DELETED,
    neutral: NOTHING_DELETED,
    handle: async (ctx) => {
      const form = adminForm(ctx);
      const ehrId = ehrIdFrom(ctx);
      const uid = uidBasedIdFrom(ctx, parameter);
      const objectId = 'id' in uid ? uid.id.objectId : uid.objectId;
      auditAbout(ctx, { ehrId, target: objectId });
      await readableEhr(ehrId);
      if ('id' in uid) await requireVersion(ehrId, type, uid);
      await eraseVersionedObject(ehrId, type, objectId);
      writeRecord(ctx, form, { record: DELETED, fields: { deleted: 1 } });
    },
  };
}
