import type { Context } from 'koa';
import { CdrError } from '../../base/errors.js';
import { formatUtc } from '../../base/iso8601.js';
import type { JsonObject } from '../../base/json.js';
import { responseBody } from '../../format/media-type.js';
import { auditRecords, isEhrAudited, type AuditDoc, type AuditFilter } from '../../models/audit.js';
import { ehrById } from '../../models/ehr.js';
import { auditAbout } from '../http/audit-trail.js';
import { writeText } from '../http/exchange.js';
import type { Operation } from '../http/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { adminOperation } from './record.js';

const DEFAULT_FETCH = 100;
const FILTERS = ['from', 'to', 'user', 'audit_offset', 'audit_fetch'] as const;
const FAILURE = { root: 'AuditRecords', fields: {} };
const RECORDS: Operation['responses'] = {
  200: { description: 'Newest first', body: { schema: 'AuditRecordList', types: 'json' } },
};

/** Reading the audit, of everything or of one EHR. */
export function auditOperations(): Operation[] {
  return [
    adminOperation({
      id: 'getAudit',
      method: 'GET',
      path: '/audit',
      summary: 'List the calls of the admin API, writes, refusals and, if kept, reads',
      access: 'audit',
      parameters: [...FILTERS, 'audit_ehr_id'],
      responses: RECORDS,
      errors: [400],
      failure: FAILURE,
      handle: async (ctx) => {
        const ehrId = queryParameter(ctx, 'audit_ehr_id');
        auditAbout(ctx, ehrId === null ? {} : { ehrId });
        await answer(ctx, { ...filterFrom(ctx), ...(ehrId !== null && { ehrId }) });
      },
    }),
    adminOperation({
      id: 'getEhrAccess',
      method: 'GET',
      path: '/ehr/{ehr_id}/access',
      summary: 'List the recorded calls about one EHR',
      access: 'audit',
      parameters: FILTERS,
      responses: RECORDS,
      errors: [400, 404],
      failure: FAILURE,
      handle: async (ctx) => {
        const ehrId = pathParameter(ctx, 'ehr_id');
        const filter = filterFrom(ctx);
        // Before this call is recorded itself: an id that never existed must stay unknown.
        if ((await ehrById(ehrId)) === null && !(await isEhrAudited(ehrId))) {
          throw new CdrError('not-found', `EHR with id ${ehrId} never existed`);
        }
        auditAbout(ctx, { ehrId });
        await answer(ctx, { ...filter, ehrId });
      },
    }),
  ];
}

async function answer(ctx: Context, filter: AuditFilter): Promise<void> {
  const form = responseBody('query', ctx.get('Accept'));
  const records = (await auditRecords(filter)).map(recordOf);
  writeText(ctx, form, JSON.stringify(records));
}

function recordOf(doc: AuditDoc): JsonObject {
  return {
    time: formatUtc(doc.time),
    user: doc.user,
    operation: doc.operation,
    ...(doc.ehr_id !== undefined && { ehr_id: doc.ehr_id }),
    ...(doc.target !== undefined && { target: doc.target }),
    status: doc.status,
    request_id: doc.request_id,
  };
}

function filterFrom(ctx: Context): AuditFilter {
  const from = queryParameter(ctx, 'from');
  const to = queryParameter(ctx, 'to');
  const user = queryParameter(ctx, 'user');
  return {
    ...(from !== null && { from }),
    ...(to !== null && { to }),
    ...(user !== null && { user }),
    offset: queryParameter(ctx, 'audit_offset') ?? 0,
    fetch: queryParameter(ctx, 'audit_fetch') ?? DEFAULT_FETCH,
  };
}
