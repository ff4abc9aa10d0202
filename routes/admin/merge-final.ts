import Joi from 'joi';
import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { bodyOf } from '../http/exchange.js';
import { auditAbout } from '../http/audit-trail.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { requireVersion } from '../ehr/read-version.js';
import { MERGE_ANSWER, MERGE_DETAILS, MERGE_FAILURE, reason, uuid } from './merge-request.js';
import { performOrAsk, waitingAnswer } from './acts.js';
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
  const finalising = waitingAnswer(settings, 'finaliseMerge');
  const moving = waitingAnswer(settings, 'moveComposition');
  return [
    adminOperation({
      id: 'finaliseMerge',
      discloses: 'whole',
      method: 'POST',
      path: '/ehr/merge/{merge_id}/finalise',
      summary: 'Make a merge final and drop what is needed to undo it',
      request: { schema: 'FinaliseRequestBody', types: 'json' },
      responses: { 200: { description: 'The merge', body: MERGE_ANSWER }, ...finalising.answer },
      ...finalising.committed,
      errors: [400, 404, 409],
      failure: MERGE_FAILURE,
      handle: (ctx) => finalise(ctx, settings),
    }),
    adminOperation({
      id: 'moveComposition',
      discloses: 'whole',
      method: 'POST',
      path: '/ehr/{ehr_id}/composition/{composition_id}/move',
      summary: 'Move one COMPOSITION with its history to another EHR',
      request: { schema: 'MoveRequestBody', types: 'json' },
      responses: {
        200: { description: 'What was done, or would be', body: { schema: MOVE_DETAILS, types: 'rm' } },
        ...moving.answer,
      },
      ...moving.committed,
      errors: [400, 404, 409],
      failure: { root: MOVE_DETAILS, fields: NO_MOVE },
      handle: (ctx) => move(ctx, settings),
    }),
  ];
}

const finaliseSchema = Joi.object<{ readonly reason: string }>({ reason: reason.required() });

async function finalise(ctx: Context, settings: Settings): Promise<void> {
  const mergeId = pathParameter(ctx, 'merge_id');
  auditAbout(ctx, { objects: [mergeId] });
  const body = bodyOf(ctx, finaliseSchema);
  const form = adminForm(ctx);
  auditAbout(ctx, { reason: body.reason });
  await performOrAsk(ctx, settings, {
    act: { operation: 'finaliseMerge', merge_id: mergeId, reason: body.reason },
    dryRun: false,
    answer: (fields) => {
      writeRecord(ctx, form, { record: MERGE_DETAILS, fields });
    },
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

async function move(ctx: Context, settings: Settings): Promise<void> {
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
  const moved = { ehr_id: sourceEhr, target_ehr: targetEhr, object_id: versionedObjectUid, ...why };
  await performOrAsk(ctx, settings, {
    act: { operation: 'moveComposition', ...moved },
    dryRun,
    answer: (fields) => {
      writeRecord(ctx, form, { record: MOVE_DETAILS, fields });
    },
  });
}
