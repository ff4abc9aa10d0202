import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import { KIND_OF } from '../../change/approval/approval.js';
import { withAuditDraft } from '../../change/commit/audit-draft.js';
import { eraseEhr, finishInTurn, requireErasable } from '../../maintenance/erase.js';
import { ehrById } from '../../models/ehr.js';
import { activeEhrsAfter } from '../../models/ehr-identity.js';
import { auditAbout, auditDraft } from '../http/audit-trail.js';
import type { Operation, OperationGroup } from '../http/operation/operation.js';
import { pathParameter, queryParameter, queryParameters, textsOf } from '../http/parameter-values.js';
import { STANDARD_API } from '../http/request/request-state.js';
import { motiveOf, performOrAsk, waitingAnswer } from './acts.js';

const PATH = `${STANDARD_API}/admin/ehr`;
const DELETION = { method: 'DELETE', access: 'admin', audit: 'admin', discloses: 'whole' } as const;
/** EHRs that are looked for at once where all are deleted. */
const PAGE = 100;

/** The Admin API of ITS-REST, below the standard API; exists only with `ADMIN_API_ACTIVE`. docs/spec/rest.md#admin-api */
export function releasedAdminOperations(settings: Settings): OperationGroup {
  const waiting = waitingAnswer(settings, 'deleteEhr', { usual: 204 });
  const deletion = { ...DELETION, parameters: ['cascade'] } as const;
  const removed = { 204: { description: 'Removed' } };
  const inSteps = 'Hidden from everybody, and removed in steps';
  const all: Operation = {
    ...deletion,
    id: 'admin_ehr_delete_all',
    path: `${PATH}/all`,
    summary: 'Remove several EHRs with everything in them, or all (`ADMIN_ALLOW_DELETE_ALL_EHRS`)',
    parameters: ['deleted_ehr_id', 'cascade'],
    responses: { ...removed, 202: { description: inSteps } },
    errors: [400, 404, 405, 409],
    handle: (ctx) => deleteSeveral(ctx, settings),
  };
  const one: Operation = {
    ...deletion,
    id: 'admin_ehr_delete',
    path: `${PATH}/{ehr_id}`,
    summary: 'Remove an EHR with everything in it',
    parameters: ['cascade', 'reason', 'requested_by'],
    responses: {
      ...removed,
      202: {
        ...waiting.answer[202],
        description: `${inSteps}; or it waits for a second person (\`FOUR_EYES\`)`,
      },
    },
    ...waiting.committed,
    errors: [400, 404, 409],
    handle: (ctx) => deleteOne(ctx, settings),
  };
  return { tag: 'Admin', description: 'The Admin API of ITS-REST', operations: [one, all] };
}

async function deleteOne(ctx: Context, settings: Settings): Promise<void> {
  const ehrId = pathParameter(ctx, 'ehr_id');
  auditAbout(ctx, { ehr_id: ehrId });
  const rest = new Rest();
  const handOver = rest.of(ehrId);
  await performOrAsk(ctx, settings, {
    act: { operation: 'deleteEhr', ehr_id: ehrId, cascade: queryParameter(ctx, 'cascade'), ...motiveOf(ctx) },
    dryRun: false,
    handOver,
    answer: () => {
      rest.answer(ctx);
    },
  });
}

/** Those that are named, each of which must be such that it can go, or all that there are. @throws method-not-allowed, as `eraseEhr` */
async function deleteSeveral(ctx: Context, settings: Settings): Promise<void> {
  if (settings.fourEyes.includes(KIND_OF.deleteEhr))
    throw notAllowed('what takes two persons (FOUR_EYES) is deleted EHR by EHR');
  const named = new Set(queryParameters(ctx, 'deleted_ehr_id'));
  const isAll = textsOf(ctx, 'ehr_id').length === 0;
  if (isAll && !settings.adminAllowDeleteAllEhrs)
    throw notAllowed('deleting all EHRs is switched off (ADMIN_ALLOW_DELETE_ALL_EHRS)');
  const cascade = isAll || queryParameter(ctx, 'cascade');
  for (const ehrId of named) await requireErasable(ehrId, cascade);
  const [rest, removed] = [new Rest(), [] as string[]];
  try {
    for await (const ehrId of isAll ? everyEhr() : named)
      if (await erased(ctx, ehrId, { cascade, isAll, rest })) removed.push(ehrId);
  } finally {
    auditAbout(ctx, { ehr_ids: removed });
  }
  rest.answer(ctx);
}

/** Removes one of several EHRs, in a transaction of its own that has a record of its own; false: of all, it went meanwhile or is being merged. */
async function erased(
  ctx: Context,
  ehrId: string,
  how: { readonly cascade: boolean; readonly isAll: boolean; readonly rest: Rest },
): Promise<boolean> {
  const draft = auditDraft(ctx, 204);
  draft.about({ ehr_id: ehrId });
  try {
    await withAuditDraft(draft, () =>
      eraseEhr(ehrId, { cascade: how.cascade, handOver: how.rest.of(ehrId) }),
    );
    return true;
  } catch (error) {
    if (!how.isAll || !(await isPassedOver(ehrId, error))) throw error;
    return false;
  }
}

/** Where all are deleted: it went meanwhile, or is being merged. */
async function isPassedOver(ehrId: string, error: unknown): Promise<boolean> {
  if (!(error instanceof CdrError)) return false;
  if (error.code === 'not-found') return true;
  return error.code === 'unavailable' && (await ehrById(ehrId))?.merging !== undefined;
}

/** A pass over all EHRs; those that are made meanwhile may be among them or not. */
async function* everyEhr(): AsyncGenerator<string> {
  let after = '';
  for (;;) {
    const page = await activeEhrsAfter(after, PAGE);
    for (const { _id: ehrId } of page) yield ehrId;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last._id;
  }
}

function notAllowed(message: string): CdrError {
  return new CdrError('method-not-allowed', message, { allow: [] });
}

/** What goes on after the answer. */
class Rest {
  #goesOn = false;

  /** Answers without a body: Koa would write the phrase of the status. */
  answer(ctx: Context): void {
    ctx.body = null;
    ctx.status = this.#goesOn ? 202 : 204;
  }

  /** What takes the rest of the erasure of an EHR. */
  of(ehrId: string): (rest: () => Promise<void>) => void {
    return (rest) => {
      this.#goesOn = true;
      void finishInTurn(ehrId, rest);
    };
  }
}
