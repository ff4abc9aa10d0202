import type { Context } from 'koa';
import { formatUtc } from '../../openehr/base/iso8601.js';
import { readableEhr } from '../../change/commit/ehr-access.js';
import {
  COUNTED_KINDS,
  countWithin,
  listWithin,
  type Span,
} from '../../models/cross-collection/statistics.js';
import { auditAbout } from '../http/audit-trail.js';
import type { Operation } from '../http/operation/operation.js';
import { queryParameter } from '../http/parameter-values.js';
import { adminForm, adminOperation, writeRecord } from './record.js';

const STATISTICS = 'StatisticsDto';

/** Counts and lists of what came to be in a time. SM: I_ADMIN_SERVICE. */
export function statisticsOperation(): Operation {
  return adminOperation({
    id: 'getStatistics',
    discloses: 'whole',
    method: 'GET',
    path: '/statistics',
    summary: 'Count what was committed in a time, or list it',
    parameters: ['from', 'to', 'audit_ehr_id', 'counted_list', 'audit_offset', 'audit_fetch'],
    responses: { 200: { description: 'The counts', body: { schema: STATISTICS, types: 'rm' } } },
    errors: [400, 404],
    failure: { root: STATISTICS, fields: { counts: {} } },
    handle: answerStatistics,
  });
}

async function answerStatistics(ctx: Context): Promise<void> {
  const form = adminForm(ctx);
  const ehrId = queryParameter(ctx, 'audit_ehr_id');
  const span: Span = { from: queryParameter(ctx, 'from'), to: queryParameter(ctx, 'to'), ehrId };
  const kind = queryParameter(ctx, 'counted_list');
  const page = {
    offset: queryParameter(ctx, 'audit_offset'),
    fetch: queryParameter(ctx, 'audit_fetch'),
  };
  if (ehrId !== null) {
    auditAbout(ctx, { ehr_id: ehrId });
    await readableEhr(ehrId);
  }
  const counts: Record<string, number> = {};
  for (const each of COUNTED_KINDS) counts[each] = await countWithin(each, span);
  const listed = kind === null ? [] : await listWithin(kind, span, page);
  if (listed.length > 0) auditAbout(ctx, { ehr_ids: [...new Set(listed.map((each) => each.ehr_id))] });
  const fields = {
    counts,
    ...(kind !== null && {
      list: listed.map(({ time, ...record }) => ({ ...record, time: formatUtc(time) })),
    }),
  };
  writeRecord(ctx, form, { record: STATISTICS, fields });
}
