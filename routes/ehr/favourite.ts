import type { Context } from 'koa';
import { deleteFavourite, listFavourites, saveFavourite } from '../../change/favourite.js';
import { draftOwner } from '../../models/draft.js';
import { responseBody } from '../http/negotiation/media-type.js';
import { auditAbout } from '../http/audit-trail.js';
import type { OperationGroup } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { listedEhr } from './ehr-list.js';

const FAVOURITE = '/rest/favourite/{ehr_id}';

/** Records that users want to find again, each his own: docs/spec/rest.md#favourites */
export function favouriteOperations(): OperationGroup {
  return {
    tag: 'Favourites',
    description: 'Records that a user wants to find again; nobody else sees which',
    operations: [
      {
        id: 'favourite_list',
        discloses: 'read',
        method: 'GET',
        path: '/rest/favourite',
        summary: "List the user's favourite EHRs, newest first",
        access: 'read',
        audit: 'read',
        responses: {
          200: { description: 'At most 200', body: { schema: 'FavouriteList', types: 'json' } },
        },
        errors: [],
        handle: list,
      },
      {
        id: 'favourite_save',
        discloses: 'read',
        method: 'PUT',
        path: FAVOURITE,
        summary: 'Make an EHR a favourite of the user',
        access: 'read',
        audit: 'write',
        responses: { 204: { description: 'It is one' } },
        errors: [400, 404, 409],
        handle: async (ctx) => {
          await saveFavourite(draftOwner(ctx.state.user), pathParameter(ctx, 'ehr_id'));
          ctx.status = 204;
        },
      },
      {
        id: 'favourite_delete',
        discloses: 'read',
        method: 'DELETE',
        path: FAVOURITE,
        summary: 'Make an EHR no favourite of the user',
        access: 'read',
        audit: 'write',
        responses: { 204: { description: 'It is none any more' } },
        errors: [400, 404],
        handle: async (ctx) => {
          await deleteFavourite(draftOwner(ctx.state.user), pathParameter(ctx, 'ehr_id'));
          ctx.status = 204;
        },
      },
    ],
  };
}

async function list(ctx: Context): Promise<void> {
  responseBody('json', ctx.get('Accept'));
  const favourites = await listFavourites(draftOwner(ctx.state.user));
  auditAbout(ctx, { ehr_ids: favourites.map(({ ehr }) => ehr._id) });
  ctx.body = favourites.map(({ ehr, since }) => ({ ...listedEhr(ehr), since: since.toISOString() }));
}
