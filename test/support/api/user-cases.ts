import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unknownHash } from '../../../src/identity/password.js';
import { changeUsers } from '../../../src/identity/users-file.js';
import type { ApiCase } from './cases.js';
import type { Call } from './probe.js';

const BODY = { roles: ['USER'], password: 'seven horses on a hill' };

/** Cases of users with passwords, each with a file of its own. */
export function userCases(): ApiCase[] {
  const call = (name: string, body?: object): Call => {
    const basicUsersFile = join(mkdtempSync(join(tmpdir(), 'everchart-users-')), 'users');
    const scrypt = unknownHash();
    changeUsers(
      basicUsersFile,
      () =>
        new Map([
          ['ada', { name: 'ada', roles: ['ADMIN'], scrypt }],
          ['bob', { name: 'bob', roles: ['USER'], scrypt }],
        ]),
    );
    return {
      params: { user_name: name },
      ...(body !== undefined && { body }),
      settings: { auth: 'jwt,basic', basicUsersFile },
    };
  };
  return [
    { id: 'saveUser', status: 200, call: () => call('clara', BODY) },
    { id: 'saveUser', status: 400, call: () => call('clara', { roles: [] }) },
    { id: 'saveUser', status: 404, call: () => ({ params: { user_name: 'clara' }, body: BODY }) },
    { id: 'saveUser', status: 409, call: () => call('ada', { roles: ['USER'] }) },
    { id: 'removeUser', status: 204, call: () => call('bob') },
    { id: 'removeUser', status: 404, call: () => call('clara') },
    { id: 'removeUser', status: 409, call: () => call('ada') },
  ];
}
