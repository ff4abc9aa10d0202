import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { categoryVersions, newestCategories } from '../../models/category.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { setResourceHeaders, writeText } from '../http/exchange.js';
import { responseBody, type BodyType } from '../http/negotiation/media-type.js';
import type { Operation } from '../http/operation/operation.js';
import { performOrAsk, waitingAnswer } from './acts.js';
import { categoriesView, categoryVersionView } from './category-change.js';
import { categoriesFrom, followedCategories } from './category-request.js';
import type { KnownUsers } from './permissions.js';
import { policyChanging } from './policy-change.js';
import { adminOperation } from './record.js';

const CATEGORIES = 'AccessCategories';
const NOTHING = { root: CATEGORIES, fields: { categories: [] } };
const PATH = '/categories';

/** What content is of which category, for policies and marks: one document. docs/access.md#categories */
export function categoryOperations(settings: Settings, users: KnownUsers): Operation[] {
  if (settings.accessMode === 'off') return [];
  const putting = waitingAnswer(settings, 'putCategories', { types: 'json' });
  const answer = { body: { schema: CATEGORIES, types: 'json' }, headers: ['ETag'] } as const;
  return [
    adminOperation({
      id: 'getCategories',
      discloses: 'nothing',
      method: 'GET',
      path: PATH,
      summary: 'Get the categories of content that policies and marks may name',
      responses: { 200: { description: 'All of them', ...answer } },
      failure: NOTHING,
      handle: async (ctx) => {
        const form = responseBody('json', ctx.get('Accept'));
        write(ctx, form, await categoriesView(await newestCategories()));
      },
    }),
    adminOperation({
      id: 'putCategories',
      discloses: 'nothing',
      method: 'PUT',
      path: PATH,
      summary: 'Replace the categories of content; the versions before stay',
      request: { schema: 'AccessCategoriesBody', types: 'json' },
      parameters: ['categories-If-Match'],
      responses: { 200: { description: 'As they are kept', ...answer }, ...putting.answer },
      ...putting.committed,
      errors: [400, 409, 412],
      failure: NOTHING,
      handle: (ctx) => put(ctx, settings, users),
    }),
    adminOperation({
      id: 'listCategoryVersions',
      discloses: 'nothing',
      method: 'GET',
      path: `${PATH}/versions`,
      summary: 'List every version that the categories of content ever had',
      responses: {
        200: { description: 'Oldest first', body: { schema: 'AccessCategoryVersions', types: 'json' } },
      },
      failure: { root: 'AccessCategoryVersions', fields: { versions: [] } },
      handle: async (ctx) => {
        const form = responseBody('json', ctx.get('Accept'));
        const versions = (await categoryVersions()).map((doc) => categoryVersionView(doc));
        ctx.status = 200;
        writeText(ctx, form, JSON.stringify({ versions }));
      },
    }),
  ];
}

async function put(ctx: Context, settings: Settings, users: KnownUsers): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const act = { operation: 'putCategories', categories: categoriesFrom(ctx) } as const;
  const follows = followedCategories(ctx);
  const changing = await policyChanging(ctx, settings, users);
  const policies = { ...changing, ...(follows !== null && { follows }) };
  const answer = (fields: JsonObject): void => {
    write(ctx, form, fields);
  };
  await performOrAsk(ctx, settings, { act, dryRun: false, policies, answer });
}

function write(ctx: Context, form: BodyType, fields: JsonObject): void {
  const { version } = fields;
  setResourceHeaders(ctx, { etag: `categories::${version as number}` });
  ctx.status = 200;
  writeText(ctx, form, JSON.stringify(fields));
}
