import type { Context } from 'koa';
import { CdrError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import type { Settings } from '../../base/settings.js';
import { changeContext } from '../../change/context.js';
import { toXml } from '../../format/canonical-xml.js';
import { responseBody } from '../../format/media-type.js';
import { mergeDetails, rememberedMerge } from '../../merge/details.js';
import { mergeEhrs } from '../../merge/merge.js';
import type { MergeContext } from '../../merge/request.js';
import { directMerge, mergeStatus, mergeTarget } from '../../merge/status.js';
import { unmergeData } from '../../merge/unmerge-data.js';
import { unmergeEhrs } from '../../merge/unmerge.js';
import { auditAbout } from '../http/audit-trail.js';
import { writeText } from '../http/exchange.js';
import { idempotent } from '../http/idempotency.js';
import { uuidFrom } from '../http/path-ids.js';
import {
  ehrParameter,
  flagParameter,
  MERGE_DETAILS,
  mergeRequestFrom,
  namePair,
  neutralDetails,
  unmergeRequestFrom,
} from './merge-request.js';
import { adminForm, writeRecord, type AdminOperation } from './operation.js';

const NEUTRAL = neutralDetails({ source: '', target: '' });

/** Merging EHRs, taking merges back, and reading which ones stand. Contract, section 14. */
export function adminMergeOperations(settings: Settings): AdminOperation[] {
  const context: MergeContext = { change: changeContext(settings), retries: settings.mergeRetries };
  const operation = (
    name: string,
    method: AdminOperation['method'],
    path: string,
    handle: AdminOperation['handle'],
  ): AdminOperation => ({ name, method, path, record: MERGE_DETAILS, neutral: NEUTRAL, handle });
  return [
    operation('mergeEhrs', 'post', '/ehr/merge', (ctx) => once(ctx, () => merge(ctx, context))),
    operation('unmerge', 'post', '/ehr/unmerge', (ctx) => once(ctx, () => unmerge(ctx, context))),
    operation('getMergeStatusList', 'get', '/ehr/merge_status', getMergeStatusList),
    operation('getMergeDetails', 'get', '/ehr/merge_details', getMergeDetails),
    {
      name: 'getMergeTarget',
      method: 'get',
      path: '/ehr/merge_target/:id',
      record: 'error',
      neutral: {},
      isText: true,
      handle: getMergeTarget,
    },
  ];
}

/** Carries out a merge or unmerge with `Idempotency-Key` once only. */
const once = idempotent((ctx, result) => {
  const form = adminForm(ctx);
  const fields = mergeDetails(rememberedMerge(result));
  writeRecord(ctx, form, { record: MERGE_DETAILS, fields });
});

async function merge(ctx: Context, context: MergeContext): Promise<void> {
  const request = mergeRequestFrom(ctx);
  const form = adminForm(ctx);
  auditAbout(ctx, { ehrId: request.sourceEhr, target: request.targetEhr });
  const fields = mergeDetails(await mergeEhrs(context, request));
  writeRecord(ctx, form, { record: MERGE_DETAILS, fields });
}

async function unmerge(ctx: Context, context: MergeContext): Promise<void> {
  const request = unmergeRequestFrom(ctx);
  const form = adminForm(ctx);
  auditAbout(ctx, { ehrId: request.sourceEhr, target: request.targetEhr });
  const fields = mergeDetails(await unmergeEhrs(context, request));
  writeRecord(ctx, form, { record: MERGE_DETAILS, fields });
}

async function getMergeTarget(ctx: Context): Promise<void> {
  const form = responseBody('admin-text', ctx.get('Accept'));
  const ehrId = uuidFrom(ctx, 'id');
  auditAbout(ctx, { ehrId });
  const target = await mergeTarget(ehrId);
  ctx.status = 200;
  writeText(ctx, form, form.format === 'JSON' ? JSON.stringify(target) : target);
}

async function getMergeStatusList(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const source = ehrParameter(ctx, 'source');
  const target = ehrParameter(ctx, 'target');
  const cascaded = flagParameter(ctx, 'cascaded');
  namePair(ctx, { source: source ?? '', target: target ?? '' });
  auditPair(ctx, source, target);
  const list: JsonObject[] = (await mergeStatus({ source, target, cascaded })).map(mergeDetails);
  ctx.status = 200;
  const text =
    form.format === 'XML' ? toXml({ [MERGE_DETAILS]: list }, 'MergeDetailsList') : JSON.stringify(list);
  writeText(ctx, form, text);
}

async function getMergeDetails(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const source = ehrParameter(ctx, 'source');
  const target = ehrParameter(ctx, 'target');
  const withData = flagParameter(ctx, 'unmerge_data');
  if (source === null || target === null)
    throw new CdrError('invalid', 'source and target are both required');
  namePair(ctx, { source, target });
  auditPair(ctx, source, target);
  const record = await directMerge(source, target);
  const data = withData ? await unmergeData(record) : null;
  const fields = { ...mergeDetails(record), ...(data !== null && { unmerge_data: data }) };
  writeRecord(ctx, form, { record: MERGE_DETAILS, fields });
}

function auditPair(ctx: Context, source: string | null, target: string | null): void {
  const ehrId = source ?? target;
  if (ehrId === null) return;
  auditAbout(ctx, { ehrId, ...(source !== null && target !== null && { target }) });
}
