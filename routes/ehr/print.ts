import Joi from 'joi';
import type { Context } from 'koa';
import { viewing } from '../../change/access/viewer.js';
import { readableEhr } from '../../change/commit/ehr-access.js';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import { CdrError } from '../../openehr/base/errors.js';
import { maskedAql } from '../../aql/syntax/masked.js';
import { bodyOf } from '../http/exchange.js';
import { auditAbout } from '../http/audit-trail.js';
import type { OperationGroup } from '../http/operation/operation.js';

const MAX_UID = 255;
const MAX_AQL = 20_000;

interface PrintBody {
  readonly of: 'record' | 'document' | 'result' | 'access';
  readonly ehr_id?: string;
  readonly uid?: string;
  readonly q?: string;
}

const bodySchema = Joi.object<PrintBody>({
  of: Joi.valid('record', 'document', 'result', 'access').required(),
  ehr_id: Joi.string().max(MAX_UID),
  uid: Joi.string().max(MAX_UID),
  q: Joi.string().max(MAX_AQL),
});

/** What leaves the screen on paper: docs/spec/rest.md#prints */
export function printOperations(): OperationGroup {
  return {
    tag: 'Prints',
    description: 'What a page tells the audit of paper',
    operations: [
      {
        id: 'print_note',
        discloses: 'read',
        method: 'POST',
        path: '/rest/print',
        summary: 'Tell the audit that the user prints something',
        access: 'anyone',
        audit: 'write',
        request: { schema: 'PrintBody', types: 'json' },
        responses: { 204: { description: 'Recorded' } },
        errors: [400, 404],
        handle: note,
      },
    ],
  };
}

async function note(ctx: Context): Promise<void> {
  const { of, ehr_id: given, uid, q } = bodyOf(ctx, bodySchema);
  const ehrId = given === undefined ? undefined : parseEhrId(given);
  if (ehrId === null) throw new CdrError('invalid', 'ehr_id must be an EHR id');
  // Of what is no record there is nothing to judge.
  if (ehrId === undefined) viewing.getStore()?.viewer?.narrowed();
  else await readableEhr(ehrId);
  const aql = q === undefined ? null : maskedAql(q);
  auditAbout(ctx, {
    options: { of },
    ...(ehrId !== undefined && { ehr_id: ehrId }),
    ...(uid !== undefined && { objects: [uid] }),
    ...(aql !== null && { aql }),
  });
  ctx.status = 204;
}
