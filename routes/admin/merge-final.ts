import Joi from 'joi';
import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { mergeDetails } from '../../merge/details.js';
import { finaliseMerge } from '../../merge/finalise.js';
import { moveComposition, type MoveRequest, type MoveResult } from '../../merge/move-composition.js';
import type { MergeContext } from '../../merge/request.js';
import { auditAbout } from '../http/audit-trail.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter } from '../http/request/parameter-values.js';
import { requireVersion } from '../ehr/read-version.js';
import {
  bodyOf,
  MERGE_ANSWER,
  MERGE_DETAILS,
  MERGE_FAILURE,
  mergeContext,
  reason,
  uuid,
} from './merge-request.js';
import { adminForm, adminOperation, writeRecord } from './record.js';

const MOVE_DETAILS = 'MoveDetailsDto';
const NO_MOVE: JsonObject = {
  versions: 0,
  contributions: 0,
  contributions_kept: [],
  contributions_made: [],
  item_tags: 0,
  folder_items: [],
};

/** What a merge leaves to do for good, and the move of a single COMPOSITION. */
export function mergeFinalOperations(settings: Settings): Operation[] {
  const context = mergeContext(settings);
  return [
    adminOperation({
      id: 'finaliseMerge',
      method: 'POST',
      path: '/ehr/merge/{merge_id}/finalise',
      summary: 'Make a merge final and drop what is needed to undo it',
      request: { schema: 'FinaliseRequestBody', types: 'json' },
      responses: { 200: { description: 'The merge', body: MERGE_ANSWER } },
      errors: [400, 404, 409],
      failure: MERGE_FAILURE,
      handle: finalise,
    }),
    adminOperation({
      id: 'moveComposition',
      method: 'POST',
      path: '/ehr/{ehr_id}/composition/{composition_id}/move',
      summary: 'Move one COMPOSITION with its history to another EHR',
      request: { schema: 'MoveRequestBody', types: 'json' },
      responses: {
        200: { description: 'What was done, or would be', body: { schema: MOVE_DETAILS, types: 'rm' } },
      },
      errors: [400, 404, 409],
      failure: { root: MOVE_DETAILS, fields: NO_MOVE },
      handle: (ctx) => move(ctx, context),
    }),
  ];
}

const finaliseSchema = Joi.object<{ readonly reason: string }>({ reason: reason.required() });

async function finalise(ctx: Context): Promise<void> {
  const mergeId = pathParameter(ctx, 'merge_id');
  auditAbout(ctx, { objects: [mergeId] });
  const body = bodyOf(ctx, finaliseSchema);
  const form = adminForm(ctx);
  auditAbout(ctx, { reason: body.reason });
  const committer = ctx.state.user?.name ?? 'anonymous';
  const record = await finaliseMerge({ mergeId, committer, reason: body.reason }, new Date());
  writeRecord(ctx, form, {
    record: MERGE_DETAILS,
    fields: mergeDetails({ ...record, reversibleNow: false }),
  });
}

interface MoveBody {
  readonly target_ehr: string;
  readonly reason?: string;
  readonly dry_run: boolean;
}

const moveSchema = Joi.object<MoveBody>({
  target_ehr: uuid,
  reason,
  dry_run: Joi.boolean().strict().default(false),
});

async function move(ctx: Context, context: MergeContext): Promise<void> {
  const sourceEhr = pathParameter(ctx, 'ehr_id');
  const uid = pathParameter(ctx, 'composition_id');
  const versionedObjectUid = 'id' in uid ? uid.id.versionedObjectUid : uid.versionedObjectUid;
  auditAbout(ctx, { ehr_id: sourceEhr, objects: [versionedObjectUid] });
  const body = bodyOf(ctx, moveSchema);
  const form = adminForm(ctx);
  const { target_ehr: targetEhr, dry_run: dryRun } = body;
  const why = body.reason === undefined ? {} : { reason: body.reason };
  auditAbout(ctx, {
    ehr_ids: [sourceEhr, targetEhr],
    target: targetEhr,
    ...(dryRun && { dry_run: true }),
    ...why,
  });
  if (sourceEhr === targetEhr) throw new CdrError('invalid', 'target_ehr must be another EHR');
  if ('id' in uid) await requireVersion(sourceEhr, 'COMPOSITION', uid);
  const committer = ctx.state.user?.name ?? 'anonymous';
  const request: MoveRequest = { sourceEhr, targetEhr, versionedObjectUid, dryRun, committer };
  const result = await moveComposition(context, request);
  writeRecord(ctx, form, { record: MOVE_DETAILS, fields: moveDetails(request, result, why) });
}

function moveDetails(
  request: MoveRequest,
  result: MoveResult,
  why: { readonly reason?: string },
): JsonObject {
  return {
    source_ehr: request.sourceEhr,
    target_ehr: request.targetEhr,
    composition: request.versionedObjectUid,
    versions: result.versions,
    contributions: result.contributions,
    contributions_kept: [...result.kept],
    contributions_made: [...result.made],
    item_tags: result.tags,
    folder_items: result.folderItems.map((item) => ({ ...item })),
    ...(request.dryRun && { dry_run: true }),
    ...why,
  };
}
