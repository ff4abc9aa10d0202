import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import { asciiUpperCase } from '../../openehr/base/text.js';
import type { UserChange, UserStore } from '../../routes/admin/users.js';
import { allowedPassword } from './password-rules.js';
import { hashPassword } from './password.js';
import { changeUsers, isUserName, readUsers, type UserRecord, type Users } from './users-file.js';

type StoreSettings = Pick<Settings, 'auth' | 'basicUsersFile' | 'rolePermissions'>;

/** The users of `BASIC_USERS_FILE`, without what their passwords are checked with, and their changes. */
export function userStore({ auth, basicUsersFile, rolePermissions }: StoreSettings): UserStore {
  const path = auth === 'jwt' ? null : basicUsersFile;
  const mayAdministrate = ({ roles }: UserRecord): boolean =>
    roles.some((role) => rolePermissions[role]?.includes('admin') === true);
  const change = (file: string, by: string, edit: (users: Users) => Users): void =>
    inConflict(() => changeUsers(file, (before) => guarded(before, edit(before), { by, mayAdministrate })));
  return {
    list: () =>
      path === null ? null : [...readUsers(path).values()].map(({ name, roles }) => ({ name, roles })),
    save: async (given, wanted, by) => {
      const file = required(path);
      if (!isUserName(given))
        throw new CdrError(
          'invalid',
          'a user name has 1 to 255 characters, and no colon or control character',
        );
      const name = given.normalize('NFC');
      const roles = [...new Set(wanted.roles.map(asciiUpperCase))];
      const unknown = roles.find((role) => !Object.hasOwn(rolePermissions, role));
      if (unknown !== undefined)
        throw new CdrError('invalid', `ROLE_PERMISSIONS knows no role ${unknown}: it would allow nothing`);
      const scrypt = await hashOf(wanted);
      change(file, by, (users) => {
        const known = users.get(name);
        const password = scrypt ?? known?.scrypt;
        if (password === undefined) throw new CdrError('invalid', 'a new user needs a password');
        const person = wanted.person ?? known?.person;
        const user = { name, roles, scrypt: password, ...(person !== undefined && { person }) };
        return new Map(users).set(name, user);
      });
      return { name, roles };
    },
    remove: (given, by) => {
      const name = given.normalize('NFC');
      change(required(path), by, (users) => {
        const rest = new Map(users);
        if (!rest.delete(name)) throw new CdrError('not-found', `there is no user ${given}`);
        return rest;
      });
    },
  };
}

/** The users after a change, which never leaves nobody who could make the next one. @throws conflict */
function guarded(
  before: Users,
  after: Users,
  { by, mayAdministrate }: { readonly by: string; readonly mayAdministrate: (user: UserRecord) => boolean },
): Users {
  const [own, ownThen] = [before.get(by), after.get(by)];
  const isOffice = (user: UserRecord | undefined): boolean => user !== undefined && mayAdministrate(user);
  if (isOffice(own) && !isOffice(ownThen))
    throw new CdrError('conflict', 'nobody takes the permission admin from himself: another one does');
  if ([...before.values()].some(mayAdministrate) && ![...after.values()].some(mayAdministrate))
    throw new CdrError('conflict', 'this is the last user with the permission admin');
  return after;
}

function required(path: string | null): string {
  if (path === null)
    throw new CdrError('not-found', 'this server keeps no users: the identity provider does');
  return path;
}

async function hashOf({ password }: UserChange): Promise<UserRecord['scrypt'] | undefined> {
  if (password === undefined) return undefined;
  try {
    return await hashPassword(await allowedPassword(password));
  } catch (cause) {
    throw new CdrError('invalid', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** What keeps the file from being changed now: another change, or that it cannot be trusted. */
function inConflict(work: () => void): void {
  try {
    work();
  } catch (cause) {
    if (cause instanceof CdrError) throw cause;
    throw new CdrError('conflict', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
