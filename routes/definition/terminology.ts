import Joi from 'joi';
import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { terminologyServer } from '../../change/terminology/terminology-server.js';
import { CdrError } from '../../openehr/base/errors.js';
import { bodyOf } from '../http/exchange.js';
import { answerEnd } from '../http/failure/slow-reader.js';
import { responseBody } from '../http/negotiation/media-type.js';
import type { OperationGroup } from '../http/operation/operation.js';

/** Concepts of one answer. */
const MOST = 50;
const MAX_VALUE_SET = 2_000;
const MAX_FILTER = 200;

interface ConceptSearch {
  readonly value_set: string;
  readonly filter: string;
}

const bodySchema = Joi.object<ConceptSearch>({
  value_set: Joi.string().max(MAX_VALUE_SET).required(),
  filter: Joi.string().trim().allow('').max(MAX_FILTER).default(''),
});

/** What the terminology server knows, for those who fill in forms: docs/spec/rest.md#terminology-search */
export function terminologyOperations(settings: Settings): OperationGroup {
  return {
    tag: 'Terminology',
    description: 'Concepts of value sets, as the terminology server has them',
    operations: [
      {
        id: 'terminology_search',
        discloses: 'nothing',
        // What a person is looked after for stands in no address, which logs of proxies keep.
        method: 'POST',
        path: '/rest/terminology',
        summary: 'Find concepts of a value set by what they are called',
        access: 'read',
        audit: 'none',
        request: { schema: 'ConceptSearch', types: 'json' },
        responses: { 200: { description: 'At most 50', body: { schema: 'ConceptList', types: 'json' } } },
        errors: [400, 404, 502],
        handle: (ctx) => search(ctx, settings),
      },
    ],
  };
}

async function search(ctx: Context, { terminology }: Settings): Promise<void> {
  responseBody('json', ctx.get('Accept'));
  const { value_set: valueSet, filter } = bodyOf(ctx, bodySchema);
  const server = terminologyServer(terminology);
  if (server === null) throw new CdrError('not-found', 'this server has no TERMINOLOGY_SERVER_URL');
  ctx.body = { concepts: await server.search({ valueSet, filter, count: MOST }, answerEnd(ctx)) };
}
