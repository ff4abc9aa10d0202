import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { responseBody } from '../http/negotiation/media-type.js';
import { writeText } from '../http/exchange.js';
import type { Operation } from '../http/operation/operation.js';
import { adminOperation } from './record.js';

/** A user that this server itself knows. */
export interface KnownUser {
  readonly name: string;
  /** Upper-cased. */
  readonly roles: readonly string[];
}

/**
 * Users of `BASIC_USERS_FILE`, without what their passwords are checked with; null: Basic is off, the identity provider knows
 * them. @throws Error when the file cannot be trusted or read
 */
export type KnownUsers = () => readonly KnownUser[] | null;

const PERMISSIONS = 'PermissionsReport';

/** Who may do what, as the settings say it: docs/authentication.md. */
export function permissionsOperation(
  { rolePermissions }: Pick<Settings, 'rolePermissions'>,
  users: KnownUsers,
): Operation {
  const roles = Object.entries(rolePermissions).map(([role, permissions]) => ({ role, permissions }));
  return adminOperation({
    id: 'getPermissions',
    discloses: 'nothing',
    method: 'GET',
    path: '/permissions',
    summary: 'Tell who asks, what each role may do, and which users this server knows',
    access: 'audit',
    responses: { 200: { description: 'Who may do what', body: { schema: PERMISSIONS, types: 'json' } } },
    failure: { root: PERMISSIONS, fields: { roles: [] } },
    handle: (ctx: Context) => {
      const form = responseBody('json', ctx.get('Accept'));
      const { user } = ctx.state;
      const self =
        user === null ? null : { name: user.name, roles: user.roles, permissions: [...user.permissions] };
      ctx.status = 200;
      writeText(ctx, form, JSON.stringify({ user: self, roles, users: users() }));
    },
  });
}
