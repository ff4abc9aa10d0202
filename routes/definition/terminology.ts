import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { terminologyServer } from '../../change/terminology/terminology-server.js';
import { CdrError } from '../../openehr/base/errors.js';
import { responseBody } from '../http/negotiation/media-type.js';
import type { OperationGroup } from '../http/operation/operation.js';
import { queryParameter } from '../http/parameter-values.js';

/** Concepts of one answer. */
const MOST = 50;
const MAX_FILTER = 200;

/** What the terminology server knows, for those who fill in forms: docs/spec/rest.md#terminology-search */
export function terminologyOperations(settings: Settings): OperationGroup {
  return {
    tag: 'Terminology',
    description: 'Concepts of value sets, as the terminology server has them',
    operations: [
      {
        id: 'terminology_search',
        method: 'GET',
        path: '/rest/terminology',
        summary: 'Find concepts of a value set by what they are called',
        access: 'read',
        audit: 'none',
        parameters: ['value_set', 'filter'],
        responses: { 200: { description: 'At most 50', body: { schema: 'ConceptList', types: 'json' } } },
        errors: [400, 404, 502],
        handle: (ctx) => search(ctx, settings),
      },
    ],
  };
}

async function search(ctx: Context, { terminology }: Settings): Promise<void> {
  responseBody('json', ctx.get('Accept'));
  const valueSet = queryParameter(ctx, 'value_set') ?? '';
  const filter = (queryParameter(ctx, 'filter') ?? '').trim();
  if (valueSet === '') throw new CdrError('invalid', 'value_set is required');
  if (filter.length > MAX_FILTER)
    throw new CdrError('invalid', `filter must have at most ${MAX_FILTER} characters`);
  const server = terminologyServer(terminology);
  if (server === null) throw new CdrError('not-found', 'this server has no TERMINOLOGY_SERVER_URL');
  ctx.body = { concepts: await server.search({ valueSet, filter, count: MOST }) };
}
