import { describe, expect, it } from '@jest/globals';
import { CdrError } from '@everchart/client';
import { officePermissions, permissionsOf } from '../../../console/src/session/permissions.js';

describe('what the user may do', () => {
  it('is asked of each operation once, and the last one says why he is refused', async () => {
    const asked: string[] = [];
    const refuse = (name: string) => () => {
      asked.push(name);
      return Promise.reject(new CdrError(`${name} refused`, { status: 403, code: 'forbidden' }));
    };
    const api = {
      overview: refuse('overview'),
      permissions: refuse('permissions'),
      adminStatus: refuse('adminStatus'),
    };
    await expect(officePermissions(api)).rejects.toThrow('adminStatus refused');
    expect(asked).toEqual(['overview', 'permissions', 'adminStatus']);
    await expect(permissionsOf(api)).resolves.toEqual([]);
  });

  it('is told by the overview, and nothing else is asked then', async () => {
    const never = () => Promise.reject(new Error('asked'));
    const overview = () => Promise.resolve({ user: { permissions: ['read', 'audit'] } });
    const api = { overview, permissions: never, adminStatus: never };
    await expect(officePermissions(api)).resolves.toEqual(['read', 'audit']);
  });
});
