import Joi from 'joi';
import type { Context } from 'koa';
import {
  deleteDashboard,
  listDashboards,
  saveDashboard,
  type DashboardAddress,
} from '../../change/dashboard.js';
import type { DashboardDoc } from '../../models/dashboard.js';
import { draftOwner } from '../../models/draft.js';
import { jsonObjectOf, type JsonObject } from '../../openehr/base/json.js';
import { bodyOf } from '../http/exchange.js';
import { responseBody } from '../http/negotiation/media-type.js';
import type { OperationGroup } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';

const DASHBOARD = '/rest/dashboard/{dashboard_id}';
const MAX_NAME = 200;
const MAX_AQL = 20_000;
const MAX_VALUE = 1_000;
const MAX_PANELS = 24;
const MAX_PARAMETERS = 50;
/** A list of all of a user is read at once. */
const MAX_BYTES = 1_048_576;

interface DashboardBody {
  readonly name: string;
  readonly panels: readonly {
    readonly title: string;
    readonly q: string;
    readonly show: 'table' | 'chart';
  }[];
  readonly parameters?: Readonly<Record<string, string>>;
}

const bodySchema = Joi.object<DashboardBody>({
  name: Joi.string().trim().max(MAX_NAME).required(),
  panels: Joi.array()
    .max(MAX_PANELS)
    .required()
    .items(
      Joi.object({
        title: Joi.string().trim().max(MAX_NAME).required(),
        q: Joi.string().max(MAX_AQL).required(),
        show: Joi.valid('table', 'chart').required(),
      }),
    ),
  parameters: Joi.object()
    .max(MAX_PARAMETERS)
    .pattern(Joi.string().max(MAX_NAME), Joi.string().allow('').max(MAX_VALUE)),
});

/** Queries that users want to see together, each his own: docs/spec/rest.md#dashboards */
export function dashboardOperations(): OperationGroup {
  return {
    tag: 'Dashboards',
    description: 'Queries that a user wants to see together; nobody else sees them',
    operations: [
      {
        id: 'dashboard_list',
        discloses: 'nothing',
        method: 'GET',
        path: '/rest/dashboard',
        summary: "List the user's dashboards by their names",
        access: 'read',
        audit: 'none',
        responses: {
          200: { description: 'At most 50', body: { schema: 'DashboardList', types: 'json' } },
        },
        errors: [],
        handle: list,
      },
      {
        id: 'dashboard_save',
        discloses: 'nothing',
        method: 'PUT',
        path: DASHBOARD,
        summary: 'Save a dashboard of the user, in place of what it was',
        access: 'read',
        audit: 'write',
        request: { schema: 'DashboardBody', types: 'json' },
        responses: { 200: { description: 'Saved', body: { schema: 'Dashboard', types: 'json' } } },
        parameters: ['dashboard-If-Match'],
        errors: [400, 409, 412],
        largestBody: { bytes: MAX_BYTES, setting: null },
        handle: async (ctx) => {
          responseBody('json', ctx.get('Accept'));
          const { name, panels, parameters = {} } = bodyOf(ctx, bodySchema);
          const content = JSON.stringify({ panels, parameters });
          ctx.body = view(await saveDashboard(addressOf(ctx), { name, content }, followedBy(ctx)));
        },
      },
      {
        id: 'dashboard_delete',
        discloses: 'nothing',
        method: 'DELETE',
        path: DASHBOARD,
        summary: 'Delete a dashboard of the user',
        access: 'read',
        audit: 'write',
        responses: { 204: { description: 'Deleted' } },
        errors: [400, 404],
        handle: async (ctx) => {
          await deleteDashboard(addressOf(ctx));
          ctx.status = 204;
        },
      },
    ],
  };
}

async function list(ctx: Context): Promise<void> {
  responseBody('json', ctx.get('Accept'));
  ctx.body = (await listDashboards(draftOwner(ctx.state.user))).map(view);
}

function addressOf(ctx: Context): DashboardAddress {
  return { owner: draftOwner(ctx.state.user), dashboardId: pathParameter(ctx, 'dashboard_id') };
}

/** What `If-Match` says, without its quotes; null: nothing. */
function followedBy(ctx: Context): string | null {
  const given = ctx.get('If-Match').trim();
  return given === '' ? null : given.replace(/^"(.*)"$/, '$1');
}

function view({ dashboard_id: id, name, content, saved_at: saved }: DashboardDoc): JsonObject {
  return { dashboard_id: id, name, ...jsonObjectOf(content), saved_at: saved.toISOString() };
}
