import Joi from 'joi';
import type { Context } from 'koa';
import { viewing } from '../../change/access/viewer.js';
import { sayDistinct, takeBackDistinct, type EhrPair } from '../../merge/candidates/distinct.js';
import { distinctPairs, type DistinctDoc } from '../../models/merge/distinct.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { bodyOf } from '../http/exchange.js';
import { auditAbout } from '../http/audit-trail.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { adminForm, adminOperation, writeRecord } from './record.js';

const DISTINCT = 'DistinctPersons';
const LIST = 'DistinctPersonsList';
const PAIR = '/ehr/{ehr_id}/distinct/{other_ehr_id}';
const NOBODY = { root: DISTINCT, fields: { ehr_id: '', other_ehr_id: '' } };
const LISTED = 500;
const MAX_REASON = 500;
const bodySchema = Joi.object<{ readonly reason: string }>({
  reason: Joi.string().trim().max(MAX_REASON).required(),
});

/** That two EHRs are of two persons, though they look alike: docs/spec/merge.md#candidates */
export function distinctOperations(): Operation[] {
  return [
    adminOperation({
      id: 'listDistinct',
      discloses: 'read',
      method: 'GET',
      path: '/ehr/distinct',
      summary: 'List pairs of EHRs of which it was said that they are of two persons',
      responses: { 200: { description: 'Newest first, at most 500', body: { schema: LIST, types: 'rm' } } },
      failure: { root: LIST, fields: { distinct: [] } },
      handle: async (ctx) => {
        const form = adminForm(ctx);
        const pairs = await seenPairs(await distinctPairs(LISTED));
        auditAbout(ctx, { ehr_ids: [...new Set(pairs.flatMap((pair) => [pair.ehr_id, pair.other_ehr]))] });
        writeRecord(ctx, form, { record: LIST, fields: { distinct: pairs.map(view) } });
      },
    }),
    adminOperation({
      id: 'sayDistinct',
      discloses: 'whole',
      method: 'PUT',
      path: PAIR,
      summary: 'Say that two EHRs are of two persons: they are no candidates for a merge any more',
      request: { schema: 'DistinctBody', types: 'json' },
      responses: { 200: { description: 'What is kept', body: { schema: DISTINCT, types: 'rm' } } },
      errors: [400, 404, 409],
      failure: NOBODY,
      handle: say,
    }),
    adminOperation({
      id: 'takeBackDistinct',
      discloses: 'whole',
      method: 'DELETE',
      path: PAIR,
      summary: 'Take back that two EHRs are of two persons',
      responses: { 204: { description: 'Taken back' } },
      errors: [400, 404],
      failure: NOBODY,
      handle: async (ctx) => {
        await takeBackDistinct(pairOf(ctx));
        ctx.status = 204;
      },
    }),
  ];
}

/** Without pairs of which one is not there for who asks. */
async function seenPairs(pairs: readonly DistinctDoc[]): Promise<readonly DistinctDoc[]> {
  const viewer = viewing.getStore()?.viewer;
  if (viewer === undefined) return pairs;
  viewer.narrowed();
  const seen: DistinctDoc[] = [];
  for (const pair of pairs)
    if ((await viewer.seesEhrId(pair.ehr_id)) && (await viewer.seesEhrId(pair.other_ehr))) seen.push(pair);
  return seen;
}

async function say(ctx: Context): Promise<void> {
  const { reason } = bodyOf(ctx, bodySchema);
  const form = adminForm(ctx);
  const said = { reason, said_by: ctx.state.user?.name ?? '' };
  writeRecord(ctx, form, { record: DISTINCT, fields: view(await sayDistinct(pairOf(ctx), said)) });
}

function pairOf(ctx: Context): EhrPair {
  return [pathParameter(ctx, 'ehr_id'), pathParameter(ctx, 'other_ehr_id')];
}

function view(pair: DistinctDoc): JsonObject {
  return {
    ehr_id: pair.ehr_id,
    other_ehr_id: pair.other_ehr,
    reason: pair.reason,
    said_by: pair.said_by,
    said_at: formatUtc(pair.said_at),
  };
}
