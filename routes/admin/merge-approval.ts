import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import {
  confirmMerge,
  pendingDetails,
  requestMerge,
  requiredWaiting,
  withdrawMerge,
} from '../../merge/approval.js';
import { mergeDetails } from '../../merge/details.js';
import type { MergeContext, MergeRequest } from '../../merge/request.js';
import { auditAbout } from '../http/audit-trail.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { administratorOf } from './administrator.js';
import {
  confirmRequestFrom,
  MERGE_ANSWER,
  MERGE_DETAILS,
  MERGE_FAILURE,
  namePair,
  withdrawRequestFrom,
} from './merge-request.js';
import { adminForm, adminOperation, writeRecord } from './record.js';

/** What another administrator does with a merge that waits. docs/spec/merge.md#approval */
export function mergeApprovalOperations(context: MergeContext): Operation[] {
  return [
    adminOperation({
      id: 'confirmMerge',
      discloses: 'whole',
      method: 'POST',
      path: '/ehr/merge/{merge_id}/confirm',
      summary: 'Carry out a merge that another administrator asked for',
      request: { schema: 'ConfirmMergeBody', types: 'json', required: false },
      responses: { 200: { description: 'What was done, or would be', body: MERGE_ANSWER } },
      errors: [400, 404, 409],
      failure: MERGE_FAILURE,
      handle: (ctx) => confirm(ctx, context),
    }),
    adminOperation({
      id: 'withdrawMerge',
      discloses: 'whole',
      method: 'POST',
      path: '/ehr/merge/{merge_id}/withdraw',
      summary: 'End a merge that waits for approval',
      request: { schema: 'WithdrawMergeBody', types: 'json', required: false },
      responses: { 200: { description: 'The merge that waits no longer', body: MERGE_ANSWER } },
      errors: [400, 404, 409],
      failure: MERGE_FAILURE,
      handle: withdraw,
    }),
  ];
}

/** Lets the merge of a request wait, and answers 202. @throws as `requestMerge` */
export async function askForMerge(
  ctx: Context,
  settings: Pick<Settings, 'fourEyesDays'> & { readonly context: MergeContext },
  request: MergeRequest,
): Promise<void> {
  const form = adminForm(ctx);
  const asked = { requester: administratorOf(ctx), days: settings.fourEyesDays };
  const fields = mergeDetails(await requestMerge(settings.context, request, asked));
  writeRecord(ctx, form, { record: MERGE_DETAILS, fields, status: 202 });
}

async function confirm(ctx: Context, context: MergeContext): Promise<void> {
  const form = adminForm(ctx);
  const mergeId = pathParameter(ctx, 'merge_id');
  const { digest, dryRun } = confirmRequestFrom(ctx);
  await aboutWaiting(ctx, mergeId, dryRun);
  const confirmation = { mergeId, digest, dryRun, administrator: administratorOf(ctx) };
  const fields = mergeDetails(await confirmMerge(context, confirmation));
  writeRecord(ctx, form, { record: MERGE_DETAILS, fields });
}

async function withdraw(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const mergeId = pathParameter(ctx, 'merge_id');
  const { reason } = withdrawRequestFrom(ctx);
  await aboutWaiting(ctx, mergeId, false);
  if (reason !== undefined) auditAbout(ctx, { reason });
  const fields = pendingDetails(await withdrawMerge(mergeId));
  writeRecord(ctx, form, { record: MERGE_DETAILS, fields });
}

/** What the audit has, and an error repeats, of the merge: both EHRs. */
async function aboutWaiting(ctx: Context, mergeId: string, isDryRun: boolean): Promise<void> {
  auditAbout(ctx, { objects: [mergeId] });
  const { source_ehr: source, target_ehr: target, reason } = await requiredWaiting(mergeId);
  namePair(ctx, { source, target });
  auditAbout(ctx, {
    ehr_id: source,
    ehr_ids: [source, target],
    target,
    ...(isDryRun && { dry_run: true }),
    ...(reason !== undefined && { reason }),
  });
}
