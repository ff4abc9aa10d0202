import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import { KIND_OF, letWait } from '../../change/approval/approval.js';
import type { Gate } from '../../change/approval/gate.js';
import { giveNameSpace } from '../../change/definition/query-owner.js';
import { eraseEhr, eraseVersionedObject, type ErasureOptions } from '../../maintenance/erase.js';
import { mergeDetails } from '../../merge/details.js';
import { finaliseMerge } from '../../merge/finalise.js';
import { moveComposition } from '../../merge/move-composition.js';
import type { MergeContext } from '../../merge/request.js';
import {
  changesAccess,
  type CategoriesAct,
  type PolicyAct,
  type WaitingAct,
  type WaitingRequestDoc,
} from '../../models/waiting-request.js';
import { auditAbout } from '../http/audit-trail.js';
import type { AnswerDescription } from '../http/operation/operation.js';
import { queryParameter } from '../http/parameter-values.js';
import { administratorOf } from './administrator.js';
import { changeCategories } from './category-change.js';
import { mergeContext } from './merge-request.js';
import { moveDetails } from './move-details.js';
import { changePolicy, type PolicyChanging } from './policy-change.js';
import { adminForm, writeRecord } from './record.js';

/** Name of the record that tells of what takes two persons. */
export const APPROVAL = 'ApprovalDto';

/** Who carries an act out, and how. */
interface Performing {
  /** Name of the administrator. */
  readonly committer: string;
  readonly dryRun: boolean;
  readonly gate?: Gate;
  /** As in `ErasureOptions`. */
  readonly handOver?: ErasureOptions['handOver'];
  /** How policies and categories are changed; where `act` is about one. */
  readonly policies?: PolicyChanging | undefined;
}

/** Carries out what one person may ask for, or two do together, and gives what it answers. @throws as the act */
export async function perform(
  context: MergeContext,
  act: WaitingAct,
  { committer, dryRun, gate, handOver, policies }: Performing,
): Promise<JsonObject> {
  if (changesAccess(act)) return changeAccess(act, policies, gate);
  switch (act.operation) {
    case 'moveComposition': {
      const { ehr_id: sourceEhr, target_ehr: targetEhr, object_id: versionedObjectUid, reason } = act;
      const request = { sourceEhr, targetEhr, versionedObjectUid, dryRun, committer };
      return moveDetails(request, await moveComposition(context, request, gate), reason);
    }
    case 'deleteEhr': {
      const how = { ...(gate !== undefined && { gate }), ...(handOver !== undefined && { handOver }) };
      await eraseEhr(act.ehr_id, { cascade: act.cascade, ...how });
      return { deleted: 1 };
    }
    case 'deleteComposition':
    case 'deleteDirectory': {
      const type = act.operation === 'deleteComposition' ? 'COMPOSITION' : 'FOLDER';
      await eraseVersionedObject({ ehrId: act.ehr_id, type, versionedObjectUid: act.object_id }, gate);
      return { deleted: 1 };
    }
    case 'giveQueryNameSpace': {
      const { name_space: nameSpace, sub, issuer } = act;
      const since = new Date();
      await giveNameSpace(act, since, gate);
      return { name_space: nameSpace, sub, ...(issuer !== undefined && { issuer }), since: formatUtc(since) };
    }
    case 'finaliseMerge': {
      const { merge_id: mergeId, reason } = act;
      const record = await finaliseMerge({ mergeId, committer, reason }, new Date(), gate);
      return mergeDetails({ ...record, reversibleNow: false });
    }
  }
}

function changeAccess(
  act: PolicyAct | CategoriesAct,
  changing: PolicyChanging | undefined,
  gate: Gate | undefined,
): Promise<JsonObject> {
  return 'policy_id' in act ? changePolicy(act, changing, gate) : changeCategories(act, changing, gate);
}

/**
 * What a row says beside its own, of an act that takes two persons by these settings. `usual`: answered where one does; `types`: of what is
 * answered where it waits.
 */
export function waitingAnswer(
  settings: Settings,
  operation: WaitingAct['operation'],
  { usual = 200, types = 'rm' }: { readonly usual?: 200 | 204; readonly types?: 'rm' | 'json' } = {},
) {
  const waits = settings.fourEyes.includes(KIND_OF[operation]);
  const answer: AnswerDescription = {
    description: 'It waits for a second person (`FOUR_EYES`)',
    body: { schema: APPROVAL, types },
  };
  return { answer: { 202: answer }, committed: { committedStatus: waits ? 202 : usual } };
}

/**
 * Carries an act out and lets `answer` write what came of it, or lets it wait for a second person and answers 202.
 * @throws as `perform`; conflict when the same waits already
 */
export async function performOrAsk(
  ctx: Context,
  settings: Settings,
  asked: {
    readonly act: WaitingAct;
    readonly dryRun: boolean;
    readonly handOver?: ErasureOptions['handOver'];
    readonly policies?: PolicyChanging;
    readonly answer: (fields: JsonObject) => void;
  },
): Promise<void> {
  const { act, dryRun, answer, handOver, policies } = asked;
  const context = mergeContext(settings);
  const committer = ctx.state.user?.name ?? 'anonymous';
  if (dryRun || !settings.fourEyes.includes(KIND_OF[act.operation])) {
    const how = handOver !== undefined && { handOver };
    answer(await perform(context, act, { committer, dryRun, policies, ...how }));
    return;
  }
  const form = adminForm(ctx);
  const requester = administratorOf(ctx);
  const request = { act, requester, now: context.change.now(), days: settings.fourEyesDays };
  const waiting = await letWait(request, (gate, id) => {
    const by = 'requested_by' in act ? act.requested_by : undefined;
    auditAbout(ctx, {
      outcome: 'pending',
      options: { approval: id, ...(by !== undefined && { requested_by: by }) },
    });
    return perform(context, act, { committer, dryRun, gate, policies });
  });
  writeRecord(ctx, form, { record: APPROVAL, fields: waitingDetails(waiting), status: 202 });
}

/** Why something is erased, and who asked for it, as the audit keeps it too. */
export function motiveOf(ctx: Context): { readonly reason?: string; readonly requested_by?: string } {
  const reason = queryParameter(ctx, 'reason') ?? '';
  const by = queryParameter(ctx, 'requested_by') ?? '';
  const motive = { ...(reason !== '' && { reason }), ...(by !== '' && { requested_by: by }) };
  auditAbout(ctx, {
    ...(reason !== '' && { reason }),
    ...(by !== '' && { options: { requested_by: by } }),
  });
  return motive;
}

/** ApprovalDto of what waits, but a merge. docs/spec/merge.md#approval */
export function waitingDetails({ _id, act, plan, ...doc }: WaitingRequestDoc): JsonObject {
  const reason = 'reason' in act ? act.reason : undefined;
  return {
    approval_id: _id,
    kind: KIND_OF[act.operation],
    operation: act.operation,
    state: 'pending',
    summary: plan.summary,
    ehr_ids: plan.ehr_ids,
    ...('object_id' in act && { object_id: act.object_id }),
    ...('policy_id' in act && { policy_id: act.policy_id }),
    ...(reason !== undefined && { reason }),
    ...('requested_by' in act && { requested_by: act.requested_by }),
    requested: { date: formatUtc(doc.requested_at), administrator: doc.requester.name },
    expires: formatUtc(doc.expires_at),
    plan,
  };
}
