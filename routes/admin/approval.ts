import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { toXml } from '../../openehr/format/canonical-xml.js';
import { aboutEhrs, confirming, requiredRequest, withdrawRequest } from '../../change/approval/approval.js';
import { confirmMerge, hasLapsed, pendingDetails, withdrawMerge } from '../../merge/approval.js';
import { mergeDetails } from '../../merge/details.js';
import type { MergeContext } from '../../merge/request.js';
import {
  waitingMerge,
  waitingMergesOfEhrs,
  waitingMerges,
  type MergeRequestDoc,
} from '../../models/merge/request.js';
import {
  changesAccess,
  waitingRequests,
  type ActPlan,
  type Administrator,
  type WaitingAct,
  type WaitingRequestDoc,
} from '../../models/waiting-request.js';
import type { AuditSubject } from '../../models/audit.js';
import { auditAbout } from '../http/audit-trail.js';
import { writeText } from '../http/exchange.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { APPROVAL, perform, waitingDetails } from './acts.js';
import { administratorOf } from './administrator.js';
import { confirmRequestFrom, mergeContext, withdrawRequestFrom } from './merge-request.js';
import type { KnownUsers } from './permissions.js';
import { policyChanging, type PolicyChanging } from './policy-change.js';
import { adminForm, adminOperation, writeRecord } from './record.js';

const FAILURE = { root: APPROVAL, fields: { summary: '', ehr_ids: [] } };
const ANSWER = { schema: APPROVAL, types: 'rm' } as const;
/** What waits for a second person, of every kind. docs/spec/merge.md#approval */
export function approvalOperations(settings: Settings, users: KnownUsers): Operation[] {
  const how: Carrying = {
    context: mergeContext(settings),
    policies: (ctx, requester) => policyChanging(ctx, settings, users, requester),
  };
  return [
    adminOperation({
      id: 'listApprovals',
      discloses: 'whole',
      method: 'GET',
      path: '/approval',
      summary: 'List what waits for a second person',
      parameters: ['approval_ehr_id', 'approval_offset', 'approval_fetch'],
      responses: { 200: { description: 'Oldest first', body: { schema: 'ApprovalList', types: 'rm' } } },
      errors: [400],
      failure: { root: 'ApprovalList', fields: {} },
      handle: list,
    }),
    adminOperation({
      id: 'confirmApproval',
      discloses: 'whole',
      method: 'POST',
      path: '/approval/{approval_id}/confirm',
      summary: 'Carry out what another person asked for',
      request: { schema: 'ConfirmMergeBody', types: 'json', required: false },
      responses: { 200: { description: 'What was done, or would be', body: ANSWER } },
      errors: [400, 404, 409],
      failure: FAILURE,
      handle: (ctx) => confirm(ctx, how),
    }),
    adminOperation({
      id: 'withdrawApproval',
      discloses: 'whole',
      method: 'POST',
      path: '/approval/{approval_id}/withdraw',
      summary: 'End what waits for a second person',
      request: { schema: 'WithdrawMergeBody', types: 'json', required: false },
      responses: { 200: { description: 'What waits no longer', body: ANSWER } },
      errors: [400, 404],
      failure: FAILURE,
      handle: withdraw,
    }),
  ];
}

/** What it takes to carry out what waits. */
interface Carrying {
  readonly context: MergeContext;
  readonly policies: (ctx: Context, requester: Administrator) => Promise<PolicyChanging>;
}

async function list(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const ehrId = queryParameter(ctx, 'approval_ehr_id');
  const offset = queryParameter(ctx, 'approval_offset');
  const fetch = queryParameter(ctx, 'approval_fetch');
  if (ehrId !== null) auditAbout(ctx, { ehr_id: ehrId });
  const everything = [
    ...(await mergesThatWait(ehrId)).map((doc) => ({
      at: doc.requested_at,
      fields: waitingMergeDetails(doc),
    })),
    ...(await waitingRequests(ehrId, new Date())).map((doc) => ({
      at: doc.requested_at,
      fields: waitingDetails(doc),
    })),
  ].sort((one, other) => one.at.getTime() - other.at.getTime());
  const page = everything.slice(offset, offset + fetch).map(({ fields }) => fields);
  ctx.status = 200;
  const isXml = form.format === 'XML';
  writeText(ctx, form, isXml ? toXml({ [APPROVAL]: page }, 'ApprovalList') : JSON.stringify(page));
}

async function mergesThatWait(ehrId: string | null): Promise<MergeRequestDoc[]> {
  const all = { offset: 0, fetch: Number.MAX_SAFE_INTEGER };
  if (ehrId === null) return waitingMerges({ source: null, target: null }, all);
  return (await waitingMergesOfEhrs([ehrId])).filter((doc) => !hasLapsed(doc));
}

async function confirm(ctx: Context, { context, policies }: Carrying): Promise<void> {
  const form = adminForm(ctx);
  const id = pathParameter(ctx, 'approval_id');
  const confirmation = { ...confirmRequestFrom(ctx), administrator: administratorOf(ctx) };
  const { dryRun } = confirmation;
  const waiting = await waits(ctx, id, dryRun);
  const fields =
    'act' in waiting
      ? await confirmAct(context, waiting, {
          ...confirmation,
          ...(changesAccess(waiting.act) && { policies: await policies(ctx, waiting.requester) }),
        })
      : await confirmWaitingMerge(context, waiting, confirmation);
  const state = dryRun ? 'pending' : 'done';
  writeRecord(ctx, form, { record: APPROVAL, fields: { ...fields, state } });
}

type Confirmation = ReturnType<typeof confirmRequestFrom> & {
  readonly administrator: ReturnType<typeof administratorOf>;
};

async function confirmAct(
  context: MergeContext,
  waiting: WaitingRequestDoc,
  confirmation: Confirmation & { readonly policies?: PolicyChanging },
): Promise<JsonObject> {
  const { dryRun, administrator, policies } = confirmation;
  const agreed = confirming(waiting, confirmation);
  let plan: ActPlan = waiting.plan;
  const gate = {
    ...agreed,
    pass: async (session: Parameters<typeof agreed.pass>[0], now: ActPlan) => {
      plan = now;
      await agreed.pass(session, now);
    },
  };
  const result = await perform(context, waiting.act, {
    committer: administrator.name,
    dryRun,
    gate,
    policies,
  });
  return { ...waitingDetails({ ...waiting, plan }), ...(!dryRun && { result }) };
}

async function confirmWaitingMerge(
  context: MergeContext,
  waiting: MergeRequestDoc,
  confirmation: Confirmation,
): Promise<JsonObject> {
  const result = mergeDetails(await confirmMerge(context, { ...confirmation, mergeId: waiting._id }));
  return {
    ...waitingMergeDetails(waiting),
    plan: result.plan ?? {},
    ...(!confirmation.dryRun && { result }),
  };
}

async function withdraw(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const id = pathParameter(ctx, 'approval_id');
  const { reason } = withdrawRequestFrom(ctx);
  const waiting = await waits(ctx, id, false);
  if (reason !== undefined) auditAbout(ctx, { reason });
  const fields =
    'act' in waiting
      ? waitingDetails(await withdrawRequest(id))
      : waitingMergeDetails(await withdrawMerge(id));
  writeRecord(ctx, form, { record: APPROVAL, fields: { ...fields, state: 'withdrawn' } });
}

/** What waits by this id; the audit has its EHRs, who asked and why. @throws not-found when nothing does */
async function waits(
  ctx: Context,
  id: string,
  isDryRun: boolean,
): Promise<WaitingRequestDoc | MergeRequestDoc> {
  auditAbout(ctx, { options: { approval: id }, ...(isDryRun && { dry_run: true }) });
  const merge = await waitingMerge(id);
  const waiting = merge !== null && !hasLapsed(merge) ? merge : await requiredRequest(id);
  const {
    ehr_ids: ehrIds,
    reason,
    requested_by: by,
  } = 'act' in waiting ? waitingFacts(waiting) : mergeFacts(waiting);
  const requested = {
    approval: id,
    requester: waiting.requester.name,
    ...(by !== undefined && { requested_by: by }),
  };
  auditAbout(ctx, {
    ...aboutEhrs(ehrIds),
    options: requested,
    ...(reason !== undefined && { reason }),
    ...('act' in waiting && targetOf(waiting.act)),
  });
  return waiting;
}

/** What a change of access is about, as the record of the change itself says. */
function targetOf(act: WaitingAct): AuditSubject {
  if ('policy_id' in act) return { target: act.policy_id };
  return changesAccess(act) ? { target: 'categories' } : {};
}

interface Facts {
  readonly ehr_ids: readonly string[];
  readonly reason?: string | undefined;
  readonly requested_by?: string | undefined;
}

function waitingFacts({ act, plan }: WaitingRequestDoc): Facts {
  return {
    ehr_ids: plan.ehr_ids,
    reason: 'reason' in act ? act.reason : undefined,
    requested_by: 'requested_by' in act ? act.requested_by : undefined,
  };
}

function mergeFacts({
  source_ehr: source,
  target_ehr: target,
  reason,
  requested_by: by,
}: MergeRequestDoc): Facts {
  return { ehr_ids: [source, target], reason, requested_by: by };
}

/** ApprovalDto of a merge that waits. */
function waitingMergeDetails(doc: MergeRequestDoc): JsonObject {
  const { requested, expires } = pendingDetails(doc);
  return {
    approval_id: doc._id,
    kind: 'merge',
    operation: 'mergeEhrs',
    state: 'pending',
    summary: doc.outcome.summary,
    ehr_ids: [doc.source_ehr, doc.target_ehr],
    ...(doc.reason !== undefined && { reason: doc.reason }),
    ...(doc.requested_by !== undefined && { requested_by: doc.requested_by }),
    requested: requested ?? {},
    ...(expires !== undefined && { expires }),
    plan: { digest: doc.plan_digest },
  };
}
