import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import { toXml } from '../../openehr/format/canonical-xml.js';
import { responseBody } from '../http/negotiation/media-type.js';
import { mergeDetails, undoneDetails, mergeOfIdempotentResult } from '../../merge/details.js';
import { mergeEhrs } from '../../merge/merge.js';
import type { MergeContext, MergeRequest, UnmergeRequest } from '../../merge/request.js';
import { pendingDetails } from '../../merge/approval.js';
import {
  directMerge,
  mergeStatus,
  mergeTarget,
  pendingStatus,
  undoneStatus,
  type MergeFilter,
} from '../../merge/plan/status.js';
import { unmergeData } from '../../merge/unmerge/data.js';
import { unmergeEhrs } from '../../merge/unmerge/unmerge.js';
import type { AuditSubject } from '../../models/audit.js';
import type { IdempotentResult } from '../../models/idempotency.js';
import { auditAbout } from '../http/audit-trail.js';
import { writeText } from '../http/exchange.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import {
  MERGE_ANSWER,
  MERGE_DETAILS,
  MERGE_FAILURE,
  mergeContext,
  mergeRequestFrom,
  namePair,
  unmergeRequestFrom,
} from './merge-request.js';
import { askForMerge, mergeApprovalOperations } from './merge-approval.js';
import { adminForm, adminOperation, writeRecord } from './record.js';

/** Merging EHRs, taking merges back, and reading which ones stand. */
export function mergeOperations(settings: Settings): Operation[] {
  const context = mergeContext(settings);
  return [
    adminOperation({
      id: 'mergeEhrs',
      discloses: 'whole',
      method: 'POST',
      path: '/ehr/merge',
      summary: 'Merge one EHR into another',
      parameters: ['Idempotency-Key'],
      request: { schema: 'MergeRequestBody', types: 'json' },
      responses: {
        200: { description: 'What was done, or would be', body: MERGE_ANSWER },
        202: {
          description: 'It waits for a second person (`FOUR_EYES`)',
          body: MERGE_ANSWER,
        },
      },
      ...(settings.fourEyes.includes('merge') && { committedStatus: 202 }),
      errors: [400, 404, 409, 422],
      failure: MERGE_FAILURE,
      replay: answerAgain,
      handle: (ctx) => merge(ctx, context, settings),
    }),
    adminOperation({
      id: 'unmerge',
      discloses: 'whole',
      method: 'POST',
      path: '/ehr/unmerge',
      summary: 'Undo a reversible merge',
      parameters: ['Idempotency-Key'],
      request: { schema: 'UnmergeRequestBody', types: 'json' },
      responses: { 200: { description: 'What was undone, or would be', body: MERGE_ANSWER } },
      errors: [400, 404, 409, 422],
      failure: MERGE_FAILURE,
      replay: answerAgain,
      handle: (ctx) => unmerge(ctx, context),
    }),
    ...mergeApprovalOperations(context),
    ...statusOperations(),
  ];
}

function statusOperations(): Operation[] {
  return [
    adminOperation({
      id: 'getMergeTarget',
      discloses: 'whole',
      method: 'GET',
      path: '/ehr/merge_target/{merged_ehr_id}',
      summary: 'Tell where a merged EHR ended',
      responses: { 200: { description: 'EHR id', body: { schema: 'Text', types: 'textOrJson' } } },
      errors: [400, 404],
      failure: { root: 'error', fields: {}, isText: true },
      handle: getMergeTarget,
    }),
    adminOperation({
      id: 'getMergeStatusList',
      discloses: 'whole',
      method: 'GET',
      path: '/ehr/merge_status',
      summary: 'List merges',
      parameters: ['source', 'target', 'cascaded', 'undone', 'pending', 'merge_offset', 'merge_fetch'],
      responses: {
        200: { description: 'Oldest first', body: { schema: 'MergeDetailsList', types: 'rm' } },
      },
      errors: [400, 404],
      failure: MERGE_FAILURE,
      handle: getMergeStatusList,
    }),
    adminOperation({
      id: 'getMergeDetails',
      discloses: 'whole',
      method: 'GET',
      path: '/ehr/merge_details',
      summary: 'Get the merge of one EHR into another',
      parameters: ['source', 'target', 'unmerge_data'],
      responses: { 200: { description: 'The merge', body: MERGE_ANSWER } },
      errors: [400, 404],
      failure: MERGE_FAILURE,
      handle: getMergeDetails,
    }),
  ];
}

/** Repeats the answer of a merge or unmerge with the same `Idempotency-Key`. */
function answerAgain(ctx: Context, result: IdempotentResult): void {
  const form = adminForm(ctx);
  const again = mergeOfIdempotentResult(result);
  const status = again.state === 'pending' ? 202 : 200;
  writeRecord(ctx, form, { record: MERGE_DETAILS, fields: mergeDetails(again), status });
}

async function merge(ctx: Context, context: MergeContext, settings: Settings): Promise<void> {
  const request = mergeRequestFrom(ctx);
  const form = adminForm(ctx);
  const { reversible, folderMerge, compositionMerge } = request;
  const options = {
    reversible,
    folder_merge: folderMerge,
    composition_merge: compositionMerge,
    ...resolutionOptions(request),
    ...requestedBy(request),
  };
  auditAbout(ctx, { ...requestSubject(request), options });
  if (settings.fourEyes.includes('merge') && !request.dryRun) {
    await askForMerge(ctx, { context, fourEyesDays: settings.fourEyesDays }, request);
    return;
  }
  const fields = mergeDetails(await mergeEhrs(context, request));
  writeRecord(ctx, form, { record: MERGE_DETAILS, fields });
}

async function unmerge(ctx: Context, context: MergeContext): Promise<void> {
  const request = unmergeRequestFrom(ctx);
  const form = adminForm(ctx);
  auditAbout(ctx, { ...requestSubject(request), ...unmergeOptions(request) });
  const fields = mergeDetails(await unmergeEhrs(context, request));
  writeRecord(ctx, form, { record: MERGE_DETAILS, fields });
}

async function getMergeTarget(ctx: Context): Promise<void> {
  const form = responseBody('admin-text', ctx.get('Accept'));
  const ehrId = pathParameter(ctx, 'merged_ehr_id');
  auditAbout(ctx, { ehr_id: ehrId });
  const target = await mergeTarget(ehrId);
  auditAbout(ctx, { ehr_ids: [ehrId, target] });
  ctx.status = 200;
  writeText(ctx, form, form.format === 'JSON' ? JSON.stringify(target) : target);
}

async function getMergeStatusList(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const source = queryParameter(ctx, 'source');
  const target = queryParameter(ctx, 'target');
  const offset = queryParameter(ctx, 'merge_offset');
  const fetch = queryParameter(ctx, 'merge_fetch');
  namePair(ctx, { source: source ?? '', target: target ?? '' });
  auditPair(ctx, source, target);
  const list = await listedMerges(ctx, { source, target, page: { offset, fetch } });
  const named = list.flatMap(({ source_ehr: from, target_ehr: into }) => [from, into]);
  auditAbout(ctx, { ehr_ids: [...new Set(named.filter((ehrId) => typeof ehrId === 'string'))] });
  ctx.status = 200;
  const text =
    form.format === 'XML' ? toXml({ [MERGE_DETAILS]: list }, 'MergeDetailsList') : JSON.stringify(list);
  writeText(ctx, form, text);
}

/** Those that stand, or were taken back, or wait. @throws invalid; not-found as `mergeStatus` */
async function listedMerges(ctx: Context, filter: Omit<MergeFilter, 'cascaded'>): Promise<JsonObject[]> {
  const isUndone = queryParameter(ctx, 'undone');
  const isPending = queryParameter(ctx, 'pending');
  if (isUndone && isPending)
    throw new CdrError('invalid', 'undone and pending are of different merges: ask for one of them');
  if (isPending) return (await pendingStatus(filter)).map(pendingDetails);
  if (isUndone) return (await undoneStatus(filter)).map(undoneDetails);
  const cascaded = queryParameter(ctx, 'cascaded');
  return (await mergeStatus({ ...filter, cascaded })).map(mergeDetails);
}

async function getMergeDetails(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const source = queryParameter(ctx, 'source');
  const target = queryParameter(ctx, 'target');
  const withData = queryParameter(ctx, 'unmerge_data');
  if (source === null || target === null)
    throw new CdrError('invalid', 'source and target are both required');
  namePair(ctx, { source, target });
  auditPair(ctx, source, target);
  const record = await directMerge(source, target);
  const data = withData ? await unmergeData(record) : null;
  const fields = { ...mergeDetails(record), ...(data !== null && { unmerge_data: data }) };
  writeRecord(ctx, form, { record: MERGE_DETAILS, fields });
}

/** What the request chose; nothing when it chose nothing. */
function resolutionOptions({ resolutions }: MergeRequest): JsonObject {
  const { compositions, ehrStatus } = resolutions;
  if (compositions.size + ehrStatus.size === 0) return {};
  return {
    resolutions: {
      compositions: Object.fromEntries(compositions),
      ehr_status: Object.fromEntries(ehrStatus),
    },
  };
}

function requestedBy({ motive }: Pick<UnmergeRequest, 'motive'>): { readonly requested_by?: string } {
  return motive.requested_by === undefined ? {} : { requested_by: motive.requested_by };
}

/** What was chosen for the obstacles, and who asked for it; nothing without either. */
function unmergeOptions(request: UnmergeRequest): Pick<AuditSubject, 'options'> {
  const { onConflict } = request;
  const choice: JsonValue =
    onConflict === null || typeof onConflict === 'string' ? onConflict : Object.fromEntries(onConflict);
  const options = { ...requestedBy(request), ...(choice !== null && { on_conflict: choice }) };
  return Object.keys(options).length === 0 ? {} : { options };
}

function requestSubject({
  sourceEhr,
  targetEhr,
  dryRun,
  motive,
}: Omit<UnmergeRequest, 'onConflict'>): AuditSubject {
  const pair = { ehr_id: sourceEhr, ehr_ids: [sourceEhr, targetEhr], target: targetEhr };
  const { reason } = motive;
  return { ...pair, ...(dryRun && { dry_run: true }), ...(reason !== undefined && { reason }) };
}

function auditPair(ctx: Context, source: string | null, target: string | null): void {
  const ehrId = source ?? target;
  if (ehrId === null) return;
  auditAbout(ctx, { ehr_id: ehrId, ...(source !== null && target !== null && { target }) });
}
