import type { Context } from 'koa';
import { CdrError } from '../../base/errors.js';
import { formatUtc, parseVersionAtTime } from '../../base/iso8601.js';
import type { JsonObject } from '../../base/json.js';
import { parseEhrId } from '../../base/object-version-id.js';
import type { Settings } from '../../base/settings.js';
import { responseBody } from '../../format/media-type.js';
import { auditRecords, isEhrAudited, type AuditDoc, type AuditFilter } from '../../models/audit.js';
import { ehrById } from '../../models/ehr.js';
import { auditAbout } from '../http/audit-trail.js';
import { writeText } from '../http/exchange.js';
import { ehrIdFrom } from '../http/path-ids.js';
import { queryParameter } from '../http/query-parameter.js';
import type { AdminOperation } from './operation.js';

const DEFAULT_FETCH = 100;
const MAX_FETCH = 1000;

/** Reading the audit, of everything or of one EHR. Contract, section 13 (own operations). */
export function adminAuditOperations(settings: Settings): AdminOperation[] {
  return [
    {
      name: 'getAudit',
      method: 'get',
      path: '/audit',
      record: 'AuditRecords',
      neutral: {},
      handle: async (ctx) => {
        const ehrId = ehrFilter(ctx);
        auditAbout(ctx, ehrId === undefined ? {} : { ehrId });
        await answer(ctx, { ...filterFrom(ctx, settings), ...(ehrId !== undefined && { ehrId }) });
      },
    },
    {
      name: 'getEhrAccess',
      method: 'get',
      path: '/ehr/:ehr_id/access',
      record: 'AuditRecords',
      neutral: {},
      handle: async (ctx) => {
        const ehrId = ehrIdFrom(ctx);
        const filter = filterFrom(ctx, settings);
        // Before this call is recorded itself: an id that never existed must stay unknown.
        if ((await ehrById(ehrId)) === null && !(await isEhrAudited(ehrId))) {
          throw new CdrError('not-found', `EHR with id ${ehrId} never existed`);
        }
        auditAbout(ctx, { ehrId });
        await answer(ctx, { ...filter, ehrId });
      },
    },
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

function filterFrom(ctx: Context, settings: Settings): AuditFilter {
  const from = timeFrom(ctx, 'from', settings);
  const to = timeFrom(ctx, 'to', settings);
  const user = queryParameter(ctx, 'user');
  return {
    ...(from !== null && { from }),
    ...(to !== null && { to }),
    ...(user !== null && { user }),
    offset: numberFrom(ctx, 'offset', { least: 0, most: Number.MAX_SAFE_INTEGER, otherwise: 0 }),
    fetch: numberFrom(ctx, 'fetch', { least: 1, most: MAX_FETCH, otherwise: DEFAULT_FETCH }),
  };
}

function timeFrom(ctx: Context, name: string, settings: Settings): Date | null {
  const text = queryParameter(ctx, name);
  return text === null || text === '' ? null : parseVersionAtTime(text, settings.defaultTimezone, name);
}

function numberFrom(
  ctx: Context,
  name: string,
  range: { readonly least: number; readonly most: number; readonly otherwise: number },
): number {
  const text = queryParameter(ctx, name);
  if (text === null || text === '') return range.otherwise;
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || value < range.least || value > range.most) {
    throw new CdrError('invalid', `${name} must be a whole number from ${range.least} to ${range.most}`);
  }
  return value;
}

function ehrFilter(ctx: Context): string | undefined {
  const text = queryParameter(ctx, 'ehr_id');
  if (text === null || text === '') return undefined;
  const ehrId = parseEhrId(text);
  if (ehrId === null)
    throw new CdrError('invalid', 'the ehr_id must be a UUID, an ISO OID or an internet id');
  return ehrId;
}
