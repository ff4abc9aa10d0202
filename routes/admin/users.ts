import Joi from 'joi';
import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import { ERROR_STATUS } from '../http/failure/error-status.js';
import { responseBody } from '../http/negotiation/media-type.js';
import { completeAudit, insertAudit } from '../../models/audit.js';
import { auditAbout, draftOf } from '../http/audit-trail.js';
import { bodyOf, writeText } from '../http/exchange.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import type { KnownUser, KnownUsers } from './permissions.js';
import { adminOperation } from './record.js';

const USER = 'KnownUser';
const NOBODY = { root: USER, fields: { name: '', roles: [] } };
const MAX_NAME = 255;
const MAX_ROLES = 50;
const MAX_PASSWORD = 1_024;

/** What a user is to be. */
export interface UserChange {
  readonly roles: readonly string[];
  /** Absent: the one that he has. */
  readonly password?: string;
  /** The `sub` of the same person's tokens; absent: as it is. */
  readonly person?: string;
}

/** The users that this server itself knows, and who changes them. */
export interface UserStore {
  readonly list: KnownUsers;
  /** Makes or changes a user. `by`: name of who asks. @throws CdrError: docs/spec/rest.md#users */
  readonly save: (name: string, change: UserChange, by: string) => Promise<KnownUser>;
  /** @throws as `save`; not-found for an unknown one */
  readonly remove: (name: string, by: string) => void;
}

const bodySchema = Joi.object<UserChange>({
  roles: Joi.array().items(Joi.string().max(MAX_NAME)).min(1).max(MAX_ROLES).required(),
  password: Joi.string().max(MAX_PASSWORD),
  person: Joi.string().max(MAX_NAME),
});

/** Users of `BASIC_USERS_FILE`: docs/spec/rest.md#users */
export function userOperations({ fourEyes }: Pick<Settings, 'fourEyes'>, users: UserStore): Operation[] {
  return [
    adminOperation({
      id: 'saveUser',
      discloses: 'nothing',
      method: 'PUT',
      path: '/user/{user_name}',
      summary: 'Make a user with a password, or give one other roles or another password',
      request: { schema: 'UserBody', types: 'json' },
      responses: { 200: { description: 'As he is now', body: { schema: USER, types: 'json' } } },
      errors: [400, 404, 409],
      failure: NOBODY,
      handle: async (ctx) => {
        const name = nameOf(ctx);
        const form = responseBody('json', ctx.get('Accept'));
        const change = bodyOf(ctx, bodySchema);
        const isNewPassword = change.password !== undefined;
        auditAbout(ctx, { options: { roles: [...change.roles], password: isNewPassword } });
        requireOnePerson(fourEyes);
        const saved = await recorded(ctx, 200, () => users.save(name, change, byOf(ctx)));
        ctx.status = 200;
        writeText(ctx, form, JSON.stringify({ name: saved.name, roles: saved.roles }));
      },
    }),
    adminOperation({
      id: 'removeUser',
      discloses: 'nothing',
      method: 'DELETE',
      path: '/user/{user_name}',
      summary: 'Remove a user with a password',
      responses: { 204: { description: 'Removed' } },
      errors: [404, 409],
      failure: NOBODY,
      handle: async (ctx) => {
        const name = nameOf(ctx);
        requireOnePerson(fourEyes);
        await recorded(ctx, 204, () => users.remove(name, byOf(ctx)));
        ctx.status = 204;
      },
    }),
  ];
}

function nameOf(ctx: Context): string {
  const name = pathParameter(ctx, 'user_name');
  auditAbout(ctx, { target: name.slice(0, MAX_NAME) });
  return name;
}

/**
 * Changes the file, which is in no transaction, between a pending record and what came of it: nobody is made a user unseen. One that
 * nothing completes says that it was interrupted.
 */
async function recorded<T>(ctx: Context, status: number, change: () => T | Promise<T>): Promise<T> {
  const draft = draftOf(ctx);
  if (draft === undefined) throw new TypeError('administration is recorded');
  await insertAudit(draft.record(status, { pending: true }));
  const { id } = draft;
  try {
    const changed = await change();
    draft.commit();
    await completeAudit(id, { status });
    return changed;
  } catch (error) {
    if (!draft.isCommitted)
      await completeAudit(id, { status: error instanceof CdrError ? ERROR_STATUS[error.code] : 500 });
    throw error;
  }
}

function byOf(ctx: Context): string {
  return ctx.state.user?.name ?? '';
}

/** Where anything takes two persons, one of them must not be able to make himself the second. */
function requireOnePerson(fourEyes: Settings['fourEyes']): void {
  if (fourEyes.length > 0)
    throw new CdrError(
      'conflict',
      'with FOUR_EYES users are changed by `everchart user` on the machine: one administrator could make himself the second person',
    );
}
