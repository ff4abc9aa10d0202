import type { Context } from 'koa';
import { hiddenCounts } from '../../change/policy/observed.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import { writeText } from '../http/exchange.js';
import { responseBody } from '../http/negotiation/media-type.js';
import type { Operation } from '../http/operation/operation.js';
import { queryParameter } from '../http/parameter-values.js';
import { adminOperation } from './record.js';

const OBSERVED = 'AccessObserved';
const A_WEEK_MS = 7 * 24 * 3_600_000;

/** What policies hid, or would hide once they are enforced. docs/access.md#observed */
export function observedOperation(): Operation {
  return adminOperation({
    id: 'listObserved',
    discloses: 'nothing',
    method: 'GET',
    path: '/policies/observed',
    summary:
      'Count what policies of access hid, or would hide, by who asked for it: of a week unless `from` says',
    parameters: ['from'],
    responses: { 200: { description: 'The most frequent first', body: { schema: OBSERVED, types: 'json' } } },
    errors: [400],
    failure: { root: OBSERVED, fields: { observed: [] } },
    handle: answerObserved,
  });
}

async function answerObserved(ctx: Context): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const from = queryParameter(ctx, 'from') ?? new Date(Date.now() - A_WEEK_MS);
  const { isComplete, counts } = await hiddenCounts(from);
  const observed = counts.map(({ last, ...rest }) => ({ ...rest, last: formatUtc(last) }));
  writeText(ctx, form, JSON.stringify({ from: formatUtc(from), complete: isComplete, observed }));
  ctx.status = 200;
}
